// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Sends that are under way when a CD is restored: MPI reads large buffers late.
#include "cd/mpi_log.h"
#include "hazard.h"

#include <cstdlib>
#include <cstring>

namespace pending_sends {

namespace {

MPI_Request start_send(const Numbers &data, int to, int tag) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Isend(data.data(), static_cast<int>(data.size()), MPI_INT, to, tag, MPI_COMM_WORLD,
              &request);
    return request;
}

void expect_nothing_more(int from) {
    int arrived = 0;
    MPI_Iprobe(from, MPI_ANY_TAG, MPI_COMM_WORLD, &arrived, MPI_STATUS_IGNORE);
    CHECK(!arrived);
}

// Rank 1 receives a message only after rank 0 was restored.
void rank_1_receives_afterwards(size_t count, int seed) {
    await(0);
    CHECK(receive(count, 0, 1) == numbers(seed, count));
    await(0);
    expect_nothing_more(0);
}

} // namespace

// The memory from which it is sent is destroyed, and then has what was there before the CD.
HAZARD(rendezvous_send_pending) {
    if (world_rank() == 1) {
        rank_1_receives_afterwards(rendezvous, 2);
        return;
    }
    Numbers data = numbers(1, rendezvous);
    Domain domain;
    domain.keep(data);
    const auto send_changed = [&] {
        set(data, numbers(2, rendezvous));
        return start_send(data, 1, 1);
    };
    MPI_Request request = send_changed();
    for (int i = 0; i < 5; ++i) {
        destroy(data);
        domain.restore();
        CHECK(data == numbers(1, rendezvous));
        request = send_changed();
    }
    signal(1);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(request == MPI_REQUEST_NULL);
    signal(1);
}

// It has no data that could change, but is not complete before it is received.
HAZARD(synchronous_send_of_nothing_from_nowhere_pending) {
    if (world_rank() == 1) {
        rank_1_receives_afterwards(0, 1);
        return;
    }
    MPI_Datatype nothing = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(0, MPI_INT, &nothing);
    MPI_Type_commit(&nothing);
    Domain domain;
    const auto start = [nothing] {
        MPI_Request request = MPI_REQUEST_NULL;
        CHECK(MPI_Issend(nullptr, 1, nothing, 1, 1, MPI_COMM_WORLD, &request) == MPI_SUCCESS);
        return request;
    };
    start();
    domain.restore();
    MPI_Request request = start();
    signal(1);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    signal(1);
    MPI_Type_free(&nothing);
}

// MPI reads the program's buffer, and a restore would write there.
HAZARD(restore_waits_for_a_send_without_a_shadow) {
    if (world_rank() == 1) {
        rank_1_receives_afterwards(rendezvous, 1);
        return;
    }
    setenv("CD_SEND_SHADOW", "off", 1);
    setenv("CD_QUIESCE_TIMEOUT", "0.1", 1);
    Numbers data = numbers(1, rendezvous);
    Domain domain;
    domain.keep(data);
    MPI_Request request = start_send(data, 1, 1);
    CHECK(restore_cd(domain.handle()) != SUCCESS);
    CHECK(cd_last_error() == CD_ERROR_LOG_PENDING);
    CHECK(std::strstr(cd_last_error_message(), "the send with request") != nullptr);
    const auto finish = [&] {
        signal(1);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    };
    finish();
    destroy(data);
    domain.restore();
    CHECK(data == numbers(1, rendezvous));
    request = start_send(data, 1, 1);
    finish();
    signal(1);
}

// Both are under way at the restore. The receiver wants B before A: a restore that waited for A to
// leave would wait for ever.
HAZARD(two_sends_pending_received_in_the_other_order) {
    constexpr int a = 1;
    constexpr int b = 2;
    if (world_rank() == 1) {
        await(0);
        CHECK(receive(rendezvous, 0, b) == numbers(b, rendezvous));
        CHECK(receive(rendezvous, 0, a) == numbers(a, rendezvous));
        await(0);
        expect_nothing_more(0);
        return;
    }
    Numbers first = numbers(a, rendezvous);
    Numbers second = numbers(b, rendezvous);
    Domain domain;
    domain.keep(first);
    domain.keep(second);
    start_send(first, 1, a);
    start_send(second, 1, b);
    destroy(first);
    destroy(second);
    domain.restore();
    MPI_Request requests[2] = {start_send(first, 1, a), MPI_REQUEST_NULL};
    requests[1] = start_send(second, 1, b);
    signal(1);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    signal(1);
}

