// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "payload/mortal_comms.h"

#include "mpi/thread_data.h"

namespace cd::logger {
namespace {

struct FactsOfMortal : CommCache {};

} // namespace

std::optional<Mortal> MortalComms::find(MPI_Comm comm) {
    std::optional<Mortal> meant = Owners::find(comm);
    return meant && !meant->is_other ? meant : std::nullopt;
}

const CommCache *MortalComms::facts_of(MPI_Comm comm) {
    if (!may_have(comm)) {
        return nullptr;
    }
    const std::optional<Mortal> mortal = find(comm);
    return mortal ? &(of_this_thread<FactsOfMortal>() = {mortal->facts}) : nullptr;
}

std::optional<Mortal> MortalComms::take(MPI_Comm comm) {
    std::optional<Mortal> meant = Owners::find(comm);
    if (meant) {
        remove(meant->number);
    }
    return meant;
}

bool MortalComms::is_freed(MPI_Comm comm) {
    if (!may_have(comm)) {
        return false;
    }
    const std::optional<Mortal> mortal = find(comm);
    return mortal && mortal->freed;
}

MPI_Comm MortalComms::find_freed(MPI_Fint in_fortran) {
    const std::optional<Mortal> mortal = find_number(in_fortran);
    return mortal && mortal->freed ? mortal->handle : MPI_COMM_NULL;
}

} // namespace cd::logger
