// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "objects/lifetimes.h"

#include "cd/mpi_log.h"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>

namespace cd::logger {

// What a re-execution that has ended requests had of them otherwise than the log: their handles,
// or where their data arrive. A CD that began between start and end may be restored, and the
// program has it like that there. By the numbers of the requests' starts. Thread-safe.
template <typename What> class HadOtherwise {
public:
    // By the entry that was read last, which has the end. start: where that of the request is.
    // is_other: than what the log has. Nothing is kept where no restore could replay the end
    // without the start.
    void note(uint64_t id, const cd_log_place &start, const What &what, bool is_other) {
        if (id == 0 || (!is_other && how_many_ == 0)) {
            return;
        }
        if (change(id, what) || !is_other) {
            return;
        }
        const std::optional<cd_log_place> end = last_entry();
        if (!end || cd_log_parts(&start, &*end) == 0) {
            return;
        }
        {
            const std::scoped_lock lock(mutex_);
            of_starts_.emplace(id, what);
            how_many_ = of_starts_.size();
        }
        when_forgotten(*end, [this, id] { forget(id); });
    }

    std::optional<What> of(uint64_t id) {
        if (id == 0 || how_many_ == 0) {
            return std::nullopt;
        }
        const std::scoped_lock lock(mutex_);
        const auto found = of_starts_.find(id);
        return found != of_starts_.end() ? std::optional(found->second) : std::nullopt;
    }

private:
    // Of a start that is there already, also to what the log has: it may be otherwise once more.
    bool change(uint64_t id, const What &what) {
        const std::scoped_lock lock(mutex_);
        const auto known = of_starts_.find(id);
        if (known == of_starts_.end()) {
            return false;
        }
        known->second = what;
        return true;
    }

    void forget(uint64_t id) {
        const std::scoped_lock lock(mutex_);
        of_starts_.erase(id);
        how_many_ = of_starts_.size();
    }

    std::mutex mutex_;
    std::unordered_map<uint64_t, What> of_starts_;
    std::atomic<size_t> how_many_ = 0;
};

} // namespace cd::logger
