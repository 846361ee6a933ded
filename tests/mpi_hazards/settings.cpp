// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// What the environment says, where that means nothing: told_once.sh sets it, and reads what is
// told.
#include "receives.h"
#include "window.h"

namespace settings {

namespace {

constexpr size_t few = 16;

int exchange_with_itself(Numbers &data) {
    return MPI_Sendrecv_replace(data.data(), few, MPI_INT, 0, 1, 0, 1, MPI_COMM_SELF,
                                MPI_STATUS_IGNORE);
}

// CD_SENT_DATA=compare, CD_ON_DIVERGENCE=error.
void other_data_fail() {
    Numbers data = numbers(1, few);
    Domain domain;
    domain.keep(data);
    CHECK(exchange_with_itself(data) == MPI_SUCCESS);
    domain.restore();
    set(data, numbers(2, few));
    CHECK(exchange_with_itself(data) != MPI_SUCCESS);
    CHECK(data == numbers(2, few));
}

// CD_SEND_SHADOW=on, and a CD_QUIESCE_TIMEOUT that is not nothing.
void requests_come_to_rest() {
    Numbers sent = numbers(3, rendezvous);
    Numbers received = numbers(before_anything, few);
    Domain domain;
    domain.keep(sent);
    domain.keep(received);
    MPI_Request requests[2] = {};
    for (int execution = 0; execution < 3; ++execution) {
        MPI_Isend(sent.data(), rendezvous, MPI_INT, 0, 1, MPI_COMM_SELF, &requests[0]);
        MPI_Irecv(received.data(), few, MPI_INT, 0, 2, MPI_COMM_SELF, &requests[1]);
        if (execution < 2) {
            destroy(sent);
            domain.restore(); // nobody will receive
        }
    }
    Numbers arrived(rendezvous);
    MPI_Recv(arrived.data(), rendezvous, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    CHECK(arrived == numbers(3, rendezvous));
    const Numbers awaited = numbers(4, few);
    MPI_Send(awaited.data(), few, MPI_INT, 0, 2, MPI_COMM_SELF);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(received == awaited);
}

// CD_WINDOWS by program, which is linked with libcd.
void windows_are_separate() {
    Numbers memory(few);
    MPI_Win window = window_over(memory);
    const int *model = nullptr;
    int present = 0;
    MPI_Win_get_attr(window, MPI_WIN_MODEL, &model, &present);
    CHECK(present != 0 && *model == MPI_WIN_SEPARATE);
    MPI_Win_free(&window);
}

} // namespace

// Each is asked for twice, and told once.
HAZARD(settings_that_are_not_understood_count_as_not_set) {
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    for (int time = 0; time < 2; ++time) {
        other_data_fail();
        requests_come_to_rest();
        windows_are_separate();
    }
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

// CD_LOG_LIMIT=64M, of a program that is recorded as a whole: no call of these is dropped.
HAZARD(limit_that_is_not_understood_counts_as_not_set) {
    constexpr int calls = 20000;
    for (int i = 0; i < calls; ++i) {
        MPI_Barrier(MPI_COMM_SELF);
    }
    cd_info info = {};
    CHECK(cd_query(CD_CURRENT_CD, &info) == SUCCESS);
    CHECK(info.log_length >= calls);
}

} // namespace settings
