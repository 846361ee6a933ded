// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "local_program.h"

#include <gtest/gtest.h>

namespace cd::checkpoint {
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

TEST(Job, SetsThatAreWholeHaveNothingToSay) {
    LocalProgram program({"n0", "n0", "n1", "n1"}, {});
    const auto outcomes = program.run([](std::unique_ptr<Job> job) {
        const bool is_lost = job->rank() % 2 == 0;
        return agree(*job, is_lost ? fail(CD_ERROR_REDUNDANCY_EXCEEDED, "lost") : Status::ok());
    });
    for (const auto &outcome : outcomes) {
        EXPECT_EQ(outcome, (LocalProgram::Outcome{CD_ERROR_REDUNDANCY_EXCEEDED, "lost"}));
    }
}

// With more room it would be lost, too; what cannot be read may be there.
TEST(Job, WhatIsLostIsToldBeforeALackOfRoomAndAfterAllElse) {
    for (const cd_error other : {CD_ERROR_STORE_FULL, CD_ERROR_STORE_IO}) {
        LocalProgram program({"n0", "n1", "n2"}, {});
        const auto outcomes = program.run([&](std::unique_ptr<Job> job) {
            return agree(*job, job->rank() == 0   ? fail(other, "set 1 has failed")
                               : job->rank() == 1 ? Status::ok()
                                                  : fail(CD_ERROR_REDUNDANCY_EXCEEDED, "set 2"));
        });
        for (const auto &outcome : outcomes) {
            EXPECT_EQ(outcome.code,
                      other == CD_ERROR_STORE_FULL ? CD_ERROR_REDUNDANCY_EXCEEDED : other);
            EXPECT_EQ(outcome.text,
                      other == CD_ERROR_STORE_FULL ? "set 2" : "rank 0: set 1 has failed");
        }
    }
}

// A local advance goes on where MPI has failed; what needs all ranks does not.
TEST(Job, RanksThatCannotMeetHaveEachItsOwnOutcomeOnlyWhereThatIsAskedFor) {
    LocalProgram program({"n0", "n1"}, {});
    program.die();
    const auto outcomes = program.run([](std::unique_ptr<Job> job) {
        EXPECT_FALSE(agree(*job, Status::ok()));
        std::vector<redset::Bytes> all;
        return agree_if_possible(
            *job, job->rank() == 1 ? fail(CD_ERROR_STORE_FULL, "no room") : Status::ok(), {}, all);
    });
    EXPECT_EQ(outcomes.at(0).code, CD_ERROR_NONE);
    EXPECT_EQ(outcomes.at(1), (LocalProgram::Outcome{CD_ERROR_STORE_FULL, "no room"}));
}

} // namespace
} // namespace cd::checkpoint
