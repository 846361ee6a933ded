// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "log_program.h"

#include <cstdlib>

// Random programs of several threads. CD_LOG_PROGRAMS changes how many are run;
// CD_LOG_PROGRAM_SEED runs one, or that many from there on.
namespace {

constexpr uint64_t usual_programs = 40;

uint64_t number_in_environment(const char *name, uint64_t otherwise) {
    const char *text = std::getenv(name);
    return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

TEST(MpiLogPrograms, EachChildGetsItsOwnLogWhateverIsRestoredWhenever) {
    unsetenv("CD_STORAGE_INFO");
    const uint64_t first = number_in_environment("CD_LOG_PROGRAM_SEED", 0);
    const uint64_t count =
        number_in_environment("CD_LOG_PROGRAMS", first != 0 ? 1 : usual_programs);
    int restores = 0;
    int replayed = 0;
    for (uint64_t seed = first; seed < first + count; ++seed) {
        SCOPED_TRACE("CD_LOG_PROGRAM_SEED=" + std::to_string(seed));
        log_program::Run run(seed);
        run.to_the_end();
        ASSERT_FALSE(testing::Test::HasFailure()) << run.history();
        restores += run.restores();
        replayed += run.replayed();
    }
    if (first == 0) {
        EXPECT_GT(restores, static_cast<int>(count)) << "programs that test nothing";
        EXPECT_GT(replayed, static_cast<int>(count));
    }
}

} // namespace
