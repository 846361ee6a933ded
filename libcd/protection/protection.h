// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "protection/flush.h"
#include "protection/opening.h"

#include "cd/protection.h"

#include <atomic>
#include <thread>

namespace cd::protection {

enum class Mode : uint8_t {
    sync, // protect() returns when the point in time counts
    async // it returns after the local write, and the next one waits for it
};

// The points in time of one root, protected. All calls but protected_epoch() are made by all ranks
// of the job, one after the other.
class Protection {
public:
    // May throw std::bad_alloc, as the other calls may.
    static Status open(std::unique_ptr<Job> job, const Request &request, Mode mode,
                       std::unique_ptr<Protection> &protection);
    Protection(const Protection &) = delete;
    Protection &operator=(const Protection &) = delete;
    ~Protection();

    // What all ranks start from, or nothing.
    const std::optional<Start> &start() const { return opened_.start; }
    std::string image_of_start() const;

    // The point is released when it is written, also where that fails. nullptr: this rank has none,
    // and all ranks fail. With Mode::async a failure of the one before is told here; this one is
    // taken all the same.
    Status protect(const cd_offered_point *point);

    uint64_t protected_epoch() const { return protected_epoch_; }

    // What was protected does not count any more, on any rank, and goes.
    Status forget();

    // Until nothing is under way any more. Gives the outcome of that, once.
    Status wait();

private:
    struct Outcome {
        Status status;
        std::string text;
        Status again() const; // in the calling thread
    };

    Protection(std::unique_ptr<Job> job, Opened opened, const Request &request, Mode mode);
    Outcome earlier();
    Status hand_over(const Point &point, Status written);
    Status write_image(const Point &point, const cd_offered_point *offered);
    Status complete(const Point &point, Status written);
    Status store(const Point &point, Status written);
    void remove_older(const Point &point) const;
    const OpenLevel &level_of(uint64_t epoch) const;
    const OpenLevel &level_with(int index) const;
    const Folder &folder_of(const Point &point) const;
    Status check_epochs(const Point &point, Status written, bool &flushed);
    Status encode(const Point &point);

    std::unique_ptr<Job> job_;
    Opened opened_;
    const bool sync_; // to the disk
    const Mode mode_;
    std::atomic<uint64_t> protected_epoch_ = 0;
    std::unique_ptr<Flush> flush_; // if there is one
    std::thread helper_;
    Outcome outcome_; // the helper's
};

} // namespace cd::protection
