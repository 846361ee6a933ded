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
    sync, // protect() returns when the point in time counts
    async // it returns at once, and the next one waits for it
};

// The points in time of one root, protected. All calls but protected_epoch() are made by all ranks
// of the job, one after the other, and give all of them the same outcome: what a rank fails at
// between two meetings, also for lack of memory, it tells the others at the next.
class Checkpointer {
public:
    static Status open(std::unique_ptr<Job> job, const Request &request, Mode mode,
                       std::unique_ptr<Checkpointer> &checkpointer);
    Checkpointer(const Checkpointer &) = delete;
    Checkpointer &operator=(const Checkpointer &) = delete;
    ~Checkpointer();

    const std::string &root() const { return opened_.root; }

    // What all ranks start from, or nothing.
    const std::optional<Start> &start() const { return opened_.start; }
    std::string image_of_start() const;

    // own: whether this rank can advance to that epoch. All get the same outcome, before anything
    // changes anywhere; where they cannot meet at all, each its own. An advance that is begun by
    // some while others commit, or advance to another epoch, is none.
    Status may_advance(uint64_t epoch, Status own) noexcept;

    // After may_advance(). The point is released when it is written, also where that fails; with
    // Mode::async by the helper thread, after the call. Where write_image is NULL this rank has
    // none, and all ranks fail. One rank tells people of a failure when it happens. With
    // Mode::async that of the one before is the outcome here; this one is taken all the same.
    Status protect(const cd_offered_point &point);

    uint64_t protected_epoch() const { return protected_epoch_; }

    // own: whether this rank can do what the others wait for. All get the same outcome.
    Status agree_on(Status own) { return agree(*job_, own); }

    // The same of what this rank does first, to start from there; people are told what they have to
    // know of it where all do.
    Status begin(Status own);

    // What was protected does not count any more, on any rank, and goes. own: whether that may be,
    // as far as this rank is concerned. All get the same outcome; after a failure nothing has
    // changed.
    Status forget(Status own) noexcept;

    // Until nothing is under way any more. Gives the outcome of that, once.
    Status wait();

    // Before MPI_Finalize, by all ranks; later calls do nothing. Waits until nothing is under way.
    // A rank that advances or commits the root instead fails, then and from then on.
    void leave() noexcept;

private:
    // Where this rank's image is, and its name there.
    struct Written {
        redset::Place place;
        std::vector<std::string> names;
    };

    Checkpointer(std::unique_ptr<Job> job, Opened opened, std::unique_ptr<Flush> flush, bool sync,
                 Mode mode) noexcept;
    SavedStatus earlier();
    void join() noexcept;
    Status hand_over(const CheckpointId &point);
    Status check_step(uint64_t epoch, const std::vector<redset::Bytes> &all) noexcept;
    Status write_image(const CheckpointId &point, Written &written) const;
    void release() noexcept;
    Status complete(const CheckpointId &point) noexcept;
    Status count(const CheckpointId &point) noexcept;
    void warn_that_it_is_not_protected(uint64_t epoch) const noexcept;
    Status store(const CheckpointId &point) noexcept;
    Status remove_older(const CheckpointId &point) const;
    const OpenLevel &level_with(int index) const;
    const CheckpointDir &folder_of(const CheckpointId &point) const;
    Status agree_on_stored(Status stored, bool &flushed) noexcept;
    Status encode(const CheckpointId &point, const Written &written) noexcept;
    Status write_commit_marker();
    Status remove_commit_marker();
    void remove_what_is_buried();

    std::unique_ptr<Job> job_;
    Opened opened_;
    const bool sync_; // to the disk
    const Mode mode_;
    std::atomic<uint64_t> protected_epoch_ = 0;
    std::unique_ptr<Flush> flush_;            // if there is one
    std::optional<cd_offered_point> offered_; // and not released
    SavedStatus missed_;                      // why there is none
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
