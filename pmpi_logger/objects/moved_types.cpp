// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "objects/moved_types.h"

#include "call/handle_word.h"

#include <mutex>
#include <unordered_map>

namespace cd::logger {
namespace {

struct Moved {
    uint64_t number;
    MPI_Datatype recorded;
};

std::mutex mutex;
uint64_t numbers = 0;

struct Types {
    std::unordered_map<uint64_t, Moved> of_handles;      // that were made
    std::unordered_map<uint64_t, MPI_Datatype> made;     // of numbers
    std::unordered_map<uint64_t, MPI_Datatype> made_for; // of handles that stand in a log
};

// Never destroyed: MPI may be used while the process ends.
Types &all() {
    static auto &types = *new Types;
    return types;
}

// The caller holds the mutex.
Moved *find(MPI_Datatype made) {
    const auto found = all().of_handles.find(word_of(made));
    return found != all().of_handles.end() ? &found->second : nullptr;
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
    all().of_handles.insert_or_assign(word_of(made), Moved{++numbers, recorded});
    all().made.emplace(numbers, made);
    all().made_for.insert_or_assign(word_of(recorded), made);
    count_ = all().of_handles.size();
    return numbers;
}

MovedTypes::Pair MovedTypes::take(uint64_t number) {
    const std::scoped_lock lock(mutex);
    const auto found = all().made.find(number);
    if (found == all().made.end()) {
        return {};
    }
    const MPI_Datatype made = found->second;
    const MPI_Datatype recorded = find(made)->recorded;
    all().made.erase(found);
    all().made_for.erase(word_of(recorded));
    all().of_handles.erase(word_of(made));
    count_ = all().of_handles.size();
    return {made, recorded};
}

uint64_t MovedTypes::recorded_goes(MPI_Datatype recorded) {
    if (none()) {
        return 0;
    }
    const std::scoped_lock lock(mutex);
    const auto found = all().made_for.find(word_of(recorded));
    if (found == all().made_for.end()) {
        return 0;
    }
    Moved &moved = *find(found->second);
    moved.recorded = MPI_DATATYPE_NULL;
    all().made_for.erase(found);
    return moved.number;
}

} // namespace cd::logger
