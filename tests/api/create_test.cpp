// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "fixture.h"

namespace {

class Create : public CdTest {
protected:
    // Expects the creation to fail with this code.
    static void refused(cd_error code, cd_handle parent, const char *storage, int logging,
                        const char *name) {
        int error = -1;
        EXPECT_EQ(create_cd(parent, storage, static_cast<mpi_log>(logging), name, &error), nullptr);
        EXPECT_EQ(error, code) << last_message();
        EXPECT_EQ(cd_last_error(), code);
        EXPECT_NE(last_message(), "");
    }
};

TEST_F(Create, RootIsEmptyAndAtDepthZero) {
    const cd_info info = info_of(make_root());
    EXPECT_EQ(info.depth, 0);
    EXPECT_EQ(info.sibling, 0);
    EXPECT_EQ(info.children, 0);
    EXPECT_EQ(info.logging, 0);
    EXPECT_EQ(info.replaying, 0);
    EXPECT_EQ(info.restarted, 0);
    EXPECT_EQ(info.epoch, 0U);
    EXPECT_EQ(info.entries, 0U);
    EXPECT_EQ(info.bytes, 0U);
    EXPECT_EQ(info.files, 0U);
}

TEST_F(Create, IdentityIsRankNameDepthSibling) {
    const cd_handle root = make_root(COMM_LOGGING_DISABLED, nullptr, "solver");
    const cd_handle first = make_child(root);
    const cd_handle second = make_child(root);
    const cd_handle grandchild = make_child(second);
    EXPECT_STREQ(cd_name(root), "0/solver/0/0");
    EXPECT_STREQ(cd_name(first), "0/solver/1/0");
    EXPECT_STREQ(cd_name(second), "0/solver/1/1");
    EXPECT_STREQ(cd_name(grandchild), "0/solver/2/0");
}

TEST_F(Create, SiblingIndexIsTheSmallestThatNoLiveChildHas) {
    const cd_handle root = make_root();
    const cd_handle zero = make_child(root);
    const cd_handle one = make_child(root);
    make_child(root);
    ASSERT_TRUE(succeeds(commit_cd(one)));
    EXPECT_EQ(info_of(make_child(root)).sibling, 1);
    ASSERT_TRUE(succeeds(commit_cd(zero)));
    EXPECT_EQ(info_of(make_child(root)).sibling, 0);
    EXPECT_EQ(info_of(make_child(root)).sibling, 3);
    EXPECT_EQ(info_of(root).children, 4);
}

TEST_F(Create, NewCdBecomesTheActiveOneAndTheOldOneComesBack) {
    const cd_handle root = make_root();
    EXPECT_STREQ(cd_name(CURRENT_CD), "0/root/0/0");
    const cd_handle child = make_child(CURRENT_CD);
    const cd_handle grandchild = make_child(CURRENT_CD);
    EXPECT_EQ(info_of(grandchild).depth, 2);
    EXPECT_STREQ(cd_name(CURRENT_CD), "0/root/2/0");
    ASSERT_TRUE(succeeds(commit_cd(CURRENT_CD)));
    EXPECT_STREQ(cd_name(CURRENT_CD), "0/root/1/0");
    ASSERT_TRUE(succeeds(commit_cd(child)));
    EXPECT_STREQ(cd_name(CURRENT_CD), "0/root/0/0");
    ASSERT_TRUE(succeeds(commit_cd(root)));
    EXPECT_EQ(cd_name(CURRENT_CD), nullptr);
    EXPECT_EQ(cd_last_error(), CD_ERROR_NO_CURRENT_CD);
}

TEST_F(Create, CommittingACdThatIsNotOnTopTakesItOutOfTheStack) {
    const cd_handle first = make_root(COMM_LOGGING_DISABLED, nullptr, "first");
    const cd_handle second = make_root(COMM_LOGGING_DISABLED, nullptr, "second");
    ASSERT_TRUE(succeeds(commit_cd(first)));
    EXPECT_STREQ(cd_name(CURRENT_CD), "0/second/0/0");
    ASSERT_TRUE(succeeds(commit_cd(second)));
    EXPECT_EQ(cd_name(CURRENT_CD), nullptr);
}

TEST_F(Create, RestoreTakesDiscardedDescendantsOutOfTheStack) {
    const cd_handle root = make_root();
    const cd_handle other = make_root(COMM_LOGGING_DISABLED, nullptr, "other");
    make_child(make_child(root));
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_STREQ(cd_name(CURRENT_CD), "0/other/0/0");
    ASSERT_TRUE(succeeds(commit_cd(other)));
    EXPECT_STREQ(cd_name(CURRENT_CD), "0/root/0/0");
}

TEST_F(Create, ErrorPointerMayBeNull) {
    EXPECT_EQ(create_cd(nullptr, nullptr, COMM_LOGGING_DISABLED, nullptr, nullptr), nullptr);
    EXPECT_EQ(cd_last_error(), CD_ERROR_NAME_MISSING);
    const cd_handle root = create_cd(nullptr, nullptr, COMM_LOGGING_DISABLED, "root", nullptr);
    ASSERT_NE(root, nullptr);
    EXPECT_TRUE(succeeds(commit_cd(root)));
}

TEST_F(Create, RootNeedsAName) {
    refused(CD_ERROR_NAME_MISSING, nullptr, nullptr, COMM_LOGGING_DISABLED, nullptr);
    refused(CD_ERROR_NAME_MISSING, nullptr, nullptr, COMM_LOGGING_DISABLED, "");
}

TEST_F(Create, NamesThatCouldNotBeAFileNameAreRefused) {
    for (const char *name : {"a/b", "/", ".", "..", ".hidden", "line\nbreak", "del\x7f"}) {
        refused(CD_ERROR_NAME_INVALID, nullptr, nullptr, COMM_LOGGING_DISABLED, name);
    }
}

TEST_F(Create, NameMayHaveTwoHundredBytesButNotOneMore) {
    const std::string longest(200, 'n');
    make_root(COMM_LOGGING_DISABLED, nullptr, longest.c_str());
    refused(CD_ERROR_NAME_INVALID, nullptr, nullptr, COMM_LOGGING_DISABLED,
            (longest + "n").c_str());
}

TEST_F(Create, TwoLiveRootsMayNotShareAName) {
    const cd_handle root = make_root();
    refused(CD_ERROR_NAME_IN_USE, nullptr, nullptr, COMM_LOGGING_DISABLED, "root");
    ASSERT_TRUE(succeeds(commit_cd(root)));
    make_root();
}

TEST_F(Create, RootMustChooseALoggingMode) {
    refused(CD_ERROR_LOGGING_INHERIT_AT_ROOT, nullptr, nullptr, COMM_LOGGING_INHERIT, "root");
    refused(CD_ERROR_LOGGING_MODE, nullptr, nullptr, 3, "root");
}

TEST_F(Create, ChildMustLogAsItsParentDoes) {
    const cd_handle logs = make_root(COMM_LOGGING_ENABLED, nullptr, "logs");
    const cd_handle silent = make_root(COMM_LOGGING_DISABLED, nullptr, "silent");
    refused(CD_ERROR_LOGGING_MISMATCH, logs, nullptr, COMM_LOGGING_DISABLED, nullptr);
    refused(CD_ERROR_LOGGING_MISMATCH, silent, nullptr, COMM_LOGGING_ENABLED, nullptr);
    refused(CD_ERROR_LOGGING_MODE, logs, nullptr, 3, nullptr);
    EXPECT_EQ(info_of(make_child(logs)).logging, 1);
    EXPECT_EQ(info_of(make_child(silent)).logging, 0);
    const cd_handle same = create_cd(logs, nullptr, COMM_LOGGING_ENABLED, nullptr, nullptr);
    ASSERT_NE(same, nullptr);
    EXPECT_TRUE(succeeds(commit_cd(same)));
}

// A mismatch is found against the effective mode, not against what the parent was given.
TEST_F(Create, GrandchildMustLogAsTheRootDoes) {
    const cd_handle child = make_child(make_root(COMM_LOGGING_ENABLED));
    refused(CD_ERROR_LOGGING_MISMATCH, child, nullptr, COMM_LOGGING_DISABLED, nullptr);
}

TEST_F(Create, FailureLeavesTheActiveCdAndTheParentAlone) {
    const cd_handle root = make_root();
    refused(CD_ERROR_STORAGE_KEY, root, "colour=red", MPI_LOGGING_INHERIT, nullptr);
    EXPECT_EQ(info_of(root).children, 0);
    EXPECT_STREQ(cd_name(CURRENT_CD), "0/root/0/0");
}

TEST_F(Create, StorageInfoIsChecked) {
    struct Case {
        const char *text;
        cd_error error;
    };
    const Case cases[] = {
        {"colour=red", CD_ERROR_STORAGE_KEY},
        {"Shadow=full", CD_ERROR_STORAGE_KEY},
        {"shadow=maybe", CD_ERROR_STORAGE_VALUE},
        {"shadow=", CD_ERROR_STORAGE_VALUE},
        {"set_size=many", CD_ERROR_STORAGE_VALUE},
        {"shadow", CD_ERROR_STORAGE_SYNTAX},
        {"=full", CD_ERROR_STORAGE_SYNTAX},
        {"shadow=full,shadow=full", CD_ERROR_STORAGE_SYNTAX},
        {"track=pages", CD_ERROR_STORAGE_UNSUPPORTED},
        {"redundancy=xor", CD_ERROR_STORAGE_UNSUPPORTED},
        {"track=pages", CD_ERROR_STORAGE_UNSUPPORTED},
        {"config=scr.conf", CD_ERROR_STORAGE_UNSUPPORTED},
    };
    for (const Case &test : cases) {
        SCOPED_TRACE(test.text);
        refused(test.error, nullptr, test.text, COMM_LOGGING_DISABLED, "root");
    }
    make_root(COMM_LOGGING_DISABLED,
              "store=memory,redundancy=none,sync=full,checksum=crc32c,track=explicit,shadow=none");
}

TEST_F(Create, RootWithoutStorageInfoTakesItFromTheEnvironment) {
    setenv("CD_STORAGE_INFO", "colour=red", 1);
    refused(CD_ERROR_STORAGE_KEY, nullptr, nullptr, COMM_LOGGING_DISABLED, "root");
    setenv("CD_STORAGE_INFO", "checksum=crc32c", 1);
    const cd_handle root = make_root();
    setenv("CD_STORAGE_INFO", "colour=red", 1);
    make_child(root); // takes its parent's
}

TEST_F(Create, RootWithStorageInfoDoesNotFailForABadEnvironment) {
    setenv("CD_STORAGE_INFO", "checksum=crc32c,colour=red", 1);
    make_root(COMM_LOGGING_DISABLED, "shadow=none", "one");
    make_root(COMM_LOGGING_DISABLED, "", "two");
    refused(CD_ERROR_STORAGE_KEY, nullptr, "colour=red", COMM_LOGGING_DISABLED, "three");
}

// An application must be able to go on using any handle value it kept.
TEST_F(Create, OldHandlesStayInvalidHoweverManyCdsFollow) {
    const cd_handle old = make_root();
    ASSERT_TRUE(succeeds(commit_cd(old)));
    for (int i = 0; i < 1000; ++i) {
        const cd_handle next = create_cd(nullptr, nullptr, COMM_LOGGING_DISABLED, "next", nullptr);
        ASSERT_NE(next, nullptr) << last_message();
        ASSERT_TRUE(is_gone(old));
        ASSERT_TRUE(succeeds(commit_cd(next)));
    }
}

TEST_F(Create, RankSetByTheMpiLayerIsPartOfNewNames) {
    ASSERT_TRUE(succeeds(cd_set_rank(3)));
    EXPECT_STREQ(cd_name(make_root()), "3/root/0/0");
    ASSERT_TRUE(succeeds(cd_set_rank(0)));
}

} // namespace
