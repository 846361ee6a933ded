// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Collective operations and others that cannot be taken back, under way at the restore while the
// other rank wants something else first.
#include "hazard.h"
#include "mpi_has.inc"

#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

namespace pending_collectives {

namespace {

// start begins an operation on the buffers. Rank 1 takes part only after rank 0 was restored twice,
// which has destroyed and restored the buffers; the re-execution has others.
void others_come_later(const Numbers &sent_values,
                       const std::function<void(Numbers &, Numbers &, MPI_Request *)> &start,
                       const Numbers &expected) {
    Numbers sent = numbers(1, sent_values.size());
    Numbers received(expected.size());
    MPI_Request request = MPI_REQUEST_NULL;
    if (world_rank() == 1) {
        await(0);
        set(sent, sent_values);
        start(sent, received, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(received == expected);
        await(0);
        return;
    }
    Numbers other_received(expected.size());
    {
        Domain domain;
        domain.keep(sent);
        domain.keep(received);
        const auto begin = [&](Numbers &into) {
            set(sent, sent_values);
            start(sent, into, &request);
        };
        begin(received);
        destroy(sent);
        destroy(received);
        domain.restore();
        CHECK(sent == numbers(1, sent_values.size()));
        begin(received);
        domain.restore();
        const auto go_on = [&] {
            begin(other_received);
            signal(1);
            destroy(sent); // MPI has nothing to do with it
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            CHECK(request == MPI_REQUEST_NULL);
            CHECK(other_received == expected);
        };
        go_on();
        CHECK(received == Numbers(expected.size()));
        destroy(other_received);
        domain.restore();
        go_on();
        signal(1);
    }
}

Numbers doubled(Numbers values) {
    for (int &value : values) {
        value = static_cast<int>(2 * static_cast<unsigned>(value));
    }
    return values;
}

Numbers twice(const Numbers &values) {
    Numbers all = values;
    all.insert(all.end(), values.begin(), values.end());
    return all;
}

constexpr size_t count = 1 << 16;
constexpr int length = static_cast<int>(count);

} // namespace

namespace {

// What an execution gives to MPI, and the next one has elsewhere.
struct Arrays {
    int counts[2] = {1, 1};
    int displacements[2] = {0, length *int{sizeof(int)}};
    MPI_Datatype types[2] = {};

