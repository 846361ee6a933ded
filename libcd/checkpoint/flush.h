// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/saved_status.h"
#include "checkpoint/dir_lock.h"
#include "checkpoint/job.h"
#include "checkpoint/redundancy_sets.h"

#include <atomic>
#include <string>
#include <thread>

namespace cd::checkpoint {

// Copies checkpoints to a directory that all nodes see, for when too much is lost on the nodes. A
// thread of each rank copies. When all have finished, the copy is committed and the older one goes.
class Flush {
public:
    Flush(Job &job, const OpenStore &store, uint64_t interval, bool sync)
        : job_(job), store_(store), interval_(interval), sync_(sync) {}
    Flush(const Flush &) = delete;
    Flush &operator=(const Flush &) = delete;
    ~Flush();

    bool is_due(uint64_t epoch) const { return epoch % interval_ == 0; }

    // Starts to copy this rank's image, which may be removed meanwhile. No copy may be under way.
    // set: protects the checkpoint. Failures, and copies that differ, are found by finish().
    void begin(const CheckpointId &id, const CheckpointDir &folder,
               const redset::Set &set) noexcept;

    bool under_way() const { return begun_; }
    bool copied() const { return copied_; } // this rank has finished its part

    // Collective. Waits until all ranks have copied, and commits the copy. Prints a failure; the
    // checkpoint itself stays protected.
    void finish() noexcept;

private:
    Status begin_to_copy(const redset::Place &place, const redset::Set &set);
    Status copy(const File &image, uint64_t size) const;
    Status store(const File &image, uint64_t size, uint32_t checksum) const;
    redset::Set set_of_this_rank() const;
    Status remove_uncommitted(bool all_copied) const;

    Job &job_;
    const OpenStore &store_;
    const uint64_t interval_;
    const bool sync_;
    CheckpointId id_;
    bool begun_ = false;
    std::thread thread_;
    std::atomic<bool> copied_ = false;
    SavedStatus outcome_; // of the thread
};

} // namespace cd::checkpoint
