// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "fixture.h"

// A root that logs, and the log calls with texts for entries.
class MpiLog : public CdTest {
protected:
    void SetUp() override {
        CdTest::SetUp();
        root = make_root(COMM_LOGGING_ENABLED);
    }

    static void add(cd_handle cd, const std::string &text) {
        void *entry = std::malloc(text.size());
        std::memcpy(entry, text.data(), text.size());
        ASSERT_TRUE(succeeds(add_MPI_log_to_cd(cd, entry, static_cast<int>(text.size()))));
    }

    static void append(cd_handle cd, const std::string &text) {
        const cd_log_part part = {text.data(), text.size()};
        ASSERT_TRUE(succeeds(cd_log_append(cd, &part, 1)));
    }

    // "" at the end of the log.
    static std::string next(cd_handle cd) {
        int error = -1;
        size_t length = 0;
        const void *entry = cd_log_next(cd, &length, &error);
        EXPECT_EQ(error, CD_ERROR_NONE) << last_message();
        return entry == nullptr ? "" : std::string(static_cast<const char *>(entry), length);
    }

    static std::string rest(cd_handle cd) {
        std::string all;
        for (std::string entry; !(entry = next(cd)).empty();)
            all += entry + " ";
        return all;
    }

    cd_handle root;
};
