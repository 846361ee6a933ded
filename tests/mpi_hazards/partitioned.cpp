// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Partitioned messages, which came with MPI 4.
#include "counted_polls.h"
#include "hazard.h"

#include <algorithm>
#include <cstdlib>
#include <thread>

namespace partitioned {

namespace {

constexpr int parts = 4;
constexpr size_t size = parts * (rendezvous / 8);
constexpr int per_part = static_cast<int>(size) / parts;

MPI_Request sends_to_1(Numbers &data) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Psend_init(data.data(), parts, per_part, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &request);
    return request;
}

MPI_Request receives_from(int rank, Numbers &data) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Precv_init(data.data(), parts, per_part, MPI_INT, rank, 1, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &request);
    return request;
}

void await_all_of(MPI_Request &request) {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
}

// Rank 1 gets one partitioned message, and nothing more.
void receive_parts(int seed) {
    Numbers data(size);
    MPI_Request request = receives_from(0, data);
    MPI_Start(&request);
    await_all_of(request);
    CHECK(data == numbers(seed, size));
}

void send_parts(int seed) {
    Numbers data = numbers(seed, size);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Psend_init(data.data(), parts, per_part, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &request);
    MPI_Start(&request);
    MPI_Pready_range(0, parts - 1, request);
    await_all_of(request);
}

} // namespace

HAZARD_IN_THREADS(record_all_lets_another_thread_ready_parts) {
    if (world_rank() == 1) {
        receive_parts(3);
        return;
    }
    Numbers data = numbers(3, size);
    MPI_Request request = sends_to_1(data);
    MPI_Start(&request);
    std::thread other([&] { MPI_Pready_range(0, parts - 1, request); });
    other.join();
    await_all_of(request);
}

HAZARD(program_changes_a_part_that_has_arrived) {
    if (world_rank() == 1) {
        send_parts(4);
        return;
    }
    Numbers data(size);
    Domain domain;
    domain.keep(data);
    const auto take = [&] {
        MPI_Request request = receives_from(1, data);
        MPI_Start(&request);
        for (int arrived = 0; !arrived;) {
            MPI_Parrived(request, 1, &arrived);
        }
        Numbers expected = numbers(4, size);
        CHECK(data[per_part] == expected[per_part]);
        data[per_part] = expected[per_part] = 42;
        await_all_of(request);
        CHECK(data == expected);
    };
    take();
    for (int i = 0; i < 2; ++i) {
        destroy(data);
        domain.restore();
        take();
    }
}

// Some parts have been readied, others not; made before the CD or in it.
static void partitioned_send(bool made_before) {
    if (world_rank() == 1) {
        await(0);
        receive_parts(3);
        return;
    }
    Numbers data = numbers(3, size);
    MPI_Request made = made_before ? sends_to_1(data) : MPI_REQUEST_NULL;
    Domain domain;
    domain.keep(data);
    const auto until_half = [&] {
        MPI_Request request = made_before ? made : sends_to_1(data);
        MPI_Start(&request);
        MPI_Pready(0, request);
        MPI_Pready(2, request);
        return request;
    };
    until_half();
    for (int i = 0; i < 2; ++i) {
        destroy(data);
        domain.restore();
        made = until_half();
    }
    signal(1);
    MPI_Pready(1, made);
    MPI_Pready(3, made);
    await_all_of(made);
}

HAZARD(partitioned_send_pending) { partitioned_send(false); }
HAZARD(partitioned_send_from_before_the_cd_pending) { partitioned_send(true); }

static void partitioned_receive(bool made_before) {
    if (world_rank() == 1) {
        await(0);
        send_parts(4);
        return;
    }
    Numbers data = numbers(9, size);
    MPI_Request made = made_before ? receives_from(1, data) : MPI_REQUEST_NULL;
    Domain domain;
    domain.keep(data);
    const auto start = [&] {
        MPI_Request request = made_before ? made : receives_from(1, data);
        MPI_Start(&request);
        int arrived = 1;
        MPI_Parrived(request, 0, &arrived);
        CHECK(!arrived);
        return request;
    };
    start();
    for (int i = 0; i < 2; ++i) {
        destroy(data);
        domain.restore();
        CHECK(data == numbers(9, size));
        made = start();
    }
    signal(1);
    await_all_of(made);
    CHECK(data == numbers(4, size));
}

HAZARD(partitioned_receive_pending) { partitioned_receive(false); }
HAZARD(partitioned_receive_from_before_the_cd_pending) { partitioned_receive(true); }

HAZARD(log_ends_with_questions_for_a_part_in_vain) {
    if (world_rank() == 1) {
        go_on_when_told([] { send_parts(4); });
        return;
    }
    Numbers data(size);
    MPI_Request request = MPI_REQUEST_NULL;
    Domain domain;
    domain.keep(data);
    finds_nothing_as_often(domain, {[&] {
                                        request = receives_from(1, data);
                                        MPI_Start(&request);
                                    },
                                    [&] {
                                        int arrived = 0;
                                        MPI_Parrived(request, 1, &arrived);
                                        return arrived != 0;
                                    },
                                    [&] {
                                        await_all_of(request);
                                        CHECK(data == numbers(4, size));
                                    }});
}

} // namespace partitioned
