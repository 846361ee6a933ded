// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// A thread that has just recorded a call takes it that the next one is recorded, too, unless it has
// made, restored or ended a CD meanwhile. Others may do that for it.
#include "complaints.h"
#include "hazard.h"
#include "told_thread.h"

#include <string>

namespace just_recorded {

namespace {

constexpr int tag = 1;
constexpr int messages = 4;

void send_all() {
    for (int i = 0; i < messages; ++i) {
        send(numbers(i, eager), 0, tag);
    }
}

void take(int first, int last) {
    for (int i = first; i < last; ++i) {
        CHECK(receive(eager, 1, tag) == numbers(i, eager));
    }
}

} // namespace

HAZARD_IN_THREADS(another_thread_restores_the_cd_of_one_that_has_just_recorded) {
    if (world_rank() == 1) {
        send_all();
        return;
    }
    ToldThread elsewhere;
    const Domain own;
    take(0, 3);
    elsewhere([&] { CHECK(restore_cd(own.handle()) == SUCCESS); });
    take(0, messages);
    CHECK(own.info().log_length == messages);
}

HAZARD_IN_THREADS(another_thread_ends_the_cd_of_one_that_has_just_recorded) {
    if (world_rank() == 1) {
        send_all();
        return;
    }
    ToldThread elsewhere;
    const auto end_elsewhere = [&](cd_handle cd) {
        elsewhere([&] { CHECK(commit_cd(cd) == SUCCESS); });
    };
    const cd_handle outer = create_cd(nullptr, nullptr, COMM_LOGGING_ENABLED, "outer", nullptr);
    const cd_handle inner = create_cd(outer, nullptr, MPI_LOGGING_INHERIT, nullptr, nullptr);
    CHECK(outer != nullptr && inner != nullptr);
    take(0, 2);
    end_elsewhere(inner);
    take(2, 3);
    cd_info info = {};
    CHECK(cd_query(outer, &info) == SUCCESS && info.log_length == 3);
    end_elsewhere(outer);
    std::string said;
    {
        Complaints complaints;
        take(3, messages);
        said = complaints.text();
    }
    CHECK(said.empty());
}

namespace {

int sent_to_itself = 0;

int send_to_itself(cd_addrspec *, int) {
    const int one = 1;
    int received = 0;
    MPI_Sendrecv(&one, 1, MPI_INT, 0, 2, &received, 1, MPI_INT, 0, 2, MPI_COMM_SELF,
                 MPI_STATUS_IGNORE);
    sent_to_itself += received;
    return 0;
}

} // namespace

// What a function does that the library calls is recorded nowhere.
HAZARD(regeneration_calls_mpi_when_the_thread_has_just_recorded) {
    if (world_rank() == 1) {
        send_all();
        return;
    }
    Domain own;
    uint8_t byte = 0;
    const cd_addrspec range = {&byte, 1, READ_ONLY, GLOBAL};
    CHECK(add_to_cd_via_regen(own.handle(), range, 1, send_to_itself) == SUCCESS);
    take(0, 2);
    std::string said;
    {
        Complaints complaints;
        own.restore();
        said = complaints.text();
    }
    CHECK(said.empty());
    CHECK(sent_to_itself == 1);
    CHECK(own.info().log_length == 2);
    take(0, messages);
}

} // namespace just_recorded
