// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "mpi/meeting.h"

#include "base/no_throw.h"

#include <algorithm>
#include <span>

namespace cd::mpi {

using redset::Bytes;

Status make_exchange(MPI_Comm whole, int color, int key, std::unique_ptr<MpiExchange> &exchange) {
    // Where there is no memory for others. It lives as long as a thread of the program.
    static thread_local Communicator::Tally spare;
    Communicator part;
    if (Status status = Communicator::split(whole, color, key, part); !status) {
        return status;
    }
    std::unique_ptr<MpiExchange> made;
    Status ready = catch_exceptions([&] { made = std::make_unique<MpiExchange>(part); });
    if (made == nullptr) {
        Status all;
        Status met = part.check_all(ready, spare, all);
        if (!met) {
            part.abandon();
        }
        return met ? all : met;
    }
    Status status = made->check_all(ready);
    if (status) {
        exchange = std::move(made);
    }
    return status;
}

Status gather_all(MpiExchange &all, Status own, std::string_view tells, std::vector<Bytes> &told) {
    if (Status status = redset::gather_outcomes(all, own, std::as_bytes(std::span(tells)), told);
        !status) {
        return status;
    }
    const auto knows = [](const Bytes &theirs) { return redset::code_of(theirs) == CD_ERROR_NONE; };
    const auto refused = std::ranges::find_if_not(told, knows);
    if (refused != told.end()) {
        return fail(redset::code_of(*refused), "rank %td: %s", refused - told.begin(),
                    redset::text_of(*refused));
    }
    redset::take_codes_off(told);
    return Status::ok();
}

std::string_view view_of(const Bytes &bytes) {
    return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

} // namespace cd::mpi
