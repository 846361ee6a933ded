// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Bytes that mean nothing, of numbers and between them: nobody writes them, so that a re-execution
// has others where it sends from.
#include "complaints.h"
#include "hazard.h"

#include <cstddef>
#include <cstring>

namespace padding {

namespace {

struct Located {
    long double value;
    int place;
};

} // namespace

HAZARD(padding_of_long_numbers_may_differ) {
    if (sizeof(long double) == 8 || __LDBL_MANT_DIG__ > 64) {
        return; // they have no such bytes here
    }
    Domain domain;
    const auto execute = [](int garbage) {
        Located sent;
        std::memset(&sent, garbage, sizeof sent);
        sent.value = 1.0L + world_rank();
        sent.place = world_rank();
        Located largest = {};
        MPI_Allreduce(&sent, &largest, 1, MPI_LONG_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
        CHECK(largest.value == 2.0L && largest.place == 1);
        MPI_Datatype pair = MPI_DATATYPE_NULL;
        MPI_Type_contiguous(2, MPI_LONG_DOUBLE, &pair);
        MPI_Type_commit(&pair);
        long double both[2];
        std::memset(both, garbage, sizeof both);
        both[0] = both[1] = 3.0L;
        long double received[2] = {};
        MPI_Sendrecv(both, 1, pair, 1 - world_rank(), 1, received, 1, pair, 1 - world_rank(), 1,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(received[0] == 3.0L && received[1] == 3.0L);
        MPI_Type_free(&pair);
    };
    execute(0x55);
    domain.restore();
    execute(0xAA);
    CHECK(domain.info().replaying == 0);
}

namespace {

struct Labelled {
    char label; // and a gap
    double value;
    short place; // and a gap
};

MPI_Datatype labelled_type() {
    const int lengths[] = {1, 1, 1};
    const MPI_Aint places[] = {offsetof(Labelled, label), offsetof(Labelled, value),
                               offsetof(Labelled, place)};
    const MPI_Datatype types[] = {MPI_CHAR, MPI_DOUBLE, MPI_SHORT};
    MPI_Datatype parts = MPI_DATATYPE_NULL;
    MPI_Datatype whole = MPI_DATATYPE_NULL;
    MPI_Type_create_struct(3, lengths, places, types, &parts);
    MPI_Type_create_resized(parts, 0, sizeof(Labelled), &whole);
    MPI_Type_commit(&whole);
    MPI_Type_free(&parts);
    return whole;
}

struct ValueAndPlace { // MPI_DOUBLE_INT
    double value;
    int place; // and a gap
};

} // namespace

HAZARD(gaps_of_types_may_differ) {
    constexpr int count = 3;
    const int peer = 1 - world_rank();
    Domain domain;
    const auto execute = [&](int garbage) {
        Labelled sent[2 * count];
        Labelled received[2 * count];
        std::memset(static_cast<void *>(sent), garbage, sizeof sent);
        for (int i = 0; i < count; ++i) { // the others are gaps of what follows
            sent[2 * i].label = 'a';
            sent[2 * i].value = i;
            sent[2 * i].place = static_cast<short>(i);
        }
        MPI_Datatype labelled = labelled_type();
        MPI_Datatype every_other = MPI_DATATYPE_NULL;
        MPI_Type_vector(count, 1, 2, labelled, &every_other);
        MPI_Type_commit(&every_other);
        const auto is_received = [&] {
            const Labelled &last = received[2 * (count - 1)];
            return last.label == 'a' && last.value == count - 1 && last.place == count - 1;
        };
        MPI_Sendrecv(sent, 1, every_other, peer, 1, received, 1, every_other, peer, 1,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(is_received());
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Isend(sent, 1, every_other, peer, 2, MPI_COMM_WORLD, &request);
        MPI_Recv(received, 1, every_other, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(is_received());
        MPI_Send_init(sent, 1, every_other, peer, 3, MPI_COMM_WORLD, &request);
        MPI_Start(&request);
        MPI_Recv(received, 1, every_other, peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
        CHECK(is_received());
        MPI_Bcast(world_rank() == 0 ? sent : received, 1, every_other, 0, MPI_COMM_WORLD);
        MPI_Type_free(&every_other);
        MPI_Type_free(&labelled);
        ValueAndPlace own;
        ValueAndPlace largest = {};
        std::memset(static_cast<void *>(&own), garbage, sizeof own);
        own.value = world_rank();
        own.place = world_rank();
        MPI_Allreduce(&own, &largest, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
        CHECK(largest.value == 1 && largest.place == 1);
    };
    execute(0x55);
    domain.restore();
    execute(0xAA);
    CHECK(domain.info().replaying == 0);
}

namespace {

struct Padded {
    char label; // and a gap
    int value;
};

} // namespace

HAZARD(gaps_of_bytes_are_told_apart_from_arguments) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    const int peer = 1 - world_rank();
    Domain domain;
    const auto execute = [peer](int value, int tag) {
        int received = 0;
        return MPI_Sendrecv(&value, 1, MPI_INT, peer, tag, &received, 1, MPI_INT, peer, tag,
                            MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    };
    CHECK(execute(1, 1) == MPI_SUCCESS);
    for (const bool same_tag : {true, false}) {
        domain.restore();
        Complaints complaints;
        CHECK(execute(2, same_tag ? 1 : 3) != MPI_SUCCESS);
        CHECK(complaints.name("the re-execution differs from the log"));
        CHECK(complaints.name("CD_SENT_DATA=ignore") == same_tag);
    }
    domain.restore();
    CHECK(execute(1, 1) == MPI_SUCCESS);
    CHECK(domain.info().replaying == 0);
}

// Needs CD_SENT_DATA=ignore.
HAZARD(gaps_of_bytes_may_differ_where_sent_data_are_ignored) {
    const int peer = 1 - world_rank();
    Domain domain;
    const auto execute = [peer](int garbage) {
        Padded sent;
        Padded received = {};
        std::memset(static_cast<void *>(&sent), garbage, sizeof sent);
        sent.label = 'a';
        sent.value = world_rank();
        MPI_Sendrecv(&sent, sizeof sent, MPI_BYTE, peer, 1, &received, sizeof received, MPI_BYTE,
                     peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(received.label == 'a' && received.value == peer);
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Send_init(&sent, sizeof sent, MPI_BYTE, peer, 2, MPI_COMM_WORLD, &request);
        MPI_Start(&request);
        MPI_Recv(&received, sizeof received, MPI_BYTE, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
        CHECK(received.label == 'a' && received.value == peer);
        Padded all[2] = {};
        MPI_Allgather(&sent, sizeof sent, MPI_BYTE, all, sizeof sent, MPI_BYTE, MPI_COMM_WORLD);
        CHECK(all[0].value == 0 && all[1].value == 1);
    };
    execute(0x55);
    domain.restore();
    execute(0xAA);
    CHECK(domain.info().replaying == 0);
}

} // namespace padding
