// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// What of points in time is on the disks when something else depends on it, and in which order they
// go: a machine may go down at any moment.
#include "protected.h"

#include <fcntl.h>

#include <atomic>
#include <map>
#include <mutex>
#include <set>

namespace cd::checkpoint {
namespace {

namespace fs = std::filesystem;

// Knows what a crash of all machines would take, and notes where that is too much.
class UnforcedSystem : public DyingSystem {
public:
    int make_directory_at(int directory, const char *name, mode_t mode) override {
        const int result = DyingSystem::make_directory_at(directory, name, mode);
        if (result == 0) {
            note([&] { add_name(path_of(directory, name)); });
        }
        return result;
    }
    ssize_t write_at(int fd, const void *from, size_t length, off_t offset) override {
        note([&] { data_.insert(path_of(fd)); });
        return DyingSystem::write_at(fd, from, length, offset);
    }
    int rename_at(int directory, const char *from, const char *to) override {
        note([&] {
            const fs::path path = path_of(directory, to);
            if (data_.contains(path_of(directory, from))) {
                faults_.insert(path.filename().string() + " gets its name before its data");
            }
            if (path.extension() == ".agreed" && fs::path(from).extension() == ".stored") {
                check_that_it_may_count(path.parent_path());
            }
            add_name(path);
            root_committed_ |= number_of_commit_marker(path.filename().string()).has_value();
        });
        return DyingSystem::rename_at(directory, from, to);
    }
    int unlink_at(int directory, const char *name) override {
        note([&] {
            const fs::path path = path_of(directory, name);
            data_.erase(path);
            if (path.extension() == ".agreed") {
                check_that_it_may_go(path.parent_path().filename());
            } else if (is_attempt(path.parent_path()) && rank_of_file(path.filename().string()) &&
                       says_that_it_counts(path.parent_path())) {
                faults_.insert("files go while a record says that it counts");
            }
        });
        return DyingSystem::unlink_at(directory, name);
    }
    int sync_all(int fd) override {
        note([&] {
            data_.erase(path_of(fd));
            names_.erase(path_of(fd));
        });
        return DyingSystem::sync_all(fd);
    }

    // When nobody is at anything.
    void check_that_names_are_forced() {
        note([&] {
            for (const auto &[directory, names] : names_) {
                if (is_attempt(directory) || std::ranges::any_of(names, is_attempt)) {
                    faults_.insert("a start from names that are not forced");
                }
            }
        });
    }
    std::set<std::string> faults() const { return faults_; }

private:
    template <typename Action> void note(const Action &action) {
        const std::scoped_lock lock(mutex_);
        action();
    }

    static fs::path path_of(int fd) {
        return fs::read_symlink("/proc/self/fd/" + std::to_string(fd));
    }
    static fs::path path_of(int directory, const char *name) {
        return directory == AT_FDCWD ? fs::path(name) : path_of(directory) / name;
    }
    static bool is_attempt(const fs::path &path) {
        return id_of_directory(path.filename().string()).has_value();
    }

    void add_name(const fs::path &path) { names_[path.parent_path()].insert(path.filename()); }

    // Whether a name in an attempt, or its own, is not forced on some node.
    bool is_unforced(const fs::path &attempt, const std::set<fs::path> &but_in) const {
        return std::ranges::any_of(names_, [&](const auto &each) {
            const auto &[directory, names] = each;
            return (directory.filename() == attempt && !but_in.contains(directory)) ||
                   names.contains(attempt);
        });
    }
    // When the first rank writes down that it counts all have stored theirs.
    void check_that_it_may_count(const fs::path &directory) {
        if (is_unforced(directory.filename(), written_down_)) {
            faults_.insert("it counts before names are forced");
        }
        written_down_.insert(directory);
    }
    void check_that_it_may_go(const fs::path &attempt) {
        if (!root_committed_ && !is_followed_by_one_that_counts(attempt)) {
            faults_.insert("the last one that counts goes");
        }
        for (const fs::path &directory : written_down_) {
            if (directory.filename() != attempt && is_unforced(directory.filename(), {})) {
                faults_.insert("one goes before it is forced that another one counts");
            }
        }
        for (const auto &[directory, names] : names_) {
            if (std::ranges::any_of(names, [](const fs::path &name) {
                    return number_of_commit_marker(name.string()).has_value();
                })) {
                faults_.insert("one goes before it is forced that it does not count");
            }
        }
    }

    // Whether one of its level counts that is newer, or it has gone already. One that has gone has
    // another name in /proc.
    bool is_followed_by_one_that_counts(const fs::path &attempt) const {
        const auto own = id_of_directory(attempt.string());
        return !own || std::ranges::any_of(written_down_, [&](const fs::path &directory) {
            const auto other = id_of_directory(directory.filename().string());
            return other && other->level == own->level && other->number > own->number;
        });
    }
    static bool says_that_it_counts(const fs::path &attempt) {
        return std::ranges::any_of(fs::directory_iterator(attempt), [](const auto &each) {
            return each.path().extension() == ".agreed";
        });
    }

    std::mutex mutex_;
    std::set<fs::path> data_;                      // of files, not forced
    std::map<fs::path, std::set<fs::path>> names_; // in directories, the same
    std::set<fs::path> written_down_;              // attempts in which a rank has that it counts
    bool root_committed_ = false;
    std::set<std::string> faults_;
};

class ForcingPoints : public testing::Test {
protected:
    UnforcedSystem system;
    Cluster cluster{four_nodes};

    // When a root has been opened all that it goes on from is on the disks.
    Cluster::Run run(const std::vector<uint64_t> &epochs, bool commit = false) {
        Cluster::Opening opening;
        std::atomic<int> opened = 0;
        opening.after = [&](int) {
            if (++opened == static_cast<int>(cluster.nodes.size())) {
                system.check_that_names_are_forced();
            }
        };
        return cluster.run_steps(
            [&](Cluster::Rank &self) {
                for (const uint64_t epoch : epochs) {
                    if (Status status = self.protect(epoch); !status) {
                        return status;
                    }
                }
                Status status = self.checkpointer().wait();
                return status && commit ? self.checkpointer().commit_root(Status::ok()) : status;
            },
            opening);
    }
    void expect_no_faults() const { EXPECT_EQ(system.faults(), std::set<std::string>{}); }
};

TEST_F(ForcingPoints, OfAPointInTimeComesBeforeItCountsAndThatBeforeTheOneBeforeGoes) {
    EXPECT_EQ(run({1, 2, 3}).outcome().text, "");
    expect_no_faults();
}

TEST_F(ForcingPoints, OfCopiesComesBeforeTheyCount) {
    cluster.flush = cluster.directory("parallel").string();
    EXPECT_EQ(run({1, 2, 3, 4, 5}).outcome().text, "");
    expect_no_faults();
}

TEST_F(ForcingPoints, OfWhatIsMovedAndRebuiltComesBeforeTheStartFromIt) {
    run({1});
    cluster.lose("n2");
    cluster.nodes = {"n1", "n0", "spare", "n3"};
    EXPECT_EQ(run({}).start(), 1U);
    EXPECT_EQ(run({2}).start(), 1U);
    expect_no_faults();
}

TEST_F(ForcingPoints, OfWhatSaysThatTheRootIsForgottenComesBeforeItsPointsInTimeGo) {
    EXPECT_EQ(run({1, 2}, true).outcome().text, "");
    expect_no_faults();
}

} // namespace
} // namespace cd::checkpoint
