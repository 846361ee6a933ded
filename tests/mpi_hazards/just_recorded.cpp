// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// A thread that has just recorded a call takes it that the next one is recorded, too, unless it has
// made, restored or ended a CD meanwhile. Others may do that for it.
#include "cd/mpi_log.h"
#include "complaints.h"
#include "hazard.h"
#include "worker_thread.h"

#include <cstddef>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

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
    WorkerThread elsewhere;
    const Domain own;
    take(0, 3);
    elsewhere([&] { CHECK(restore_cd(own.handle()) == SUCCESS); });
    take(0, messages);
    CHECK(own.info().log_length == messages);
}

namespace {

cd_handle ended_meanwhile = nullptr;
WorkerThread *ends_it = nullptr;

void end_in_error_handler(MPI_Comm *, int *, ...) {
    (*ends_it)([] { CHECK(commit_cd(ended_meanwhile) == SUCCESS); });
}

} // namespace

HAZARD_IN_THREADS(another_thread_ends_the_cd_while_a_call_is_made) {
    if (world_rank() == 1) {
        return;
    }
    WorkerThread elsewhere;
    ends_it = &elsewhere;
    MPI_Comm self = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_SELF, &self);
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Comm_create_errhandler(end_in_error_handler, &handler);
    MPI_Comm_set_errhandler(self, handler);
    const auto send_to_nobody = [self] {
        const int one = 1;
        CHECK(MPI_Send(&one, 1, MPI_INT, 99, tag, self) != MPI_SUCCESS);
    };
    std::string said;
    for (const bool has_recorded : {false, true}) {
        ended_meanwhile = create_cd(nullptr, nullptr, COMM_LOGGING_ENABLED, "ended", nullptr);
        CHECK(ended_meanwhile != nullptr);
        if (has_recorded) {
            MPI_Barrier(self);
        }
        Complaints complaints;
        send_to_nobody();
        said += complaints.text();
    }
    CHECK(said.empty());
    MPI_Errhandler_free(&handler);
    MPI_Comm_free(&self);
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

namespace {

using Entry = std::vector<std::byte>;

// Those of a domain around call, which is made twice: for the second time of a thread that has just
// recorded, and knows the type.
std::vector<Entry> entries_of(const std::function<void()> &call) {
    Domain domain;
    for (int time = 0; time < 2; ++time) {
        call();
    }
    domain.restore();
    std::vector<Entry> entries;
    size_t length = 0;
    int error = 0;
    while (const void *at = cd_log_next(domain.handle(), &length, &error)) {
        const auto *bytes = static_cast<const std::byte *>(at);
        entries.emplace_back(bytes, bytes + length);
        std::memset(entries.back().data() + sizeof(int), 0, sizeof(int)); // MPICH numbers errors
    }
    return entries;
}

MPI_Datatype committed(MPI_Datatype type) {
    MPI_Type_commit(&type);
    return type;
}

MPI_Datatype integers_with_gaps() {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_vector(2, 1, 2, MPI_INT, &type);
    return committed(type);
}

// Before what is at the buffer.
MPI_Datatype integers_before() {
    const int length = 2;
    const MPI_Aint shift = -8;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_hindexed(1, &length, &shift, MPI_INT, &type);
    return committed(type);
}

} // namespace

// However the logger finds out what there is to be recorded.
HAZARD(calls_are_recorded_alike_when_the_thread_has_just_recorded) {
    MPI_Comm self = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_SELF, &self);
    MPI_Comm_set_errhandler(self, MPI_ERRORS_RETURN);
    MPI_Datatype gaps = integers_with_gaps();
    MPI_Datatype before = integers_before();
    std::vector<std::byte> sent;
    for (int i = 0; i < 1024; ++i) {
        sent.push_back(static_cast<std::byte>(i));
    }
    std::vector<std::byte> received(1024);
    std::byte *const from = sent.data() + 512;
    std::byte *const to = received.data() + 512;
    MPI_Status status = {};
    for (const MPI_Datatype type : {MPI_BYTE, MPI_DOUBLE, MPI_LONG_DOUBLE, gaps, before}) {
        for (const int count : {0, 1, 2, 20}) {
            for (MPI_Status *const wanted : {MPI_STATUS_IGNORE, &status}) {
                for (const int less : {0, count / 2}) {
                    const auto entries = entries_of([&] {
                        std::memset(received.data(), 0x33, received.size());
                        MPI_Sendrecv(from, count - less, type, 0, 1, to, count, type, 0, 1, self,
                                     wanted);
                    });
                    CHECK(entries.size() == 2 && entries[0] == entries[1]);
                }
            }
            const auto entries =
                entries_of([&] { MPI_Send(from, count, type, MPI_PROC_NULL, 1, self); });
            CHECK(entries.size() == 2 && entries[0] == entries[1]);
        }
    }
    const auto spread =
        entries_of([&] { MPI_Sendrecv(from, 4, MPI_INT, 0, 1, to, 2, gaps, 0, 1, self, &status); });
    CHECK(spread.size() == 2 && spread[0] == spread[1]);
    const auto gathered =
        entries_of([&] { MPI_Sendrecv(from, 2, gaps, 0, 1, to, 4, MPI_INT, 0, 1, self, &status); });
    CHECK(gathered.size() == 2 && gathered[0] == gathered[1]);
    const auto to_nobody = entries_of([&] {
        status = {};
        MPI_Sendrecv(from, 4, MPI_INT, 99, 1, to, 4, MPI_INT, 99, 1, self, &status);
    });
    CHECK(to_nobody.size() == 2 && to_nobody[0] == to_nobody[1]);
    const auto too_much = entries_of(
        [&] { MPI_Sendrecv(from, 8, MPI_INT, 0, 1, to, 4, MPI_INT, 0, 1, self, &status); });
    CHECK(too_much.size() == 2 && too_much[0] == too_much[1]);
    const auto nowhere = entries_of(
        [&] { MPI_Sendrecv(nullptr, 2, MPI_INT, 0, 1, nullptr, 2, MPI_INT, 0, 1, self, &status); });
    CHECK(nowhere.size() == 2 && nowhere[0] == nowhere[1]);
    MPI_Type_free(&gaps);
    MPI_Type_free(&before);
    MPI_Comm_free(&self);
}

} // namespace just_recorded
