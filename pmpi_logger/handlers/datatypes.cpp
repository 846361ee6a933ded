// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "handlers/datatypes.h"

#include "handlers/free_objects.h"
#include "log_entry/writer.h"
#include "objects/callback_effects.h"
#include "objects/deferred_free.h"
#include "payload/datatype_layout.h"
#include "replay/match.h"

#include <algorithm>
#include <cstddef>

namespace cd::logger {

void TypeCreate::record(const Call &call, int result, uint64_t where) {
    EntryWriter writer(call, result);
    writer.add_outputs(call);
    writer.add(where);
    writer.write();
}

int TypeCreate::replay(const Call &call, uint64_t where) {
    const ReentryGuard inside;
    int result = MPI_SUCCESS;
    std::optional<EntryReader> entry = next_entry(call, result);
    if (!entry) {
        return result;
    }
    entry->take_outputs(call);
    if (entry->result() != MPI_SUCCESS) {
        return raise(call, entry->result());
    }
    return entry->take<uint64_t>() != where || MovedTypes::any() ? make_anew : MPI_SUCCESS;
}

void TypeCreate::stands_for(MPI_Datatype made, MPI_Datatype recorded) {
    const uint64_t number = MovedTypes::add(made, recorded);
    if (const std::optional<cd_log_place> place = last_entry()) {
        when_restored(*place, [number] { ObjectFree::free_moved_type(number); });
    }
}

void TypeContents::record(const Call &call, MPI_Datatype type, int result,
                          const MPI_Datatype *parts) {
    const size_t count = result == MPI_SUCCESS ? count_parts(type) : 0;
    EntryWriter writer(call, result);
    writer.add(uint64_t{count});
    writer.add(parts, count * sizeof *parts);
    writer.write();
}

int TypeContents::replay(const Call &call, Parts &recorded) {
    const ReentryGuard inside;
    int result = MPI_SUCCESS;
    std::optional<EntryReader> entry = next_entry(call, result);
    if (!entry) {
        return result;
    }
    if (entry->result() != MPI_SUCCESS) {
        return raise_logged(MPI_COMM_NULL, entry->result());
    }
    recorded.resize(entry->take<uint64_t>());
    const size_t size = recorded.size() * sizeof recorded[0];
    std::copy_n(entry->take(size), size, reinterpret_cast<std::byte *>(recorded.data()));
    return MPI_SUCCESS;
}

// Returns the logged parts. The program got a reference to each, and frees it once; parts of a type
// that was made again may be new, too.
void TypeContents::give_recorded(MPI_Datatype type, MPI_Datatype *parts, const Parts &recorded) {
    const bool is_moved = MovedTypes::number_of(type) != 0;
    for (size_t i = 0; i < recorded.size(); ++i) {
        MPI_Datatype part = parts[i];
        if (is_basic(part)) {
            continue;
        }
        if (is_moved && part != recorded[i]) {
            if (MovedTypes::number_of(part) == 0) { // MPICH returns the type that it is made of
                TypeCreate::stands_for(part, recorded[i]);
            }
            continue;
        }
        parts[i] = recorded[i];
        real<Fn::MPI_Type_free>(&part);
    }
}

} // namespace cd::logger
