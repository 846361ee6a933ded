// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "local_program.h"

#include <gtest/gtest.h>

namespace cd::protection {
namespace {

// Each set of two ranks says the same, in so many characters.
std::string outcome_of_sets(int sets, size_t length) {
    LocalProgram program(std::vector<std::string>(static_cast<size_t>(2 * sets), "n0"), {});
    const auto outcomes = program.run([&](std::unique_ptr<Job> job) {
        std::string text = "set " + std::to_string(job->rank() / 2 + 1) + " ";
        text.resize(length, '.');
        return agree(*job, fail(CD_ERROR_REDUNDANCY_EXCEEDED, "%s", text.c_str()));
    });
    for (const auto &outcome : outcomes) {
        EXPECT_EQ(outcome, outcomes.front());
    }
    EXPECT_EQ(outcomes.front().code, CD_ERROR_REDUNDANCY_EXCEEDED);
    return outcomes.front().text;
}

TEST(Job, AllSetsThatHaveLostTooMuchAreNamedOnce) {
    EXPECT_EQ(outcome_of_sets(3, 8), "set 1 .. | set 2 .. | set 3 ..");
}

TEST(Job, SetsThatDoNotFitIntoTheMessageAreCounted) {
    const std::string some = outcome_of_sets(6, 400);
    EXPECT_NE(some.find(" | set 2 ."), std::string::npos) << some;
    EXPECT_TRUE(some.ends_with(". | and more sets: 4")) << some;
    EXPECT_TRUE(outcome_of_sets(3, 1000).ends_with(". | and more sets: 2"));
}

} // namespace
} // namespace cd::protection
