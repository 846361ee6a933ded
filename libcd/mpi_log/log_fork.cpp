// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// What a fork needs of logs: that nothing is under way in them.
#include "mpi_log/log_stream.h"
#include "mpi_log/log_view.h"
#include "mpi_log/spill.h"

#include <utility>

namespace cd {

bool LogStream::try_to_pause() noexcept {
    bool complete = pause_alone();
    for_each_nested(0, [&complete](Sibling, LogStream &nested) {
        complete = complete && nested.pause_alone();
    });
    return complete;
}

bool LogStream::pause_alone() noexcept {
    paused_ = lock_.try_lock();
    return paused_;
}

void LogStream::resume() noexcept {
    resume_alone();
    for_each_nested(0, [](Sibling, LogStream &nested) { nested.resume_alone(); });
}

void LogStream::resume_alone() noexcept {
    if (std::exchange(paused_, false)) {
        lock_.unlock();
    }
}

void LogStream::keep_for_this_thread() noexcept {
    lock_.keep_for_this_thread();
    for_each_nested(0, [](Sibling, LogStream &nested) { nested.lock_.keep_for_this_thread(); });
}

bool LogView::try_to_pause() noexcept { return spill_ == nullptr || spill_->try_to_pause(); }

bool LogView::try_to_pause_writers() noexcept {
    return owned_ == nullptr || owned_->try_to_pause();
}

void LogView::resume_writers() noexcept {
    if (owned_ != nullptr) {
        owned_->resume();
    }
}

void LogView::resume() noexcept {
    if (spill_ != nullptr) {
        spill_->resume();
    }
}

void LogView::part_from_copy() noexcept {
    if (spill_ != nullptr) {
        spill_->part_from_copy();
    }
}

void LogView::keep_for_this_thread() noexcept {
    if (owned_ != nullptr) {
        owned_->keep_for_this_thread();
    }
    if (spill_ != nullptr) {
        spill_->forget_other_threads();
    }
}

} // namespace cd
