// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Partitioned messages, which came with MPI 4.
#include "beside_live.h"
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

HAZARD_IN_THREADS(whole_program_lets_another_thread_ready_parts) {
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

namespace {

// The re-execution takes another way after the start, and makes all parts ready then: none of them
// goes a second time. ready: so many were ready, and the request complete if these are all.
void goes_on_live_with_parts(int ready) {
    if (world_rank() == 1) {
        receive_parts(5);
        return;
    }
    setenv("CD_ON_DIVERGENCE", "live", 1);
    Numbers data = numbers(5, size);
    Domain domain;
    MPI_Request request = sends_to_1(data);
    const auto say = [&](int count) {
        for (int part = 0; part < count; ++part) {
            CHECK(MPI_Pready(part, request) == MPI_SUCCESS);
        }
    };
    MPI_Start(&request);
    say(ready);
    if (ready == parts) {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    domain.restore();
    request = sends_to_1(data);
    MPI_Start(&request);
    MPI_Barrier(MPI_COMM_SELF);
    say(parts);
    await_all_of(request);
}

} // namespace

HAZARD(partitioned_send_that_the_log_completes_goes_on_live) { goes_on_live_with_parts(parts); }

HAZARD(partitioned_send_under_way_goes_on_live) { goes_on_live_with_parts(2); }

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

// The second use is under way at the restore, and the first one's parts are not its own.
HAZARD(second_use_of_a_partitioned_send_under_way_goes_on_live) {
    if (world_rank() == 1) {
        Numbers data(size);
        MPI_Request request = receives_from(0, data);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(data == numbers(5, size));
        await(0);
        MPI_Start(&request);
        signal(0);
        await_all_of(request);
        CHECK(data == numbers(6, size));
        return;
    }
    setenv("CD_ON_DIVERGENCE", "live", 1);
    Numbers data = numbers(5, size);
    Domain domain;
    domain.keep(data);
    MPI_Request request = MPI_REQUEST_NULL;
    const auto ready = [&](int count) {
        for (int part = 0; part < count; ++part) {
            CHECK(MPI_Pready(part, request) == MPI_SUCCESS);
        }
    };
    const auto make_and_start = [&] {
        request = sends_to_1(data);
        MPI_Start(&request);
        ready(parts);
    };
    make_and_start();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    set(data, numbers(6, size));
    MPI_Start(&request);
    ready(1);
    domain.restore();
    make_and_start();
    MPI_Barrier(MPI_COMM_SELF);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    set(data, numbers(6, size));
    MPI_Start(&request);
    signal(1);
    await(1); // which takes the message as soon as all parts are ready
    ready(parts);
    await_all_of(request);
}

namespace {

void ready_each(MPI_Request request) {
    for (int part = 0; part < parts; ++part) {
        CHECK(MPI_Pready(part, request) == MPI_SUCCESS);
    }
}

void ready_a_range(MPI_Request request) {
    CHECK(MPI_Pready_range(0, parts - 1, request) == MPI_SUCCESS);
}

void ready_a_list(MPI_Request request) {
    int list[parts] = {2, 0, 3, 1};
    CHECK(MPI_Pready_list(parts, list, request) == MPI_SUCCESS);
}

// The first execution has sent them.
void goes_on_live_beside_a_thread_that_readies(void (*ready)(MPI_Request)) {
    if (world_rank() == 1) {
        receive_parts(5);
        receive(eager, 0, 3);
        return;
    }
    Numbers data = numbers(5, size);
    MPI_Request request = sends_to_1(data);
    {
        Domain parent;
        goes_on_live_beside(
            parent, [&] { MPI_Start(&request); }, [] { send(numbers(1, eager), 1, 3); },
            [&] {
                ready(request);
                CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
            });
    }
    MPI_Request_free(&request);
}

} // namespace

HAZARD_IN_THREADS(divergence_goes_on_live_beside_a_thread_that_readies_parts) {
    goes_on_live_beside_a_thread_that_readies(ready_each);
}

HAZARD_IN_THREADS(divergence_goes_on_live_beside_a_thread_that_readies_a_range_of_parts) {
    goes_on_live_beside_a_thread_that_readies(ready_a_range);
}

HAZARD_IN_THREADS(divergence_goes_on_live_beside_a_thread_that_readies_a_list_of_parts) {
    goes_on_live_beside_a_thread_that_readies(ready_a_list);
}

// Rank 1 takes part only after rank 0 was restored.
HAZARD_IN_THREADS(divergence_goes_on_live_beside_a_thread_that_asks_for_a_part) {
    constexpr int count = static_cast<int>(eager) / parts;
    MPI_Request request = MPI_REQUEST_NULL;
    if (world_rank() == 1) {
        const Numbers data = numbers(1, eager);
        MPI_Psend_init(data.data(), parts, count, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &request);
        MPI_Start(&request);
        MPI_Pready_range(0, parts - 1, request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
        receive(eager, 0, 3);
        return;
    }
    Numbers data = numbers(9, eager);
    MPI_Precv_init(data.data(), parts, count, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &request);
    {
        Domain parent;
        parent.keep(data);
        goes_on_live_beside(
            parent, [&] { MPI_Start(&request); }, [&] { send(data, 1, 3); },
            [&] {
                for (int arrived = 0; !arrived;) {
                    CHECK(MPI_Parrived(request, 1, &arrived) == MPI_SUCCESS);
                }
                const Numbers sent = numbers(1, eager);
                CHECK(std::equal(&data[count], &data[2 * count], &sent[count]));
                MPI_Wait(&request, MPI_STATUS_IGNORE);
                CHECK(data == sent);
            });
    }
    MPI_Request_free(&request);
}

} // namespace partitioned
