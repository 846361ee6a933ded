// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// cd_need_advance with a clock that only moves when it is told to.

#include "../replaced_system.h"
#include "cd/cd.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

namespace cd {
namespace {

constexpr uint64_t second = 1'000'000'000;

// Each advance asks twice for the time: the second time it is later by the cost.
class Clock : public ReplacedSystem {
public:
    uint64_t monotonic_ns() override {
        const uint64_t now = now_;
        now_ += step;
        return now;
    }
    const char *environment(const char *name) override {
        const auto at = variables.find(name);
        return at == variables.end() ? nullptr : at->second.c_str();
    }
    void wait(double seconds) { now_ += static_cast<int64_t>(seconds * second); }

    uint64_t step = 0;
    std::map<std::string, std::string> variables;

private:
    uint64_t now_ = second;
};

class NeedAdvance : public testing::Test {
protected:
    void TearDown() override {
        if (cd_ != nullptr) {
            ASSERT_EQ(commit_cd(cd_), CD_SUCCESS);
        }
    }
    void create() {
        int error = 0;
        cd_ = create_cd(nullptr, nullptr, CD_COMM_LOGGING_DISABLED, "paced", &error);
        ASSERT_NE(cd_, nullptr) << cd_last_error_message();
    }
    void advance(double cost) {
        clock_.step = static_cast<uint64_t>(cost * second);
        ASSERT_EQ(advance_cd_point_in_time(cd_), CD_SUCCESS);
        clock_.step = 0;
        clock_.wait(-cost); // the clock went on after it was asked for the last time
    }
    // After how many seconds from now it is time, with an error of a millisecond.
    double wait_until_needed() {
        double waited = 0;
        while (cd_need_advance(cd_) == 0 && waited < 1000) {
            clock_.wait(0.001);
            waited += 0.001;
        }
        return waited;
    }

    Clock clock_;
    cd_handle cd_ = nullptr;
};

TEST_F(NeedAdvance, IsAlwaysWithoutLimits) {
    create();
    EXPECT_EQ(cd_need_advance(cd_), 1);
    advance(1);
    EXPECT_EQ(cd_need_advance(cd_), 1);
}

TEST_F(NeedAdvance, IsTrueUntilAnAdvanceTellsTheCost) {
    clock_.variables["CD_MTBF"] = "3600";
    create();
    EXPECT_EQ(cd_need_advance(cd_), 1);
    advance(1);
    EXPECT_EQ(cd_need_advance(cd_), 0);
}

TEST_F(NeedAdvance, ComesWhenTheIntervalOfYoungAndDalyIsOver) {
    clock_.variables["CD_MTBF"] = "200";
    create();
    advance(1);
    EXPECT_NEAR(wait_until_needed(), std::sqrt(2 * 1 * 200) - 1, 0.01);
    advance(3); // the mean is 2
    EXPECT_NEAR(wait_until_needed(), std::sqrt(2 * 2 * 200) - 2, 0.01);
}

TEST_F(NeedAdvance, ComesWhenAllLimitsAllowIt) {
    const struct {
        std::map<std::string, std::string> limits;
        double cost, wait;
    } rows[] = {{{{"CD_OVERHEAD", "20"}}, 2, 8},
                {{{"CD_OVERHEAD", "1"}, {"CD_MTBF", "200"}}, 1, 99},
                {{{"CD_MTBF", "10"}}, 8, 10}}; // not more often than failures
    for (const auto &[limits, cost, wait] : rows) {
        clock_.variables = limits;
        create();
        advance(cost);
        EXPECT_NEAR(wait_until_needed(), wait, 0.01);
        ASSERT_EQ(commit_cd(cd_), CD_SUCCESS);
        cd_ = nullptr;
    }
}

TEST_F(NeedAdvance, CountsFromARestoreOn) {
    clock_.variables["CD_OVERHEAD"] = "20";
    create();
    advance(2);
    clock_.wait(5);
    ASSERT_EQ(restore_cd(cd_), CD_SUCCESS);
    EXPECT_NEAR(wait_until_needed(), 8, 0.01);
}

TEST_F(NeedAdvance, OfAChildHasTheLimitsOfItsRoot) {
    clock_.variables["CD_OVERHEAD"] = "20";
    create();
    const cd_handle root = cd_;
    cd_ = create_cd(root, nullptr, CD_COMM_LOGGING_INHERIT, nullptr, nullptr);
    advance(2);
    EXPECT_NEAR(wait_until_needed(), 8, 0.01);
    ASSERT_EQ(commit_cd(cd_), CD_SUCCESS);
    cd_ = root;
}

TEST_F(NeedAdvance, LimitsThatAreNoNumbersInRangeFailTheRoot) {
    for (const auto &[variable, value] : {std::pair("CD_MTBF", "0"),
                                          {"CD_MTBF", "-1"},
                                          {"CD_MTBF", "1h"},
                                          {"CD_MTBF", "nan"},
                                          {"CD_MTBF", "inf"},
                                          {"CD_OVERHEAD", "100"},
                                          {"CD_OVERHEAD", "5%"}}) {
        clock_.variables = {{variable, value}};
        int error = 0;
        EXPECT_EQ(create_cd(nullptr, nullptr, CD_COMM_LOGGING_DISABLED, "paced", &error), nullptr);
        EXPECT_EQ(error, CD_ERROR_ARGUMENT) << variable << "=" << value;
        EXPECT_NE(std::string(cd_last_error_message()).find(value), std::string::npos);
    }
}

TEST_F(NeedAdvance, IsTrueForWhatIsNoHandle) {
    EXPECT_EQ(cd_need_advance(nullptr), 1);
    EXPECT_NE(cd_last_error(), CD_ERROR_NONE);
}

} // namespace
} // namespace cd
