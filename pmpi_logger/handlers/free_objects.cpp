// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "handlers/free_objects.h"

#include "log_entry/writer.h"
#include "replay/match.h"

namespace cd::logger {

int Releases::free_type(MPI_Datatype *type) {
    const ReentryGuard inside;
    RequestTable::instance().keep_type(*type);
    WindowTable::instance().keep_type(*type);
    forget_type_facts(*type);
    return call_mpi<Fn::MPI_Type_free>(type);
}

int Releases::free_reference(MPI_Datatype *type) {
    const ReentryGuard inside;
    forget_type_facts(*type); // in case that it does not
    return call_mpi<Fn::MPI_Type_free>(type);
}

void Releases::free_moved_type(uint64_t number) {
    MPI_Datatype type = MovedTypes::take(number).made;
    if (type != MPI_DATATYPE_NULL) {
        free_type(&type);
    }
}

void Releases::moved_type_freed(uint64_t number) {
    MovedTypes::set_freed(number, true);
    if (const std::optional<cd_log_place> place = last_entry()) {
        when_restored(*place, [number] { MovedTypes::set_freed(number, false); });
    }
}

void Releases::let_others_disconnect([[maybe_unused]] MPI_Comm comm) {
#ifdef OPEN_MPI // where ranks whose CDs do not log do so in a barrier
    const ReentryGuard inside;
    real<Fn::MPI_Barrier>(comm);
#endif
}

bool Releases::record(const Call &call, int result) {
    EntryWriter writer(call, result);
    writer.add_outputs(call);
    return writer.write() != nullptr;
}

int Releases::replay(const Call &call, int refused) {
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

void Releases::freed_again(uint64_t handle, bool given_once, uint64_t which) {
    const std::optional<cd_log_place> place = last_entry();
    const bool is_second = given_once && FreedHandles::has(handle); // which MPI lets pass
    if (place && !is_second) {
        FreedHandles::add(handle, *place, which);
    }
}

int FreesMemory::note(const void *site, void *memory) {
    Call call(Fn::MPI_Free_mem, site);
    call.add_word(word_of(memory));
    int result = MPI_SUCCESS;
    if (cd_log_mode() == CD_LOG_REPLAYING) {
        next_entry(call, result);
        return result == run_live ? FreesMemory::call<Fn::MPI_Free_mem>(site, memory) : result;
    }
    EntryWriter writer(call, MPI_SUCCESS);
    writer.write();
    return MPI_SUCCESS;
}

} // namespace cd::logger
