// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "cd/cd.h"
#include "cd/mpi_log.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

// READ_WRITE and GLOBAL, as most of the seed's examples have it.
template <typename T> cd_addrspec rw(T &object) {
    return {&object, sizeof(object), READ_WRITE, GLOBAL};
}

template <typename T> cd_addrspec ro(T &object) {
    return {&object, sizeof(object), READ_ONLY, GLOBAL};
}

template <typename T> cd_addrspec constrained(T &object) {
    return {&object, sizeof(object), READ_WRITE, CONSTRAINED};
}

inline cd_addrspec bytes(void *address, size_t length, addr_type access = READ_WRITE,
                         addr_scope scope = GLOBAL) {
    return {address, length, access, scope};
}

// Regenerates every byte as 0x11.
inline int write_ones(cd_addrspec list[], int count) {
    for (int i = 0; i < count; ++i) {
        std::memset(list[i].address, 0x11, list[i].length);
    }
    return 0;
}

// The result of a call, with the library's explanation if it is not the expected one.
inline testing::AssertionResult succeeds(int result) {
    if (result == SUCCESS && cd_last_error() == CD_ERROR_NONE) {
        return testing::AssertionSuccess();
    }
    return testing::AssertionFailure()
           << "returned " << result << ", " << cd_strerror(cd_last_error()) << ": "
           << cd_last_error_message();
}

inline testing::AssertionResult fails_with(cd_error code, int result) {
    if (result == FAILURE && cd_last_error() == code) {
        return testing::AssertionSuccess();
    }
    return testing::AssertionFailure()
           << "returned " << result << ", " << cd_strerror(cd_last_error()) << ": "
           << cd_last_error_message() << "; expected " << cd_strerror(code);
}

inline std::string last_message() { return cd_last_error_message(); }

inline testing::AssertionResult message_has(const std::string &part) {
    if (last_message().find(part) != std::string::npos) {
        return testing::AssertionSuccess();
    }
    return testing::AssertionFailure() << '"' << part << "\" is not in \"" << last_message() << '"';
}

// Expects that the message has all `parts`, too.
inline testing::AssertionResult fails_with(cd_error code, int result,
                                           const std::vector<std::string> &parts) {
    testing::AssertionResult found = fails_with(code, result);
    for (auto part = parts.begin(); found && part != parts.end(); ++part) {
        found = message_has(*part);
    }
    return found;
}

inline testing::AssertionResult is_gone(cd_handle cd) {
    cd_info info;
    return fails_with(CD_ERROR_INVALID_HANDLE, cd_query(cd, &info));
}

inline cd_info info_of(cd_handle cd) {
    cd_info info{};
    EXPECT_TRUE(succeeds(cd_query(cd, &info)));
    return info;
}

// Returns the address as messages print it.
inline std::string text_of(const void *pointer) {
    char text[32];
    std::snprintf(text, sizeof text, "%p", pointer);
    return text;
}

// Ends what a test leaves behind, so that names are free again and no CD stays active.
class CdTest : public testing::Test {
protected:
    void SetUp() override { unsetenv("CD_STORAGE_INFO"); }

    void TearDown() override {
        for (auto it = created_.rbegin(); it != created_.rend(); ++it) {
            commit_cd(*it);
        }
    }

    cd_handle make_root(mpi_log logging = COMM_LOGGING_DISABLED, const char *storage = nullptr,
                        const char *name = "root") {
        int error = -1;
        const cd_handle cd = create_cd(nullptr, storage, logging, name, &error);
        EXPECT_NE(cd, nullptr) << last_message();
        EXPECT_EQ(error, CD_ERROR_NONE);
        created_.push_back(cd);
        return cd;
    }

    cd_handle make_child(cd_handle parent, const char *storage = nullptr) {
        int error = -1;
        const cd_handle cd = create_cd(parent, storage, MPI_LOGGING_INHERIT, nullptr, &error);
        EXPECT_NE(cd, nullptr) << last_message();
        EXPECT_EQ(error, CD_ERROR_NONE);
        created_.push_back(cd);
        return cd;
    }

private:
    std::vector<cd_handle> created_;
};
