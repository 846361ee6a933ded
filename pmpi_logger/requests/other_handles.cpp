// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "requests/other_handles.h"

#include "lifetimes/lifetimes.h"

#include <atomic>
#include <mutex>
#include <unordered_map>

namespace cd::logger {
namespace {

struct All {
    std::mutex mutex;
    std::unordered_map<uint64_t, MPI_Request> of_starts;
};
std::atomic<size_t> how_many = 0;

// Never destroyed: MPI may be used while the process ends.
All &all() {
    static auto &noted = *new All;
    return noted;
}

void forget(uint64_t id) {
    const std::scoped_lock lock(all().mutex);
    all().of_starts.erase(id);
    how_many = all().of_starts.size();
}

} // namespace

void OtherHandles::note(uint64_t id, const cd_log_place &start, MPI_Request handle, bool is_other) {
    if (!is_other) {
        if (how_many > 0) {
            forget(id);
        }
        return;
    }
    const std::optional<cd_log_place> end = last_entry();
    if (!end || cd_log_parts(&start, &*end) == 0) {
        return;
    }
    bool is_new = false;
    {
        const std::scoped_lock lock(all().mutex);
        is_new = all().of_starts.insert_or_assign(id, handle).second;
        how_many = all().of_starts.size();
    }
    if (is_new) {
        when_forgotten(*end, [id] { forget(id); });
    }
}

std::optional<MPI_Request> OtherHandles::of(uint64_t id) {
    if (id == 0 || how_many == 0) {
        return std::nullopt;
    }
    const std::scoped_lock lock(all().mutex);
    const auto found = all().of_starts.find(id);
    return found != all().of_starts.end() ? std::optional(found->second) : std::nullopt;
}

} // namespace cd::logger
