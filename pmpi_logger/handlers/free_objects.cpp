// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "handlers/free_objects.h"

#include "log_entry/writer.h"
#include "replay/match.h"

namespace cd::logger {

int ObjectFree::free_type(MPI_Datatype *type) {
    const ReentryGuard inside;
    RequestTable::instance().keep_type(*type);
    WindowTable::instance().keep_type(*type);
    forget_type_facts(*type);
    object_goes(word_of(*type), 0);
    return call_mpi<Fn::MPI_Type_free>(type);
}

void ObjectFree::free_moved_type(uint64_t number) {
    MPI_Datatype type = MovedTypes::take(number).made;
    if (type != MPI_DATATYPE_NULL) {
        free_type(&type);
    }
}

void ObjectFree::let_others_disconnect([[maybe_unused]] MPI_Comm comm) {
#ifdef OPEN_MPI // where ranks without a logging CD free in a barrier
    const ReentryGuard inside;
    real<Fn::MPI_Barrier>(comm);
#endif
}

bool ObjectFree::record(const Call &call, int result) {
    EntryWriter writer(call, result);
    writer.add_outputs(call);
    return writer.write() != nullptr;
}

int ObjectFree::replay(const Call &call, int refused) {
    int result = MPI_SUCCESS;
    std::optional<EntryReader> entry = next_entry(call, result);
    if (!entry) {
        return result;
    }
    entry->take_outputs(call);
    return entry->result() == MPI_SUCCESS || entry->result() == refused
               ? entry->result()
               : raise_logged(MPI_COMM_NULL, entry->result());
}

void ObjectFree::freed_again(uint64_t handle, uint64_t which) {
    if (const std::optional<cd_log_place> place = last_entry()) {
        FreedHandles::add(handle, *place, which);
    }
}

int MemoryFree::note(const void *site, void *memory) {
    Call call(Fn::MPI_Free_mem, site);
    call.add_word(word_of(memory));
    int result = MPI_SUCCESS;
    if (cd_log_mode() == CD_LOG_REPLAYING) {
        next_entry(call, result);
        return result == run_live ? MemoryFree::call<Fn::MPI_Free_mem>(site, memory) : result;
    }
    EntryWriter writer(call, MPI_SUCCESS);
    writer.write();
    return MPI_SUCCESS;
}

} // namespace cd::logger
