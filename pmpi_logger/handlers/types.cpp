// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "handlers/types.h"

#include "handlers/free_objects.h"
#include "log_entry/writer.h"
#include "objects/lifetimes.h"
#include "replay/match.h"

namespace cd::logger {

void MakesType::record(const Call &call, int result, const Layout &layout) {
    EntryWriter writer(call, result);
    writer.add_outputs(call);
    writer.add(layout.displacements);
    writer.write();
}

int MakesType::replay(const Call &call, const Layout &layout) {
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
    const bool moved = entry->take<uint64_t>() != layout.displacements;
    return moved || layout.of_moved_types ? make_anew : MPI_SUCCESS;
}

void MakesType::stands_for(MPI_Datatype made, MPI_Datatype recorded) {
    const uint64_t number = MovedTypes::add(made, recorded);
    if (const std::optional<cd_log_place> place = last_entry()) {
        when_restored(*place, [number] { Releases::free_moved_type(number); });
    }
}

} // namespace cd::logger