namespace {

void synchronous_send_of(size_t count) {
    if (world_rank() == 1) {
        rank_1_receives_afterwards(count, 2);
        return;
    }
    Numbers data = numbers(2, count);
    Numbers state = numbers(3, eager);
    Domain domain;
    domain.keep(data);
    domain.keep(state);
    const auto start = [&] {
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Issend(data.data(), static_cast<int>(data.size()), MPI_INT, 1, 1, MPI_COMM_WORLD,
                   &request);
        return request;
    };
    start();
    destroy(data);
    domain.restore();
    MPI_Request request = start();
    int flag = 1;
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    CHECK(!flag);
    signal(1);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    signal(1);
}

} // namespace

HAZARD(synchronous_send_pending) { synchronous_send_of(eager); }
HAZARD(synchronous_send_of_nothing_pending) { synchronous_send_of(0); }

namespace {

// The second use of a persistent send is under way at the restore; rank 1 receives it only after
// that. Made before the CD, or in it; from the same buffer, or from another one in the end.
void persistent_send(bool made_before, bool moves) {
    if (world_rank() == 1) {
        CHECK(receive(rendezvous, 0, 1) == numbers(2, rendezvous));
        await(0);
        CHECK(receive(rendezvous, 0, 1) == numbers(3, rendezvous));
        CHECK(receive(rendezvous, 0, 1) == numbers(4, rendezvous));
        await(0);
        expect_nothing_more(0);
        return;
    }
    Numbers data = numbers(1, rendezvous);
    Numbers elsewhere = numbers(1, rendezvous);
    MPI_Request request = MPI_REQUEST_NULL;
    const auto make = [&](const Numbers &buffer) {
        MPI_Send_init(buffer.data(), static_cast<int>(rendezvous), MPI_INT, 1, 1, MPI_COMM_WORLD,
                      &request);
    };
    if (made_before) {
        make(data);
    }
    const MPI_Request first = request;
    {
        Domain domain;
        domain.keep(data);
        const auto until_the_second_is_under_way = [&](Numbers &buffer) {
            request = first;
            if (!made_before) {
                make(buffer);
            }
            set(buffer, numbers(2, rendezvous));
            MPI_Start(&request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            set(buffer, numbers(3, rendezvous));
            MPI_Start(&request);
        };
        until_the_second_is_under_way(data);
        destroy(data);
        domain.restore();
        until_the_second_is_under_way(data);
        destroy(data);
        domain.restore();
        Numbers &last = moves ? elsewhere : data;
        until_the_second_is_under_way(last);
        signal(1);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        set(last, numbers(4, rendezvous));
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    signal(1);
    MPI_Request_free(&request);
}

} // namespace

HAZARD(second_use_of_persistent_send_pending) { persistent_send(false, false); }
HAZARD(persistent_send_from_before_the_cd_pending) { persistent_send(true, false); }
HAZARD(persistent_send_pending_that_moves) { persistent_send(false, true); }

// A free that the log knows, and the program does not come to again.
HAZARD(freed_send_under_way_is_the_programs_again) {
    if (world_rank() == 1) {
        await(0);
        CHECK(receive(rendezvous, 0, 1) == numbers(2, rendezvous));
        signal(0);
        await(0);
        CHECK(receive(rendezvous, 0, 2) == numbers(3, rendezvous));
        CHECK(receive(rendezvous, 0, 3) == numbers(3, rendezvous));
        return;
    }
    Numbers data = numbers(2, rendezvous);
    Numbers nothing(eager);
    const Numbers later = numbers(3, rendezvous);
    Domain domain;
    domain.keep(data);
    MPI_Request request = start_send(data, 1, 1);
    MPI_Request_free(&request);
    domain.restore();
    request = start_send(data, 1, 1);
    CHECK(delete_MPI_log_from_cd(domain.handle()) == SUCCESS);
    signal(1);
    await(1); // rank 1 has all by now
    // A free looks whether earlier ones are complete.
    MPI_Request other = MPI_REQUEST_NULL;
    MPI_Recv_init(nothing.data(), eager, MPI_INT, 1, 99, MPI_COMM_WORLD, &other);
    MPI_Request_free(&other);
    // One of these would get the request if it were free, and rank 1 does not receive them yet.
    MPI_Request both[2] = {start_send(later, 1, 2), MPI_REQUEST_NULL};
    both[1] = start_send(later, 1, 3);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(request == MPI_REQUEST_NULL);
    signal(1);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
}

} // namespace pending_sends
