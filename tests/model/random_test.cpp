// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "executor.h"
#include "generator.h"
#include "shrinker.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

// Random programs against the model. CD_MODEL_STEPS changes how many steps are done in all;
// CD_MODEL_SEED does one program only, in a process of its own, and prints what is left of it after
// shrinking if it fails.
namespace {

constexpr long default_steps = 1'200'000;
constexpr int group_count = 8;
constexpr int shrink_seconds = 30;

// Programs of different lengths: short ones end often, long ones pile up state.
constexpr int program_lengths[] = {100, 500, 2000, 2000};

long steps_in_all() {
    const char *text = std::getenv("CD_MODEL_STEPS");
    return text != nullptr ? std::strtol(text, nullptr, 10) : default_steps;
}

int length_of(uint64_t seed) { return program_lengths[seed % std::size(program_lengths)]; }

std::string explain(uint64_t seed, const std::vector<model::Step> &program) {
    const auto shortest = model::shrink(program, shrink_seconds);
    return "Seed " + std::to_string(seed) + " fails (CD_MODEL_SEED=" + std::to_string(seed) +
           " repeats it). Shortened to " + std::to_string(shortest.size()) + " steps:\n" +
           model::describe(shortest) + "which ends with\n  " + model::failure_of(shortest) + "\n";
}

void expect_program_to_pass(uint64_t seed) {
    const auto program = model::generate(seed, length_of(seed));
    const std::string failure = model::failure_of(program);
    EXPECT_EQ(failure, "") << explain(seed, program);
}

class RandomPrograms : public testing::TestWithParam<int> {
protected:
    void SetUp() override { unsetenv("CD_STORAGE_INFO"); }
};

TEST_P(RandomPrograms, DoWhatTheModelSays) {
    if (const char *one = std::getenv("CD_MODEL_SEED")) {
        expect_program_to_pass(std::strtoull(one, nullptr, 10));
        return;
    }
    const long share = steps_in_all() / group_count;
    uint64_t seed = static_cast<uint64_t>(GetParam()) * 1'000'000;
    for (long done = 0; done < share; ++seed) {
        std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
        std::fflush(stdout); // for the case that the program crashes
        const auto program = model::generate(seed, length_of(seed));
        const auto mismatch = model::execute(program);
        ASSERT_FALSE(mismatch) << "step " << mismatch->step << ": " << mismatch->what << "\n"
                               << explain(seed, program);
        done += static_cast<long>(program.size());
    }
}

INSTANTIATE_TEST_SUITE_P(Group, RandomPrograms, testing::Range(1, group_count + 1));

// The same seed has to mean the same program, or a printed seed is worth nothing.
TEST(Generator, GivesTheSameProgramForTheSameSeed) {
    EXPECT_EQ(model::describe(model::generate(42, 500)), model::describe(model::generate(42, 500)));
    EXPECT_NE(model::describe(model::generate(42, 500)), model::describe(model::generate(43, 500)));
}

} // namespace
