// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// The file positions of a process that was killed come back in another one.

#include "restarting.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <fstream>

namespace restarting {
namespace {

class Positions : public Restarting {
protected:
    void SetUp() override {
        Restarting::SetUp();
        for (const char *name : {"data", "other"}) {
            std::ofstream(path(name)) << std::string(100, 'x');
        }
    }
    int open(const std::string &name) const { return ::open(path(name).c_str(), O_RDWR); }
    static off_t position_of(int file) { return ::lseek(file, 0, SEEK_CUR); }
    // "" or the other one.
    static std::string check_position(int file, off_t wanted) {
        const off_t found = position_of(file);
        return found == wanted ? "" : "the file is at " + std::to_string(found);
    }
};

TEST_F(Positions, OfAChildThatWasKilledComeBackWithTheChild) {
    run([&] {
        const int file = open("data");
        ::lseek(file, 10, SEEK_SET);
        cd_handle root = create();
        if (advance_cd_point_in_time(root) != CD_SUCCESS ||
            add_file_to_cd(child_of(root), file) != CD_SUCCESS) {
            return false;
        }
        ::lseek(file, 30, SEEK_SET);
        return true;
    });
    run([&]() -> std::string {
        const int file = open("data");
        cd_handle child = child_of(create());
        return add_file_to_cd(child, file) == CD_SUCCESS && restore_cd(child) == CD_SUCCESS
                   ? check_position(file, 10)
                   : refusal();
    });
}

TEST_F(Positions, OfTwoDescriptorsOfAFileComeBackInTheirOrderWhateverTheirNumbers) {
    const auto add_both = [](cd_handle root, int reader, int writer) {
        return add_file_to_cd(root, reader) == CD_SUCCESS &&
               add_file_to_cd(root, writer) == CD_SUCCESS;
    };
    run([&] {
        const int reader = open("data");
        const int writer = open("data");
        ::lseek(reader, 10, SEEK_SET);
        ::lseek(writer, 20, SEEK_SET);
        return add_both(create(), reader, writer);
    });
    run([&]() -> std::string {
        (void)open("other"); // so that the reader has the number that the writer had
        const int reader = open("data");
        const int writer = open("data");
        cd_handle root = create();
        if (!add_both(root, reader, writer) || restore_cd(root) != CD_SUCCESS) {
            return refusal();
        }
        const std::string wrong = check_position(reader, 10);
        return wrong.empty() ? check_position(writer, 20) : wrong;
    });
}

TEST_F(Positions, OfAChildGiveWayToThoseThatItsParentHasUnderAnotherNumber) {
    run([&] {
        const int file = open("data");
        cd_handle root = create();
        if (add_file_to_cd(root, file) != CD_SUCCESS ||
            add_file_to_cd(child_of(root), file) != CD_SUCCESS) {
            return false;
        }
        return true;
    });
    run([&]() -> std::string {
        (void)open("other");
        const int file = open("data");
        cd_handle root = create();
        if (add_file_to_cd(root, file) != CD_SUCCESS || commit_cd(child_of(root)) != CD_SUCCESS) {
            return refusal();
        }
        const int second = open("data"); // of which nothing is stored
        ::lseek(second, 50, SEEK_SET);
        return restore_cd(root) == CD_SUCCESS && add_file_to_cd(root, second) == CD_SUCCESS
                   ? check_position(second, 50)
                   : refusal();
    });
}

TEST_F(Positions, OfAChildThatCameBackAreTheParentsWhenItEnds) {
    run([&] {
        const int file = open("data");
        ::lseek(file, 10, SEEK_SET);
        cd_handle root = create();
        return advance_cd_point_in_time(root) == CD_SUCCESS &&
               add_file_to_cd(child_of(root), file) == CD_SUCCESS;
    });
    run([&] { return commit_cd(child_of(create())) == CD_SUCCESS; });
    run([&]() -> std::string {
        const int file = open("data");
        cd_handle root = create();
        return add_file_to_cd(root, file) == CD_SUCCESS && restore_cd(root) == CD_SUCCESS
                   ? check_position(file, 10)
                   : refusal();
    });
}

TEST_F(Positions, ThatWaitAreOlderThanThoseThatAChildCommits) {
    run([&] {
        const int file = open("data");
        ::lseek(file, 42, SEEK_SET);
        return add_file_to_cd(create(), file) == CD_SUCCESS;
    });
    run([&]() -> std::string {
        const int file = open("data");
        ::lseek(file, 5, SEEK_SET);
        cd_handle root = create();
        cd_handle child = child_of(root);
        if (add_file_to_cd(child, file) != CD_SUCCESS || commit_cd(child) != CD_SUCCESS) {
            return refusal();
        }
        return restore_cd(root) == CD_SUCCESS ? check_position(file, 42) : refusal();
    });
    run([&]() -> std::string {
        const int file = open("data");
        cd_handle root = create();
        return add_file_to_cd(root, file) == CD_SUCCESS && restore_cd(root) == CD_SUCCESS
                   ? check_position(file, 42)
                   : refusal();
    });
}

TEST_F(Positions, OfFilesThatNobodyAddsAgainAreToldOnceWhenTheCdAdvances) {
    const auto advanced = [&](const std::vector<std::string> &files) -> std::string {
        cd_handle root = create();
        bool done = info_of(root).restarted == 0 || restore_cd(root) == CD_SUCCESS;
        for (const std::string &name : files) {
            const int file = open(name);
            ::lseek(file, 42, SEEK_SET);
            done = done && add_file_to_cd(root, file) == CD_SUCCESS;
        }
        for (int step = 0; step < 2; ++step) {
            done = done && advance_cd_point_in_time(root) == CD_SUCCESS;
        }
        return done ? "" : refusal();
    };
    const auto said = [&](const std::vector<std::string> &files) {
        return said_by([&] { return advanced(files); });
    };
    EXPECT_EQ(said({"data", "other"}), "");
    EXPECT_EQ(said({"data", "other"}), "");
    std::filesystem::copy(path("data"), path("copy"));
    std::filesystem::rename(path("data"), path("old"));
    std::filesystem::rename(path("copy"), path("data"));
    struct stat old = {};
    ASSERT_EQ(::stat(path("old").c_str(), &old), 0);
    EXPECT_EQ(said({"data", "other"}),
              "containment-domains: CD 0/root/0/0 has advanced, and its store " + store() +
                  " holds 1 file positions that no add has taken, the first of inode " +
                  std::to_string(old.st_ino) + " of device " + std::to_string(old.st_dev) +
                  " at position 42; add the same files first, or set positions with lseek\n");
    run([&]() -> std::string {
        const int file = open("old");
        cd_handle root = create();
        return restore_cd(root) == CD_SUCCESS && add_file_to_cd(root, file) == CD_SUCCESS
                   ? check_position(file, 42)
                   : refusal();
    });
}

} // namespace
} // namespace restarting
