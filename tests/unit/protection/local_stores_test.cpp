// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// What people hear of a start when ranks have stores of their own that it does not take.

#include "each_fault.h"

#include <fstream>

namespace cd::protection {
namespace {

class LocalStores : public testing::Test {
protected:
    std::filesystem::path store(const std::string &end = ".cds") const {
        return cluster.directory("n0") / ("0-solver" + end);
    }
    std::vector<std::string> told_at_start() {
        const FailingSystem listening;
        cluster.run({});
        return listening.told();
    }

    FailingSystem system;
    Cluster cluster{fault_nodes};
};

// Also by the next start, when one that did not advance has put it aside.
TEST_F(LocalStores, AreNamedWithWhatToDoToGoOnFromThem) {
    for (const std::string end : {".cds", ".cds.old"}) {
        std::filesystem::create_directories(store().parent_path());
        std::ofstream(store(end)) << "what only its owner can read";
        EXPECT_EQ(told_at_start(),
                  std::vector<std::string>{
                      "root \"solver\": nothing is protected, so that all ranks start afresh; the "
                      "stores that are in " +
                      store().parent_path().string() +
                      " are kept aside until the next advance: to go on from them, end the program "
                      "before that, rename 0-solver.cds.old to 0-solver.cds, and so those of all "
                      "ranks, and start without redundancy= and config="});
        std::filesystem::remove(store(end));
    }
    EXPECT_EQ(told_at_start(), std::vector<std::string>{});
}

} // namespace
} // namespace cd::protection
