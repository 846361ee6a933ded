// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "objects/moved_types.h"

#include <algorithm>
#include <mutex>
#include <vector>

namespace cd::logger {
namespace {

struct Moved {
    uint64_t number;
    MPI_Datatype made;
    MPI_Datatype recorded; // MPI_DATATYPE_NULL once MPI has freed it
};

std::mutex mutex;
uint64_t numbers = 0;

// Never destroyed: MPI may be used while the process ends.
std::vector<Moved> &all() {
    static auto &types = *new std::vector<Moved>;
    return types;
}

// Returns nullptr if there is none. The caller holds the mutex.
template <typename T> Moved *find(T Moved::*field, T value) {
    const auto found = std::ranges::find(all(), value, field);
    return found != all().end() ? &*found : nullptr;
}

} // namespace

MPI_Datatype MovedTypes::look_up(MPI_Datatype type) {
    const std::scoped_lock lock(mutex);
    const Moved *const moved = find(&Moved::made, type);
    return moved != nullptr ? moved->recorded : type;
}

uint64_t MovedTypes::number_of(MPI_Datatype type) {
    if (!any()) {
        return 0;
    }
    const std::scoped_lock lock(mutex);
    const Moved *const moved = find(&Moved::made, type);
    return moved != nullptr ? moved->number : 0;
}

uint64_t MovedTypes::add(MPI_Datatype made, MPI_Datatype recorded) {
    const std::scoped_lock lock(mutex);
    all().push_back({++numbers, made, recorded});
    count_ = all().size();
    return numbers;
}

MovedTypes::Pair MovedTypes::take(uint64_t number) {
    const std::scoped_lock lock(mutex);
    Moved *const moved = find(&Moved::number, number);
    if (moved == nullptr) {
        return {};
    }
    const Pair pair = {moved->made, moved->recorded};
    all().erase(all().begin() + (moved - all().data()));
    count_ = all().size();
    return pair;
}

uint64_t MovedTypes::recorded_is_freed(MPI_Datatype recorded) {
    if (!any()) {
        return 0;
    }
    const std::scoped_lock lock(mutex);
    Moved *const moved = find(&Moved::recorded, recorded);
    if (moved == nullptr) {
        return 0;
    }
    moved->recorded = MPI_DATATYPE_NULL;
    return moved->number;
}

} // namespace cd::logger
