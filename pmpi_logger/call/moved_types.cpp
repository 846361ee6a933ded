// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "call/moved_types.h"

#include <algorithm>
#include <mutex>
#include <vector>

namespace cd::logger {
namespace {

struct Moved {
    uint64_t number;
    MPI_Datatype made;
    MPI_Datatype recorded;
};

std::mutex mutex;
uint64_t numbers = 0;

// Never destroyed: MPI may be used while the process ends.
std::vector<Moved> &all() {
    static auto &types = *new std::vector<Moved>;
    return types;
}

// The caller holds the mutex.
const Moved *find(MPI_Datatype made) {
    const auto found = std::ranges::find(all(), made, &Moved::made);
    return found != all().end() ? &*found : nullptr;
}

} // namespace

MPI_Datatype MovedTypes::look_up(MPI_Datatype type) {
    const std::scoped_lock lock(mutex);
    const Moved *const moved = find(type);
    return moved != nullptr ? moved->recorded : type;
}

uint64_t MovedTypes::number_of(MPI_Datatype type) {
    if (none()) {
        return 0;
    }
    const std::scoped_lock lock(mutex);
    const Moved *const moved = find(type);
    return moved != nullptr ? moved->number : 0;
}

uint64_t MovedTypes::add(MPI_Datatype made, MPI_Datatype recorded) {
    const std::scoped_lock lock(mutex);
    all().push_back({++numbers, made, recorded});
    count_ = all().size();
    return numbers;
}

MPI_Datatype MovedTypes::take(uint64_t number) {
    const std::scoped_lock lock(mutex);
    const auto found = std::ranges::find(all(), number, &Moved::number);
    if (found == all().end()) {
        return MPI_DATATYPE_NULL;
    }
    const MPI_Datatype made = found->made;
    all().erase(found);
    count_ = all().size();
    return made;
}

} // namespace cd::logger
