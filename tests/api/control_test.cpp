// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// cd_inject, CD_INJECT and cd_failed

#include "cd/control.h"
#include "fixture.h"

namespace {

class Inject : public CdTest {
protected:
    void SetUp() override {
        CdTest::SetUp();
        unsetenv("CD_INJECT");
    }
    void TearDown() override {
        CdTest::TearDown();
        cd_inject(nullptr);
        unsetenv("CD_INJECT");
        make_root(COMM_LOGGING_DISABLED, nullptr, "reads that CD_INJECT is not there");
        CdTest::TearDown();
    }

    // Returns the results of that many calls of cd_failed, as "010".
    static std::string answers(cd_handle cd, int calls) {
        std::string all;
        for (int i = 0; i < calls; ++i) {
            all += std::to_string(cd_failed(cd));
        }
        return all;
    }
};

TEST_F(Inject, NothingFailsUnlessAskedFor) { EXPECT_EQ(answers(make_root(), 3), "000"); }

TEST_F(Inject, TheOccurrenceThatIsNamedFails) {
    const cd_handle root = make_root();
    EXPECT_TRUE(succeeds(cd_inject("cd=0/root/0/0,at=3")));
    EXPECT_EQ(answers(root, 5), "00100");
}

TEST_F(Inject, AsManyInARowFailAsAreNamed) {
    const cd_handle root = make_root();
    EXPECT_TRUE(succeeds(cd_inject("cd=0/root/0/0,at=2,times=3")));
    EXPECT_EQ(answers(root, 6), "011100");
    EXPECT_TRUE(succeeds(cd_inject("cd=0/root/0/0,at=2,times=all")));
    EXPECT_EQ(answers(root, 6), "011111");
}

TEST_F(Inject, OnlyTheCdWithTheIdentityFails) {
    cd_set_rank(7);
    const cd_handle here = make_root(), other = make_root(COMM_LOGGING_DISABLED, nullptr, "other");
    cd_set_rank(0);
    const cd_handle first = make_child(here), second = make_child(here);
    EXPECT_TRUE(succeeds(cd_inject("cd=7/root/1/1,times=all")));
    for (const cd_handle cd : {here, other, first}) {
        EXPECT_EQ(answers(cd, 2), "00") << cd_name(cd);
    }
    EXPECT_EQ(answers(second, 2), "11");
    EXPECT_TRUE(succeeds(cd_inject("cd=6/*/*/*,times=all")));
    EXPECT_EQ(answers(first, 2), "00") << "another rank";
    EXPECT_TRUE(succeeds(cd_inject("cd=*/root/0/*")));
    EXPECT_EQ(answers(other, 2), "00") << "another root";
    EXPECT_EQ(answers(first, 2), "00") << "another depth";
    EXPECT_EQ(answers(here, 2), "10");
}

TEST_F(Inject, OccurrencesOfAllCdsThatMatchAreCountedTogetherAndInTheLifeOfTheProcess) {
    EXPECT_TRUE(succeeds(cd_inject("cd=*/root/*/*,at=4")));
    const cd_handle root = make_root();
    EXPECT_EQ(answers(root, 1), "0");
    EXPECT_EQ(answers(make_child(root), 1), "0");
    CdTest::TearDown(); // NOLINT(bugprone-parent-virtual-call): the injection stays
    EXPECT_EQ(answers(make_root(), 3), "010");
}

TEST_F(Inject, SeveralInjectionsCountForThemselves) {
    const cd_handle root = make_root();
    EXPECT_TRUE(succeeds(cd_inject("cd=0/root/0/0,at=1;cd=0/root/*/0,at=3")));
    EXPECT_EQ(answers(root, 1), "1");
    EXPECT_TRUE(succeeds(cd_inject("cd=*/root/0/0,at=3")));
    EXPECT_EQ(answers(root, 4), "0110");
}

TEST_F(Inject, NullTakesAllBack) {
    const cd_handle root = make_root();
    EXPECT_TRUE(succeeds(cd_inject("cd=0/root/0/0,times=all")));
    EXPECT_EQ(answers(root, 2), "11");
    EXPECT_TRUE(succeeds(cd_inject(nullptr)));
    EXPECT_EQ(answers(root, 2), "00");
}

TEST_F(Inject, TheEnvironmentIsReadWhenARootIsCreatedAndOnce) {
    setenv("CD_INJECT", "cd=0/root/0/0,at=2", 1);
    const cd_handle root = make_root();
    EXPECT_EQ(answers(root, 1), "0");
    make_root(COMM_LOGGING_DISABLED, nullptr, "another");
    EXPECT_EQ(answers(root, 3), "100");
}

TEST_F(Inject, ABadEnvironmentFailsTheCreationOfARoot) {
    setenv("CD_INJECT", "cd=root", 1);
    for (int attempt = 0; attempt < 2; ++attempt) {
        int error = 0;
        EXPECT_EQ(create_cd(nullptr, nullptr, COMM_LOGGING_DISABLED, "root", &error), nullptr);
        EXPECT_EQ(error, CD_ERROR_ARGUMENT);
        EXPECT_EQ(last_message().find("the environment variable CD_INJECT: cd=root is not allowed"),
                  0U)
            << last_message();
    }
}

TEST_F(Inject, ABadTextIsRefusedAndChangesNothing) {
    const cd_handle root = make_root();
    EXPECT_TRUE(fails_with(CD_ERROR_ARGUMENT, cd_inject("cd=0/root/0/0;at=2")));
    EXPECT_EQ(last_message().find("cd_inject: "), 0U) << last_message();
    EXPECT_EQ(answers(root, 2), "00");
}

TEST_F(Inject, AHandleThatIsNoneIsAnErrorThatIsNotZero) {
    EXPECT_TRUE(fails_with(CD_ERROR_INVALID_HANDLE, cd_failed(nullptr)));
    EXPECT_TRUE(fails_with(CD_ERROR_NO_CURRENT_CD, cd_failed(CURRENT_CD)));
    make_root();
    EXPECT_EQ(cd_failed(CURRENT_CD), 0);
}

} // namespace
