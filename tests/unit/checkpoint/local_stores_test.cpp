// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// What people hear of a start when ranks have stores of their own that it does not take.

#include "../time_limit.h"
#include "cd/cd.h"
#include "each_fault.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace cd::checkpoint {
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

    // As a program without redundancy that was killed leaves it.
    void leave_store(int rank, int epoch, const std::filesystem::path &as) const {
        const std::filesystem::path directory = as.parent_path();
        const pid_t program = ::fork();
        if (program == 0) {
            ::setenv("PMIX_RANK", std::to_string(rank).c_str(), 1);
            const std::string storage = "store=file,dir=" + directory.string();
            cd_handle root =
                create_cd(nullptr, storage.c_str(), CD_COMM_LOGGING_DISABLED, "solver", nullptr);
            bool good = root != nullptr;
            for (int i = 0; good && i < epoch; ++i) {
                good = advance_cd_point_in_time(root) == SUCCESS;
            }
            ::_exit(good ? 0 : 1);
        }
        int status = 0;
        ASSERT_EQ(::waitpid(program, &status, 0), program);
        ASSERT_EQ(status, 0);
        std::filesystem::rename(directory / (std::to_string(rank) + "-solver.cds"), as);
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

// What they would be kept aside for does not come to be.
TEST_F(LocalStores, AreNotNamedByAStartThatFails) {
    ASSERT_EQ(cluster.run({1}).outcome().text, "");
    for (int rank = 0; rank < 3; ++rank) {
        const std::string number = std::to_string(rank);
        leave_store(rank, 3, cluster.directory("n" + number) / (number + "-solver.cds.old"));
    }
    {
        const FailingSystem listening;
        Cluster::Opening opening;
        opening.begin = [](int rank) {
            return rank == 1 ? fail(CD_ERROR_STORE_FULL, "no room for the store") : Status::ok();
        };
        const auto nothing_more = [](Cluster::Rank &) { return Status::ok(); };
        EXPECT_EQ(cluster.run_steps(nothing_more, opening).outcome().text,
                  "rank 1: no room for the store");
        EXPECT_EQ(listening.told(), std::vector<std::string>{});
    }
    EXPECT_EQ(told_at_start().size(), 1U);
}

// Whoever opens the store says what is to be done with what has its name.
TEST_F(LocalStores, ThatAreNoFilesAreNotWaitedFor) {
    std::filesystem::create_directories(store().parent_path());
    for (const std::string end : {".cds", ".cds.old"}) {
        const TimeLimit limit(20, "a start beside a fifo");
        ASSERT_EQ(::mkfifo(store(end).c_str(), 0600), 0);
        EXPECT_EQ(told_at_start(), std::vector<std::string>{}) << end;
        std::filesystem::remove(store(end));
    }
}

// What was put aside goes where the store beside it is newer than what all start from.
TEST_F(LocalStores, AreThoseThatWillStayAside) {
    ASSERT_EQ(cluster.run({1}).outcome().text, "");
    for (int rank = 0; rank < 3; ++rank) {
        const std::string number = std::to_string(rank);
        const std::string path = cluster.directory("n" + number) / (number + "-solver.cds");
        leave_store(rank, 3, path + ".3"); // where nothing is beside it that it would remove
        leave_store(rank, 5, path + ".old");
        std::filesystem::rename(path + ".3", path);
    }
    const std::vector<std::string> told = told_at_start();
    ASSERT_EQ(told.size(), 1U);
    EXPECT_NE(told[0].find("start from epoch 1, which is protected"), std::string::npos) << told[0];
    EXPECT_NE(told[0].find(" have epoch 3, and are kept aside"), std::string::npos) << told[0];
}

} // namespace
} // namespace cd::checkpoint
