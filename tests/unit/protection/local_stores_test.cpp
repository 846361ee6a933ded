// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// What people hear of a start when ranks have stores of their own that it does not take.

#include "cd/cd.h"
#include "each_fault.h"
#include "file_store/directory.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
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
    void leave(const std::string &node, const std::string &name) const {
        std::filesystem::create_directories(cluster.directory(node));
        std::ofstream(cluster.directory(node) / name) << "a store";
    }
    std::vector<std::string> files_in(const std::string &node) const {
        std::vector<std::string> names;
        for (const auto &each : std::filesystem::directory_iterator(cluster.directory(node))) {
            if (!each.is_directory()) {
                names.push_back(each.path().filename().string());
            }
        }
        std::ranges::sort(names);
        return names;
    }

    FailingSystem system;
    Cluster cluster{fault_nodes};
};

// Until then a start may need them, and those that a rank has where it is are its own business.
TEST_F(LocalStores, ThatARankLeftWhereItIsNoMoreGoWhenTheRootIsCommitted) {
    const std::vector<std::string> of_moved = {".1-solver.cds.gone", "1-solver.cds",
                                               "1-solver.cds.old", "2-solver.cds.old"};
    const std::vector<std::string> of_others = {"0-solver.cds", "1-another.cds", "11-solver.cds",
                                                "3-solver.cds"};
    std::vector<std::string> all = of_others;
    all.insert(all.end(), of_moved.begin(), of_moved.end());
    std::ranges::sort(all);
    for (const std::string &name : all) {
        leave("n0", name);
    }
    cluster.run({1, 2});
    EXPECT_EQ(files_in("n0"), all);
    cluster.run({3}, true);
    EXPECT_EQ(files_in("n0"), of_others);
}

TEST_F(LocalStores, OfRanksThatShareADirectoryStay) {
    cluster.nodes = {"n0", "n0", "n1"};
    cluster.redundancy = {Scheme::single, 0};
    leave("n0", "1-solver.cds");
    cluster.run({1}, true);
    EXPECT_EQ(files_in("n0"), std::vector<std::string>{"1-solver.cds"});
}

// Another program's of the same name, whose ranks it has.
TEST_F(LocalStores, ThatAnotherProcessUsesStay) {
    const std::vector<std::string> names = {"1-solver.cds", "1-solver.cds.old"};
    for (const std::string &name : names) {
        leave("n0", name);
    }
    int held[2];
    int done[2];
    ASSERT_EQ(::pipe(held), 0);
    ASSERT_EQ(::pipe(done), 0);
    const pid_t other = ::fork();
    ASSERT_NE(other, -1);
    if (other == 0) {
        ::close(done[1]);
        Directory directory;
        File store;
        bool there = false;
        char byte = 0;
        const bool locked = Directory::open(cluster.directory("n0").string(), directory) &&
                            directory.open_store(names.front(), store, there) && there;
        (void)!::write(held[1], &byte, 1);
        (void)!::read(done[0], &byte, 1);
        ::_exit(locked ? 0 : 1);
    }
    char byte = 0;
    ASSERT_EQ(::read(held[0], &byte, 1), 1);
    cluster.run({1}, true);
    EXPECT_EQ(files_in("n0"), names);
    ::close(done[1]);
    int status = 0;
    ASSERT_EQ(::waitpid(other, &status, 0), other);
    EXPECT_EQ(status, 0);
    cluster.run({1}, true);
    EXPECT_EQ(files_in("n0"), std::vector<std::string>{});
}

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
} // namespace cd::protection
