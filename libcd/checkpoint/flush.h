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

// Copies of protected points in time in a directory that all nodes see, for when too much is lost
// everywhere else. A thread copies, and meets nobody; when all ranks' have, the copy counts, and
// the one before goes.
class Flush {
public:
    Flush(Job &job, const OpenStore &store, uint64_t interval, bool sync)
        : job_(job), store_(store), interval_(interval), sync_(sync) {}
    Flush(const Flush &) = delete;
    Flush &operator=(const Flush &) = delete;
    ~Flush();

    bool is_due(uint64_t epoch) const { return epoch % interval_ == 0; }

    // Begins to copy this rank's image, which may lose its name meanwhile. Nothing is under way.
    // set: that protects it. That it fails is found when it is finished; so is that the copy is not
    // what was protected.
    void begin(const CheckpointId &point, const CheckpointDir &folder,
               const redset::Set &set) noexcept;

    bool under_way() const { return begun_; }
    bool copied() const { return copied_; } // what is under way, in this rank

    // Waits until all ranks have copied; all call it. That it failed is told to people: the point
    // in time is protected all the same.
    void finish() noexcept;

private:
    Status begin_to_copy(const redset::Place &place, const redset::Set &set);
    Status copy(const File &image, uint64_t size) const;
    Status store(const File &image, uint64_t size, uint32_t checksum) const;
    redset::Set set_of_this_rank() const;
    Status remove_what_does_not_count(bool all_copied) const;

    Job &job_;
    const OpenStore &store_;
    const uint64_t interval_;
    const bool sync_;
    CheckpointId point_;
    bool begun_ = false;
    std::thread thread_;
    std::atomic<bool> copied_ = false;
    SavedStatus outcome_; // of the thread
};

} // namespace cd::checkpoint
