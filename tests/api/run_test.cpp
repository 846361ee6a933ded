// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// cd_run

#include "cd/control.h"
#include "fixture.h"

#include <functional>
#include <future>
#include <stdexcept>
#include <thread>

namespace {

using Body = std::function<int(cd_handle)>;

// The test's own body and check.
struct Script {
    Body body;
    Body check;
};

int body_of(cd_handle cd, void *script) { return static_cast<Script *>(script)->body(cd); }
int check_of(cd_handle cd, void *script) { return static_cast<Script *>(script)->check(cd); }

int run(cd_handle parent, int tries, const Body &body, const Body &check = nullptr) {
    Script script = {body, check};
    const cd_run_options options = {tries, check ? check_of : nullptr, nullptr};
    return cd_run(parent, &options, body_of, &script);
}

class Run : public CdTest {
protected:
    void SetUp() override {
        CdTest::SetUp();
        root = make_root();
    }

    void TearDown() override {
        cd_inject(nullptr);
        CdTest::TearDown();
    }

    // The body's usual beginning: the state is kept, and changed. What it was when the body began
    // is in began_with.
    void work(cd_handle cd) {
        const cd_addrspec keep = rw(state);
        EXPECT_TRUE(succeeds(add_to_cd_via_copy(cd, &keep, 1)));
        began_with.push_back(state);
        state = 10 * state + 1;
    }

