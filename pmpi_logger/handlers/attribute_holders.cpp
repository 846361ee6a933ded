// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "handlers/attribute_holders.h"

#include "handlers/free_objects.h"
#include "mpi/reentry_guard.h"
#include "payload/mortal_comms.h"
#include "payload/private_comm.h"

#include <map>
#include <mutex>
#include <optional>

namespace cd::logger {
namespace {

std::mutex holders_mutex;

// Never destroyed: MPI may be used while the process ends.
std::map<int, MPI_Comm> &holders() {
    static auto &all = *new std::map<int, MPI_Comm>;
    return all;
}

} // namespace

MPI_Comm AttributeHolders::of(MPI_Comm comm) {
    if (!MortalComms::is_freed(comm)) {
        return comm;
    }
    const std::optional<Mortal> mortal = MortalComms::find(comm);
    const MPI_Comm like = own_comm(); // which has no attributes
    const ReentryGuard inside;
    const std::scoped_lock lock(holders_mutex);
    MPI_Comm &holder = holders().try_emplace(mortal->number, MPI_COMM_NULL).first->second;
    if (holder == MPI_COMM_NULL) {
        real<Fn::MPI_Comm_dup>(like, &holder);
    }
    return holder;
}

MPI_Comm AttributeHolders::find(int number) {
    const std::scoped_lock lock(holders_mutex);
    const auto found = holders().find(number);
    return found != holders().end() ? found->second : MPI_COMM_NULL;
}

void AttributeHolders::remove(int number) {
    MPI_Comm holder = MPI_COMM_NULL;
    {
        const std::scoped_lock lock(holders_mutex);
        const auto found = holders().find(number);
        if (found == holders().end()) {
            return;
        }
        holder = found->second;
        holders().erase(found);
    }
    const ReentryGuard inside;
    ObjectFree::free_comm<Fn::MPI_Comm_free>(&holder);
}

} // namespace cd::logger
