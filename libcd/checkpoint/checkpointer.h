// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "checkpoint/flush.h"
#include "checkpoint/restart.h"

#include "cd/protection.h"

#include <atomic>
#include <map>
#include <mutex>
#include <thread>

namespace cd::checkpoint {

enum class Mode : uint8_t {
    sync, // protect() returns when the checkpoint is committed
    async // protect() returns at once, and the next one waits for it
};

// Takes checkpoints of one root, from its opening to its commit. All calls but protected_epoch()
// are collective and give all ranks the same outcome. A rank that fails between two meetings, also
// for lack of memory, reports it at the next.
class Checkpointer {
public:
    static Status open(std::unique_ptr<Job> job, const Request &request, Mode mode,
                       std::unique_ptr<Checkpointer> &checkpointer);
    Checkpointer(const Checkpointer &) = delete;
    Checkpointer &operator=(const Checkpointer &) = delete;
    ~Checkpointer();

    const std::string &root() const { return opened_.root; }

    // The checkpoint that all ranks start from, or nothing.
    const std::optional<Start> &start() const { return opened_.start; }
    std::string image_of_start() const;

    // own: whether this rank can advance to that epoch. Fails where ranks do different steps.
    // Nothing has changed yet. Where ranks cannot meet at all, each gets its own.
    Status may_advance(uint64_t epoch, Status own) noexcept;

    // After may_advance(). Releases the point when it is written, or that has failed; with
    // Mode::async from the helper thread. Fails on all ranks where write_image is NULL on one. One
    // rank prints a failure when it happens. With Mode::async it is the outcome of the next call.
    Status protect(const cd_offered_point &offered);

    uint64_t protected_epoch() const { return protected_epoch_; }

    // `own` is this rank's status; all ranks return the first failure.
    Status agree_on(Status own) { return agree(*job_, own); }

    // Ends the root: its checkpoints are no longer valid, and are removed. own: whether this rank
    // can commit it. After a failure nothing has changed.
    Status commit_root(Status own) noexcept;

    // Waits until nothing is under way. Gives the outcome of the last protect(), once.
    Status wait();

    // Before MPI_Finalize, by all ranks; later calls do nothing. Waits until nothing is under way.
    // A rank that advances or commits the root instead fails, then and from then on.
    void leave() noexcept;

private:
    Checkpointer(std::unique_ptr<Job> job, OpenRoot opened, std::unique_ptr<Flush> flush, bool sync,
                 Mode mode) noexcept;
    SavedStatus take_outcome();
    void join() noexcept;
    Status complete_in_thread(const CheckpointId &id);
    Status check_step(uint64_t epoch, const std::vector<redset::Bytes> &all) noexcept;
    Status write_image(const CheckpointId &id, const std::string &path) const;
    void release() noexcept;
    Status complete(const CheckpointId &id) noexcept;
    Status commit_checkpoint(const CheckpointId &id) noexcept;
    void warn_of_unprotected(uint64_t epoch) const noexcept;
    Status store(const CheckpointId &id) noexcept;
    Status remove_older(const CheckpointId &id) const;
    const OpenLevel &level_with(int index) const;
    const CheckpointDir &folder_of(const CheckpointId &id) const;
    Status write_commit_marker();
    void remove_commit_marker();
    void remove_ended();

    std::unique_ptr<Job> job_;
    OpenRoot opened_;
    const bool sync_; // to the disk
    const Mode mode_;
    std::atomic<uint64_t> protected_epoch_ = 0;
    std::unique_ptr<Flush> flush_;            // if there is one
    std::optional<cd_offered_point> offered_; // and not released
    SavedStatus advance_failure_;             // why nothing was offered
    std::thread helper_;
    SavedStatus outcome_; // the helper's
    SavedStatus left_;    // a rank has come to MPI_Finalize
    bool leaves_ = false; // this rank has
};

// The checkpointers of a process, by root. Threads may add them in another order on each rank; all
// ranks leave them in the order of names. Thread-safe.
class Checkpointers {
public:
    void add(Checkpointer &checkpointer); // may throw std::bad_alloc
    void remove(const Checkpointer &checkpointer) noexcept;
    void leave() noexcept;

private:
    std::mutex mutex_;
    std::map<std::string, Checkpointer *> by_root_;
};

} // namespace cd::checkpoint