    cd_handle root = nullptr;
    int state = 5;
    std::vector<int> began_with;
};

TEST_F(Run, WhatSucceedsRunsOnceInAChildThatIsCommitted) {
    EXPECT_TRUE(succeeds(run(root, 3, [&](cd_handle cd) {
        EXPECT_STREQ(cd_name(cd), "0/root/1/0");
        EXPECT_STREQ(cd_name(CURRENT_CD), "0/root/1/0");
        work(cd);
        return 0;
    })));
    EXPECT_EQ(began_with, std::vector({5}));
    EXPECT_EQ(state, 51);
    EXPECT_EQ(info_of(root).children, 0);
    EXPECT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(state, 5) << "the commit gave the parent what it lacked";
}

TEST_F(Run, ABodyThatFailsRunsAgainFromTheChildsPointInTime) {
    EXPECT_TRUE(succeeds(run(root, 3, [&](cd_handle cd) {
        work(cd);
        return began_with.size() < 3 ? 4 : 0;
    })));
    EXPECT_EQ(began_with, std::vector({5, 5, 5}));
    EXPECT_EQ(state, 51);
}

TEST_F(Run, AnAdvanceInTheBodyIsWhatItRunsAgainFrom) {
    EXPECT_TRUE(succeeds(run(root, 2, [&](cd_handle cd) {
        work(cd);
        if (began_with.size() == 1) {
            EXPECT_TRUE(succeeds(advance_cd_point_in_time(cd)));
            return 1;
        }
        return 0;
    })));
    EXPECT_EQ(began_with, std::vector({5, 51}));
}

TEST_F(Run, ACheckThatFailsMakesItRunAgain) {
    int checks = 0;
    EXPECT_TRUE(succeeds(run(
        root, 3,
        [&](cd_handle cd) {
            work(cd);
            return 0;
        },
        [&](cd_handle cd) {
            EXPECT_STREQ(cd_name(cd), "0/root/1/0");
            EXPECT_EQ(state, 51);
            return ++checks < 2 ? -1 : 0;
        })));
    EXPECT_EQ(began_with, std::vector({5, 5}));
    EXPECT_EQ(checks, 2);
}

TEST_F(Run, AnInjectedFailureMakesItRunAgainAndIsAskedForOnceAfterEachRun) {
    ASSERT_TRUE(succeeds(cd_inject("cd=0/root/1/0,at=2,times=2")));
    int checks = 0;
    const Body body = [&](cd_handle cd) {
        work(cd);
        return began_with.size() == 1 ? 1 : 0; // fails where no failure is injected
    };
    EXPECT_TRUE(succeeds(run(root, 4, body, [&](cd_handle) {
        ++checks;
        return 0;
    })));
    EXPECT_EQ(began_with, std::vector({5, 5, 5, 5}));
    EXPECT_EQ(checks, 1) << "what failed is not checked";
}

TEST_F(Run, AfterTheLastTryItFailsAndTheParentCanBeRestored) {
    EXPECT_TRUE(fails_with(CD_ERROR_RUN_FAILED, run(root, 2, [&](cd_handle cd) {
                               work(cd);
                               return 7;
                           })));
    EXPECT_EQ(last_message(), "CD 0/root/1/0 failed in each of its 2 tries, at last because body "
                              "returned 7; restore its parent");
    EXPECT_EQ(began_with, std::vector({5, 5}));
    EXPECT_EQ(state, 51) << "memory is as body left it";
    EXPECT_EQ(info_of(root).children, 0);
    EXPECT_STREQ(cd_name(CURRENT_CD), "0/root/0/0");
    EXPECT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(state, 5);
}

TEST_F(Run, TheMessageSaysWhyTheLastTryFailed) {
    const Body fine = [](cd_handle) { return 0; };
    EXPECT_TRUE(fails_with(CD_ERROR_RUN_FAILED, run(root, 1, fine, [](cd_handle) { return 3; }),
                           {"check returned 3"}));
    EXPECT_TRUE(
        fails_with(CD_ERROR_RUN_FAILED,
                   run(root, 1, [](cd_handle) -> int { throw std::runtime_error("thrown"); }),
                   {"body threw"}));
    ASSERT_TRUE(succeeds(cd_inject("cd=*/*/1/*")));
    EXPECT_TRUE(fails_with(CD_ERROR_RUN_FAILED, run(root, 1, fine), {"injected"}));
}

TEST_F(Run, WhatFailsForGoodEscalatesToTheRunAroundIt) {
    int outer = 0, inner = 0, first = 1;
    EXPECT_TRUE(succeeds(run(root, 2, [&](cd_handle cd) {
        const cd_addrspec keep = rw(first);
        EXPECT_TRUE(succeeds(add_to_cd_via_copy(cd, &keep, 1)));
        EXPECT_EQ(first, 1);
        first = 2;
        ++outer;
        return run(cd, 3, [&](cd_handle solution) {
            EXPECT_STREQ(cd_name(solution), "0/root/2/0");
            work(solution);
            EXPECT_EQ(first, 2);
            return ++inner <= 3 ? 1 : 0;
        });
    })));
    EXPECT_EQ(outer, 2);
    EXPECT_EQ(inner, 4);
    EXPECT_EQ(began_with, std::vector({5, 5, 5, 5})) << "the outer restore used the inner's data";
}

TEST_F(Run, ThreeTriesAreUsual) {
    int runs = 0;
    Script script = {[&](cd_handle) {
                         ++runs;
                         return 1;
                     },
                     nullptr};
    EXPECT_TRUE(fails_with(CD_ERROR_RUN_FAILED, cd_run(root, nullptr, body_of, &script)));
    EXPECT_EQ(runs, CD_RUN_TRIES);
    EXPECT_EQ(runs, 3);
}

TEST_F(Run, WhatTheBodyThrowsEndsThereAndItRunsAgain) {
    EXPECT_TRUE(succeeds(run(root, 2, [&](cd_handle cd) {
        work(cd);
        if (began_with.size() == 1) {
            throw 1;
        }
        return 0;
    })));
    EXPECT_EQ(began_with, std::vector({5, 5}));
}

TEST_F(Run, DescendantsThatTheBodyLeftGiveTheirDataToTheParentWhenItFails) {
    EXPECT_TRUE(fails_with(CD_ERROR_RUN_FAILED, run(root, 1, [&](cd_handle cd) {
                               work(create_cd(cd, nullptr, COMM_LOGGING_INHERIT, nullptr, nullptr));
                               create_cd(CURRENT_CD, nullptr, COMM_LOGGING_INHERIT, nullptr,
                                         nullptr);
                               return 1;
                           })));
    EXPECT_EQ(info_of(root).children, 0);
    EXPECT_STREQ(cd_name(CURRENT_CD), "0/root/0/0");
    EXPECT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(state, 5);
}

TEST_F(Run, ChildrenThatASuccessfulBodyLeftAreAnErrorAndItDoesNotRunAgain) {
    int runs = 0;
    EXPECT_TRUE(fails_with(CD_ERROR_HAS_CHILDREN, run(root, 3, [&](cd_handle cd) {
                               ++runs;
                               create_cd(cd, nullptr, COMM_LOGGING_INHERIT, nullptr, nullptr);
                               return 0;
                           })));
    EXPECT_NE(last_message(), "");
    EXPECT_EQ(runs, 1);
    EXPECT_EQ(info_of(root).children, 0);
}

TEST_F(Run, ARestoreThatFailsEndsItWithTheRestoresError) {
    int runs = 0;
    const auto fails = [](cd_addrspec *, int) { return 1; };
    EXPECT_TRUE(fails_with(CD_ERROR_REGEN_FAILED, run(root, 3, [&](cd_handle cd) {
                               ++runs;
                               const cd_addrspec table = ro(state);
                               EXPECT_TRUE(succeeds(add_to_cd_via_regen(cd, &table, 1, fails)));
                               return 1;
                           })));
    EXPECT_EQ(runs, 1);
    EXPECT_EQ(info_of(root).children, 0);
}

TEST_F(Run, ABodyThatRestoresTheParentHasEndedTheChild) {
    EXPECT_TRUE(fails_with(CD_ERROR_INVALID_HANDLE, run(root, 3, [&](cd_handle cd) {
                               work(cd);
                               EXPECT_TRUE(succeeds(restore_cd(root)));
                               return 0;
                           })));
    EXPECT_EQ(began_with.size(), 1U);
    EXPECT_EQ(state, 5);
}

TEST_F(Run, WhatAnotherThreadWorksInIsNotCommittedUnderIt) {
    std::promise<cd_handle> created;
    std::promise<void> finish;
    std::thread other;
    cd_handle elsewhere = nullptr;
    EXPECT_TRUE(fails_with(CD_ERROR_RUN_FAILED, run(root, 1, [&](cd_handle cd) {
                               other = std::thread([&, cd] {
                                   created.set_value(create_cd(cd, nullptr, COMM_LOGGING_INHERIT,
                                                               nullptr, nullptr));
                                   finish.get_future().wait();
                               });
                               elsewhere = created.get_future().get();
                               return 1;
                           })));
    EXPECT_EQ(info_of(elsewhere).depth, 2);
    finish.set_value();
    other.join();
    EXPECT_TRUE(succeeds(restore_cd(root)));
    EXPECT_TRUE(is_gone(elsewhere));
}

TEST_F(Run, TheChildIsKeptAsStorageInfoSays) {
    cd_run_options options = {1, nullptr, "color=red"};
    Script script = {[](cd_handle) { return 0; }, nullptr};
    EXPECT_TRUE(fails_with(CD_ERROR_STORAGE_KEY, cd_run(root, &options, body_of, &script)));
    options.storage_info = "checksum=crc32c";
    EXPECT_TRUE(succeeds(cd_run(root, &options, body_of, &script)));
}

TEST_F(Run, WhatItCannotUseIsRefusedAndNothingRuns) {
    const Body never = [](cd_handle) {
        ADD_FAILURE();
        return 0;
    };
    EXPECT_TRUE(fails_with(CD_ERROR_INVALID_HANDLE, run(nullptr, 1, never), {"create a root"}));
    EXPECT_TRUE(fails_with(CD_ERROR_ARGUMENT, cd_run(root, nullptr, nullptr, nullptr)));
    EXPECT_TRUE(fails_with(CD_ERROR_ARGUMENT, run(root, -1, never), {"tries is -1"}));
    commit_cd(root);
    EXPECT_TRUE(fails_with(CD_ERROR_INVALID_HANDLE, run(root, 1, never)));
}

TEST_F(Run, TheMpiLogOfTheRunIsReplayedToTheNextOne) {
    const cd_handle logging = make_root(COMM_LOGGING_ENABLED, nullptr, "logging");
    int runs = 0;
    EXPECT_TRUE(succeeds(run(logging, 2, [&](cd_handle cd) {
        if (++runs == 1) {
            const cd_log_part part = {"entry", 6};
            EXPECT_TRUE(succeeds(cd_log_append(cd, &part, 1)));
            return 1;
        }
        EXPECT_EQ(info_of(cd).replaying, 1);
        EXPECT_STREQ(static_cast<const char *>(cd_log_next(cd, nullptr, nullptr)), "entry");
        return 0;
    })));
    EXPECT_EQ(runs, 2);
}

} // namespace
