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

TEST_F(Messages, LackOfMemoryIsToldWithHowMuchWasAskedFor) {
    constexpr size_t too_much = SIZE_MAX / 4;
    EXPECT_TRUE(fails_with(CD_ERROR_NO_MEMORY, add_to_cd_via_copy(root, {bytes(&x, too_much)}, 1)));
    EXPECT_TRUE(message_has(std::to_string(too_much) + " bytes"));
    EXPECT_TRUE(message_has("0/messages/0/0"));
    EXPECT_TRUE(message_has("add less"));
    const cd_log_part part = {&x, too_much};
    EXPECT_TRUE(fails_with(CD_ERROR_NO_MEMORY, cd_log_append(root, &part, 1)));
    EXPECT_TRUE(message_has(std::to_string(too_much)));
    EXPECT_TRUE(message_has("0/messages/0/0"));
    EXPECT_TRUE(message_has("advance more often"));
}

TEST_F(Messages, TextOfTheCallersIsPrintable) {
    EXPECT_EQ(create_fails(nullptr, nullptr, "a\x1b[2J\nb"), CD_ERROR_NAME_INVALID);
    EXPECT_TRUE(message_has("\"a\\x1b[2J\\x0ab\""));
    EXPECT_EQ(create_fails(root, "shadow=full\r", nullptr), CD_ERROR_STORAGE_VALUE);
    EXPECT_TRUE(message_has("shadow=full\\x0d"));
    EXPECT_TRUE(fails_with(CD_ERROR_NULL_ADDRESS, cd_name_region("a\tb", nullptr, 1)));
    EXPECT_TRUE(message_has("\"a\\x09b\""));
}

TEST_F(Messages, AHandleIsToldWithWhatToPass) {
    const cd_handle child = make_child(root);
    ASSERT_TRUE(succeeds(commit_cd(child)));
    EXPECT_TRUE(fails_with(CD_ERROR_INVALID_HANDLE, restore_cd(child)));
    EXPECT_TRUE(message_has(text_of(child)));
    EXPECT_TRUE(message_has("pass the handle of a live CD"));
}

TEST_F(Messages, ARankIsToldWithWhichToGive) {
    EXPECT_TRUE(fails_with(CD_ERROR_ARGUMENT, cd_set_rank(-3)));
    EXPECT_TRUE(message_has("cd_set_rank: the rank is -3; give the one in MPI_COMM_WORLD"));
}

TEST_F(Messages, ARegionIsToldWithItsNameAndItsBytes) {
    const std::string long_name(201, 'n');
    EXPECT_TRUE(fails_with(CD_ERROR_ARGUMENT, cd_name_region(long_name.c_str(), &x, 1)));
    EXPECT_TRUE(message_has("\"nnnn"));
    EXPECT_TRUE(message_has("201 bytes; give one of 1 to 200"));
    EXPECT_TRUE(fails_with(CD_ERROR_ARGUMENT, cd_name_region(nullptr, &x, 1)));
    EXPECT_TRUE(message_has("NULL; give one of 1 to 200"));
    EXPECT_TRUE(fails_with(CD_ERROR_RANGE_WRAPS, cd_name_region("field", &x, SIZE_MAX)));
    EXPECT_TRUE(message_has("\"field\", " + std::to_string(SIZE_MAX) + " bytes at " + text_of(&x)));
    EXPECT_TRUE(message_has("check the length"));
}

} // namespace
