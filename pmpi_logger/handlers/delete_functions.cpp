// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "handlers/delete_functions.h"

#include "mpi/reentry_guard.h"

#include <map>
#include <mutex>

namespace cd::logger {
namespace {

using InFortran = void (*)(MPI_Fint *window, MPI_Fint *key, MPI_Aint *value, MPI_Aint *state,
                           MPI_Fint *error);

std::mutex functions_mutex;

// Never destroyed: MPI may be used while the process ends.
std::map<int, DeleteFunction> &functions() {
    static auto &all = *new std::map<int, DeleteFunction>;
    return all;
}

DeleteFunction find(int key) {
    const std::scoped_lock lock(functions_mutex);
    const auto found = functions().find(key);
    return found != functions().end() ? found->second : DeleteFunction();
}

MPI_Fint number_of(const Window &gone) {
#ifdef OPEN_MPI
    return gone.in_fortran;
#else
    return MPI_Win_c2f(gone.handle);
#endif
}

} // namespace

void DeleteFunctions::note(int key, const DeleteFunction &function) {
    const std::scoped_lock lock(functions_mutex);
    functions().insert_or_assign(key, function);
}

void DeleteFunctions::call(const Window &gone, int key, const SetAttribute &attribute) {
    DeleteFunction found = find(key);
    if (found.function == nullptr) {
        return;
    }
    const ReentryGuard inside; // what it calls was not recorded
    if (found.in_fortran) {
        MPI_Fint window = number_of(gone);
        MPI_Fint number = key;
        MPI_Aint value = attribute.in_fortran();
        MPI_Fint error = MPI_SUCCESS;
        auto *const state =
            found.state != nullptr ? static_cast<MPI_Aint *>(found.state) : &found.number;
        reinterpret_cast<InFortran>(found.function)(&window, &number, &value, state, &error);
    } else {
        reinterpret_cast<MPI_Win_delete_attr_function *>(found.function)(
            gone.handle, key, attribute.value, found.state);
    }
}

} // namespace cd::logger
