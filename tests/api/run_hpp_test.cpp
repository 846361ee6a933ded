// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// cd::run

#define CD_NO_SHORT_NAMES
#include "cd/cd.hpp"

#include <gtest/gtest.h>

#include <pthread.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace {

using cd::Domain;
using cd::Result;

struct Tracked {
    explicit Tracked(int &count) : ends(count) {}
    Tracked(const Tracked &) = delete;
    Tracked &operator=(const Tracked &) = delete;
    ~Tracked() { ++ends; }
    int &ends;
};

class RunHpp : public testing::Test {
public:
    void TearDown() override { cd_inject(nullptr); }

    void work(Domain &domain) {
        domain.preserve(state);
        began_with.push_back(state);
        state = 10 * state + 1;
    }

    Domain root = Domain::root("root");
    int state = 5;
    std::vector<int> began_with;
};

TEST_F(RunHpp, ABodyThatReturnsNothingRunsOnceAndItsChildIsCommitted) {
    cd::run(root, {}, [&](Domain &domain) {
        EXPECT_EQ(domain.name(), "0/root/1/0");
        work(domain);
    });
    EXPECT_EQ(began_with, std::vector({5}));
    EXPECT_EQ(root.query().children, 0);
    root.restore();
    EXPECT_EQ(state, 5);
}

TEST_F(RunHpp, WhenItThrowsItsObjectsAreDestroyedAndItRunsAgainFromThePointInTime) {
    int ends = 0;
    cd::run(root, {}, [&](Domain &domain) {
        EXPECT_EQ(ends, static_cast<int>(began_with.size()));
        const Tracked tracked(ends);
        Domain inner = domain.child();
        work(inner);
        if (began_with.size() < 3)
            throw std::runtime_error("thrown");
    });
    EXPECT_EQ(ends, 3);
    EXPECT_EQ(began_with, std::vector({5, 5, 5}));
    EXPECT_EQ(state, 51);
}

TEST_F(RunHpp, AnErrorThatItReturnsMakesItRunAgain) {
    cd::run(root, {}, [&](Domain &domain) {
        work(domain);
        return began_with.size() < 2 ? -1 : 0;
    });
    EXPECT_EQ(began_with, std::vector({5, 5}));
    cd::run(root, {}, [&](Domain &domain) {
        work(domain);
        return began_with.size() < 4 ? Domain().try_restore() : Result<>();
    });
    EXPECT_EQ(began_with, std::vector({5, 5, 51, 51}));
}

TEST_F(RunHpp, ACheckThatFailsOrThrowsMakesItRunAgain) {
    cd::RunOptions options;
    int checks = 0;
    options.check = [&](Domain &domain) {
        EXPECT_EQ(domain.name(), "0/root/1/0");
        if (++checks == 1)
            throw 1;
        return checks == 3;
    };
    cd::run(root, options, [&](Domain &domain) { work(domain); });
    EXPECT_EQ(began_with, std::vector({5, 5, 5}));
}

TEST_F(RunHpp, AnInjectedFailureMakesItRunAgain) {
    ASSERT_EQ(cd_inject("cd=0/root/1/0,at=1,times=2"), CD_SUCCESS);
    cd::run(root, {}, [&](Domain &domain) { work(domain); });
    EXPECT_EQ(began_with, std::vector({5, 5, 5}));
}

TEST_F(RunHpp, AfterTheLastTryWhatTheBodyThrewGoesOnAndTheParentCanBeRestored) {
    cd::RunOptions options;
    options.tries = 2;
    EXPECT_THROW(cd::run(root, options,
                         [&](Domain &domain) {
                             work(domain);
                             throw std::out_of_range("thrown");
                         }),
                 std::out_of_range);
    EXPECT_EQ(began_with, std::vector({5, 5}));
    EXPECT_EQ(root.query().children, 0);
    root.restore();
    EXPECT_EQ(state, 5);
}

TEST_F(RunHpp, AfterTheLastTryAnErrorSaysWhy) {
    cd::RunOptions options;
    options.tries = 2;
    try {
        cd::run(root, options, [](Domain &) { return 7; });
        ADD_FAILURE();
    } catch (const cd::Error &error) {
        EXPECT_EQ(error.code(), CD_ERROR_RUN_FAILED);
        EXPECT_STREQ(error.what(), "CD 0/root/1/0 failed in each of its 2 tries, at last because "
                                   "its body returned 7; restore its parent");
    }
}

TEST_F(RunHpp, WhatFailsForGoodEscalatesToTheRunAroundIt) {
    int outer = 0;
    cd::RunOptions options;
    options.tries = 2;
    cd::run(root, options, [&](Domain &domain) {
        ++outer;
        cd::run(domain, options, [&](Domain &solution) {
            work(solution);
            if (began_with.size() < 3)
                throw 1;
        });
    });
    EXPECT_EQ(outer, 2);
    EXPECT_EQ(began_with, std::vector({5, 5, 5}));
}

TEST_F(RunHpp, NoTriesAreRefused) {
    cd::RunOptions options;
    options.tries = 0;
    try {
        cd::run(root, options, [](Domain &) { ADD_FAILURE(); });
        ADD_FAILURE();
    } catch (const cd::Error &error) {
        EXPECT_EQ(error.code(), CD_ERROR_ARGUMENT);
    }
    EXPECT_THROW(cd::run(Domain(), {}, [](Domain &) { ADD_FAILURE(); }), cd::Error);
}

TEST_F(RunHpp, AThreadThatEndsInTheBodyDoesNotRunItAgain) {
    pthread_t thread{};
    const auto ends = [](void *test) -> void * {
        auto &self = *static_cast<RunHpp *>(test);
        cd::run(self.root, {}, [&](Domain &domain) {
            self.work(domain);
            pthread_exit(nullptr);
        });
        return nullptr;
    };
    ASSERT_EQ(pthread_create(&thread, nullptr, ends, this), 0);
    ASSERT_EQ(pthread_join(thread, nullptr), 0);
    EXPECT_EQ(began_with, std::vector({5}));
    EXPECT_EQ(root.query().children, 0);
}

} // namespace
