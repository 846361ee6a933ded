// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "handlers/free_objects.h"

#include "rma/window_table.h"

namespace cd::logger {

int ObjectFree::free_type(MPI_Datatype *type) {
    const ReentryGuard inside;
    RequestTable::instance().keep_type(*type);
    WindowTable::instance().keep_type(*type);
    forget_type_facts(*type);
    forget_object(word_of(*type));
    return call_mpi<Fn::MPI_Type_free>(type);
}

void ObjectFree::free_moved_type(uint64_t number) {
    MPI_Datatype type = MovedTypes::take(number).made;
    if (type != MPI_DATATYPE_NULL) {
        free_type(&type);
    }
}

void ObjectFree::freed_again(uint64_t handle, uint64_t which) {
    if (const std::optional<cd_log_place> place = last_entry()) {
        FreedHandles::add(handle, *place, which);
    }
}

} // namespace cd::logger
