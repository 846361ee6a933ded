// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "../replaced_system.h"
#include "checkpoint/job.h"
#include "redset/thread_exchange.h"

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace cd::checkpoint {

// A program whose ranks, or those of them that have the root, are threads of this process, on nodes
// of the names given. It can die.
class LocalProgram {
public:
    // ranks: 0, 1 and so on unless given.
    LocalProgram(std::vector<std::string> nodes, std::vector<int> ranks);

    using Body = std::function<Status(std::unique_ptr<Job> job)>;

    struct Outcome {
        cd_error code = CD_ERROR_NONE;
        std::string text;
        bool operator==(const Outcome &) const = default;
    };

    // Each rank does body. Gives the outcomes in the order of ranks.
    std::vector<Outcome> run(const Body &body);

    // From now on no rank gets anything across.
    void die() { dead_ = true; }
    bool dead() const { return dead_; }

    // Those who meet for the same reason, which are so many.
    std::shared_ptr<redset::Meeting> meeting(int serial, int color, int members);
    const std::vector<std::string> &nodes() const { return nodes_; }
    const std::vector<int> &ranks() const { return ranks_; }

    std::vector<Elsewhere> elsewhere; // what others would see

private:
    std::vector<std::string> nodes_;
    std::vector<int> ranks_;
    std::atomic<bool> dead_ = false;
    std::mutex mutex_;
    std::map<std::pair<int, int>, std::shared_ptr<redset::Meeting>> meetings_;
};

// A rank's own thread has depth 0, those that it makes 1, those that these make 2.
struct ThreadOfRank {
    int rank = -1;
    int depth = 0;
    bool operator==(const ThreadOfRank &) const = default;
};

// Lets a program die before the nth call of some thread of it that changes a file, and nobody
// changes anything from then on.
class DyingSystem : public ReplacedSystem {
public:
    DyingSystem() = default; // nobody dies
    DyingSystem(ThreadOfRank victim, int calls) : victim_(victim), calls_(calls) {}

    // The calling thread is the rank's own.
    static void enter(int rank);
    static int rank_of_this_thread(); // also of one that helps it; -1: no rank's

    int open_at(int directory, const char *name, int flags, mode_t mode) override;
    int set_owner(int fd, uid_t owner, gid_t group) override;
    int set_mode(int fd, mode_t mode) override;
    int set_times(int fd, timespec accessed, timespec modified) override;
    int make_directory_at(int directory, const char *name, mode_t mode) override;
    int rename_at(int directory, const char *from, const char *to) override;
    int unlink_at(int directory, const char *name) override;
    int remove_directory_at(int directory, const char *name) override;
    ssize_t write_at(int fd, const void *from, size_t length, off_t offset) override;
    int sync_data(int) override { return alive() ? 0 : -1; } // a dying program has a live kernel
    int sync_all(int) override { return alive() ? 0 : -1; }
    void warn(const char *line) override;
    std::vector<std::string> told() const; // to people, since it lives

protected:
    virtual bool alive();

private:
    const ThreadOfRank victim_{};
    std::atomic<int> calls_ = 0; // that are left
    mutable std::mutex mutex_;
    std::vector<std::string> told_;
};

// Lets one call fail instead, where there is no room, and nobody dies.
class FailingSystem : public DyingSystem {
public:
    // The nth call of the calling thread from now on; 0: none.
    static void fail_call(int nth);
    static bool happened(); // in the calling thread

protected:
    bool alive() override;
};

} // namespace cd::checkpoint
