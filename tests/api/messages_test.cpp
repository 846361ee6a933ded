// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "fixture.h"

// What a message has beside the cause: the value, and a remedy that works. errors_test.cpp has the
// causes.
namespace {

class Messages : public CdTest {
protected:
    void SetUp() override {
        CdTest::SetUp();
        root = make_root(COMM_LOGGING_ENABLED, nullptr, "messages");
    }

    static cd_error create_fails(cd_handle parent, const char *storage, const char *name) {
        const mpi_log logging = parent != nullptr ? COMM_LOGGING_INHERIT : COMM_LOGGING_DISABLED;
        EXPECT_EQ(create_cd(parent, storage, logging, name, nullptr), nullptr);
        return cd_last_error();
    }

    cd_handle root;
    char x = 0;
};

// Not a remedy that is refused as well, since a child has the store of its root.
TEST_F(Messages, WhatOnlyARootCanHaveIsToldToWhoWantsItForAChild) {
    for (const char *storage :
         {"redundancy=xor", "config=scr.conf", "flush=/lustre", "store=file",
          "store=file,redundancy=single,flush=/lustre", "set_size=3", "log_limit=1M"}) {
        SCOPED_TRACE(storage);
        EXPECT_EQ(create_fails(root, storage, nullptr), CD_ERROR_STORAGE_UNSUPPORTED);
        EXPECT_TRUE(message_has("can only be given for the root"));
        EXPECT_TRUE(fails_with(CD_ERROR_STORAGE_UNSUPPORTED,
                               add_to_cd_via_copy(root, {rw(x)}, 1, storage)));
        EXPECT_TRUE(message_has("can only be given for the root"));
    }
    EXPECT_EQ(create_fails(root, "track=pages", nullptr), CD_ERROR_STORAGE_UNSUPPORTED);
    EXPECT_TRUE(message_has("use track=explicit"));
    make_child(root, "track=explicit");
}

TEST_F(Messages, TheRemedyForARootNeedsNoOther) {
    EXPECT_EQ(create_fails(nullptr, "flush=/lustre", "other"), CD_ERROR_STORAGE_UNSUPPORTED);
    EXPECT_TRUE(message_has("use store=file,redundancy=single"));
    EXPECT_EQ(create_fails(nullptr, "flush=/lustre,store=file,redundancy=single,dir=/nowhere", "o"),
              CD_ERROR_STORAGE_UNSUPPORTED);
    EXPECT_TRUE(message_has("need libcd_mpi")) << "which this test has not";
}

} // namespace
