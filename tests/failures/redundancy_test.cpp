// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Lets every single allocation fail of one rank of a program with redundancy. All ranks get the
// same outcome, none waits for ever, and no point in time is lost.

#include "../unit/checkpoint/each_fault.h"
#include "allocation_faults.h"

namespace cd::checkpoint {
namespace {

struct NoMemory {
    static void arm(int nth) { faults::fail_request(static_cast<size_t>(nth)); }
    static bool happened() { return faults::happened(); }
};

class ShortOfMemory : public testing::Test {
protected:
    DyingSystem system; // nothing waits for the disk
};

TEST_F(ShortOfMemory, WhileProtectingOneRankLetsThatAdvanceFailForAll) {
    for (const int rank : {0, 1}) {
        int failures = 0;
        fail_everywhere_in_protect<NoMemory>(rank, failures);
        EXPECT_GT(failures, 30);
    }
}

TEST_F(ShortOfMemory, WhileRestartingOneRankLetsItFailForAllAndNothingIsLost) {
    EXPECT_GT(fail_everywhere_in_open<NoMemory>(1, true), 50);
}

TEST_F(ShortOfMemory, WhileCommittingOneRankLetsAllKeepTheRootOrNone) {
    EXPECT_GT(fail_everywhere_in_forget<NoMemory>(1), 5);
}

} // namespace
} // namespace cd::checkpoint
