// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/call.h"
#include "mpi/role.h"
#include "payload/received_data.h"
#include "requests/staging.h"

#include <tuple>

namespace cd::logger {

// Gives MPI the copies of the buffers in `staging`.
//
// MPI may look at the arrays that a call has, a number or a type for each rank, until its request
// is complete: Open MPI lets go of the types then. A restore changes those of the program. So MPI
// gets copies, beside the data that it works on.
template <typename Roles, typename Tuple>
void stage_arguments(const Call &call, Tuple &arguments, Staging &staging) {
    if constexpr (Roles::has(Role::send_buf)) {
        auto &buffer = std::get<Roles::index(Role::send_buf)>(arguments);
        buffer = staging.send_buf(buffer);
    }
    if constexpr (Roles::has(Role::recv_buf)) {
        auto &buffer = std::get<Roles::index(Role::recv_buf)>(arguments);
        buffer = staging.recv_buf(buffer);
    }
    const auto keep = [&]<Role... R>(int length) {
        const auto keep_one = [&]<Role One>() {
            if constexpr (Roles::has(One)) {
                auto &array = std::get<Roles::index(One)>(arguments);
                array = staging.keep(array, length);
            }
        };
        (keep_one.template operator()<R>(), ...);
    };
    if constexpr (Roles::has(Role::send_counts)) {
        keep.template operator()<Role::send_counts, Role::send_displs, Role::send_types>(
            Arrivals::ranks_sent_to(call));
    }
    if constexpr (Roles::has(Role::recv_counts)) {
        keep.template operator()<Role::recv_counts, Role::recv_displs, Role::recv_types>(
            Arrivals::ranks_received_from(call));
    }
}

} // namespace cd::logger