    Arrays() {
        for (MPI_Datatype &type : types) {
            MPI_Type_contiguous(length, MPI_INT, &type);
            MPI_Type_commit(&type);
        }
    }
};

} // namespace

HAZARD(alltoallw_pending_whose_arrays_are_gone) {
    others_come_later(
        twice(numbers(2, count)),
        [](Numbers &sent, Numbers &received, MPI_Request *request) {
            static std::vector<Arrays> all;
            all.reserve(8);
            if (!all.empty()) {
                std::memset(static_cast<void *>(&all.back()), 1, sizeof(Arrays));
            }
            Arrays &mine = all.emplace_back();
            MPI_Ialltoallw(sent.data(), mine.counts, mine.displacements, mine.types,
                           received.data(), mine.counts, mine.displacements, mine.types,
                           MPI_COMM_WORLD, request);
        },
        twice(numbers(2, count)));
}

HAZARD(broadcast_pending) {
    static int root = 0;
    for (root = 0; root < 2; ++root) {
        others_come_later(
            numbers(2, count),
            [](Numbers &sent, Numbers &received, MPI_Request *request) {
                if (world_rank() == root) {
                    set(received, sent);
                }
                MPI_Ibcast(received.data(), length, MPI_INT, root, MPI_COMM_WORLD, request);
            },
            numbers(2, count));
    }
}

// A large message that has been found and not been received: its sender looks elsewhere.
HAZARD(found_message_pending) {
    Numbers buffer = numbers(9, rendezvous);
    if (world_rank() == 1) {
        const Numbers data = numbers(4, rendezvous);
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Isend(data.data(), static_cast<int>(data.size()), MPI_INT, 0, 5, MPI_COMM_WORLD,
                  &request);
        await(0);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        return;
    }
    Domain domain;
    domain.keep(buffer);
    const auto start = [&](Numbers &into) {
        MPI_Message message = MPI_MESSAGE_NULL;
        MPI_Mprobe(1, 5, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Imrecv(into.data(), static_cast<int>(into.size()), MPI_INT, &message, &request);
        return request;
    };
    start(buffer);
    destroy(buffer);
    domain.restore();
    Numbers other(rendezvous);
    MPI_Request request = start(other);
    signal(1);
    MPI_Status status;
    MPI_Wait(&request, &status);
    int received = 0;
    MPI_Get_count(&status, MPI_INT, &received);
    CHECK(received == static_cast<int>(rendezvous));
    CHECK(other == numbers(4, rendezvous));
    CHECK(buffer == numbers(9, rendezvous));
}

// A file operation that all take part in.
HAZARD(reading_together_pending) {
    char name[256] = {};
    std::snprintf(name, sizeof name, "%s/cd_hazard.%d",
                  std::getenv("TMPDIR") != nullptr ? std::getenv("TMPDIR") : "/tmp",
                  std::rand()); // NOLINT: the same on both
    MPI_File file = MPI_FILE_NULL;
    const Numbers data = numbers(3, eager);
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &file);
    MPI_File_write_at_all(file, 0, data.data(), eager, MPI_INT, MPI_STATUS_IGNORE);
    Numbers read(eager);
    const auto start = [&](Numbers &into) {
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_File_iread_at_all(file, 0, into.data(), eager, MPI_INT, &request);
        return request;
    };
    if (world_rank() == 1) {
        await(0);
        MPI_Request request = start(read);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        Domain domain;
        domain.keep(read);
        start(read);
        domain.restore();
        Numbers other(eager);
        MPI_Request request = start(other);
        signal(1);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(other == data);
        CHECK(read == Numbers(eager));
    }
    MPI_File_close(&file);
}

namespace {

int make_sum(const Numbers &sent, Numbers &received, MPI_Request *request) {
#ifndef CD_HAS_MPI_Allreduce_init
    return MPIX_Allreduce_init(sent.data(), received.data(), length, MPI_INT, MPI_SUM,
                               MPI_COMM_WORLD, MPI_INFO_NULL, request);
#else
    return MPI_Allreduce_init(sent.data(), received.data(), length, MPI_INT, MPI_SUM,
                              MPI_COMM_WORLD, MPI_INFO_NULL, request);
#endif
}

} // namespace

// The second use of a persistent operation that is older than the CD.
HAZARD(persistent_reduction_pending) {
    Numbers sent = numbers(1, count);
    Numbers sum(count);
    MPI_Request request = MPI_REQUEST_NULL;
    make_sum(sent, sum, &request);
    const auto begin = [&](int seed) {
        set(sent, numbers(seed, count));
        MPI_Start(&request);
    };
    const auto finish = [&](int seed) {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(sum == doubled(numbers(seed, count)));
    };
    if (world_rank() == 1) {
        begin(2);
        finish(2);
        await(0);
        begin(3);
        finish(3);
    } else {
        Domain domain;
        domain.keep(sent);
        domain.keep(sum);
        const auto until_the_second_is_under_way = [&] {
            begin(2);
            finish(2);
            begin(3);
        };
        until_the_second_is_under_way();
        for (int i = 0; i < 2; ++i) {
            destroy(sent);
            destroy(sum);
            domain.restore();
            CHECK(sum == Numbers(count));
            until_the_second_is_under_way();
        }
        signal(1);
        finish(3);
    }
    MPI_Request_free(&request);
}

// It works on a copy, also where no CD logs.
HAZARD(persistent_reduction_is_asked_for_outside_a_cd) {
    Numbers sent = numbers(1, count);
    Numbers sum(count);
    MPI_Request request = MPI_REQUEST_NULL;
    make_sum(sent, sum, &request);
    MPI_Start(&request);
    int complete = 0;
    while (complete == 0) {
        MPI_Request_get_status(request, &complete, MPI_STATUS_IGNORE);
    }
    CHECK(sum == doubled(numbers(1, count)));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
}

// A file operation in two calls, of which the restore finds the first one made: MPI neither writes
// what the restore brings, nor is what it has read lost.
HAZARD(split_file_operations_under_way) {
    char name[256] = {};
    std::snprintf(name, sizeof name, "%s/cd_hazard.%d",
                  std::getenv("TMPDIR") != nullptr ? std::getenv("TMPDIR") : "/tmp",
                  std::rand()); // NOLINT: the same on both
    MPI_File file = MPI_FILE_NULL;
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &file);
    const int at = world_rank() * static_cast<int>(eager * sizeof(int));
    Numbers given = numbers(world_rank(), eager);
    Numbers got = numbers(9, eager);
    {
        Domain domain;
        domain.keep(given);
        domain.keep(got);
        const auto begin_to_write = [&] {
            set(given, numbers(world_rank() + 10, eager));
            MPI_File_write_at_all_begin(file, at, given.data(), eager, MPI_INT);
        };
        begin_to_write();
        domain.restore();
        begin_to_write();
        MPI_File_write_at_all_end(file, given.data(), MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
        domain.advance();
        const auto begin_to_read = [&] {
            MPI_File_read_ordered_begin(file, got.data(), eager, MPI_INT);
        };
        begin_to_read();
        domain.restore();
        CHECK(got == numbers(9, eager));
        begin_to_read();
        MPI_Status status;
        MPI_File_read_ordered_end(file, got.data(), &status);
        int count = 0;
        MPI_Get_count(&status, MPI_INT, &count);
        CHECK(count == eager);
        CHECK(got == numbers(world_rank() + 10, eager));
        domain.restore();
        begin_to_read();
        CHECK(got == numbers(9, eager));
        MPI_File_read_ordered_end(file, got.data(), MPI_STATUS_IGNORE);
        CHECK(got == numbers(world_rank() + 10, eager));
    }
    MPI_File_close(&file);
}

} // namespace pending_collectives
