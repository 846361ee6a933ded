// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Steps in which objects of MPI come and go; and attributes, which MPI keeps from step to step.
#include "steps.h"

#include <cstdio>
#include <unistd.h>

namespace {

void take(Part &part, const std::vector<int> &numbers) {
    part.received.in_any_order =
        mix(part.received.in_any_order, hash_of(numbers.data(), static_cast<int>(numbers.size())));
}

// A receive that nobody sends to, and a send that is let go.
void give_up(Part &part) {
    const int next = (part.rank + 1) % part.size;
    const int last = (part.rank + part.size - 1) % part.size;
    const int count = some_count(part.common);
    std::vector<int> out(static_cast<size_t>(count));
    std::vector<int> in(out.size(), -1);
    fill(out.data(), count, part.common.next(), part.state);
    MPI_Request never = MPI_REQUEST_NULL;
    MPI_Request sending = MPI_REQUEST_NULL;
    MPI_Request receiving = MPI_REQUEST_NULL;
    MPI_Irecv(nullptr, 0, MPI_INT, MPI_ANY_SOURCE, part.tag(7), part.comm, &never);
    MPI_Irecv(in.data(), count, MPI_INT, last, part.tag(0), part.comm, &receiving);
    part.pause();
    MPI_Isend(out.data(), count, MPI_INT, next, part.tag(0), part.comm, &sending);
    part.pause();
    int complete = 0;
    MPI_Status status = {};
    MPI_Request_get_status(receiving, &complete, &status);
    part.received.in_this_order = mix(part.received.in_this_order, complete != 0 ? 1U : 0U);
    MPI_Cancel(&never);
    part.pause();
    MPI_Wait(&never, &status);
    int cancelled = 0;
    MPI_Test_cancelled(&status, &cancelled);
    part.received.in_any_order = static_cast<unsigned>(cancelled);
    part.pause();
    MPI_Wait(&receiving, &status);
    take(part, in);
    part.pause();
    MPI_Wait(&sending, MPI_STATUS_IGNORE);
}

// The even ranks and the odd ones.
void meet_the_others(Part &part) {
    MPI_Comm half = MPI_COMM_NULL;
    MPI_Comm both = MPI_COMM_NULL;
    MPI_Comm merged = MPI_COMM_NULL;
    MPI_Comm_split(part.comm, part.rank % 2, part.rank, &half);
    part.pause();
    MPI_Intercomm_create(half, 0, part.comm, 1 - part.rank % 2, part.tag(0), &both);
    part.pause();
    int others = 0;
    MPI_Comm_remote_size(both, &others);
    const int count = 1 + part.common.below(50);
    std::vector<int> out(static_cast<size_t>(count));
    std::vector<int> in(static_cast<size_t>(count * others), -1);
    fill(out.data(), count, part.common.next(), part.state);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallgather(out.data(), count, MPI_INT, in.data(), count, MPI_INT, both, &request);
    part.pause();
    MPI_Comm_free(&half);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    take(part, in);
    part.pause();
    MPI_Intercomm_merge(both, part.rank % 2, &merged);
    MPI_Allreduce(MPI_IN_PLACE, in.data(), count, MPI_INT, MPI_BXOR, merged);
    take(part, in);
    MPI_Comm_free(&both);
    part.pause();
    MPI_Comm_free(&merged);
}

// Pairs a, b for x -> a x + b, done one after the other: the ranks' order counts.
void compose(void *in, void *inout, int *count, MPI_Datatype *) {
    const auto *first = static_cast<unsigned *>(in);
    auto *then = static_cast<unsigned *>(inout);
    for (int i = 0; i < *count; ++i, first += 2, then += 2) {
        then[1] += then[0] * first[1];
        then[0] *= first[0];
    }
}

void reduce_by_an_own_operator(Part &part) {
    MPI_Op op = MPI_OP_NULL;
    MPI_Datatype pair = MPI_DATATYPE_NULL;
    MPI_Op_create(compose, 0, &op);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    part.pause();
    std::vector<int> out(40);
    std::vector<int> in(40, -1);
    fill(out.data(), 40, part.common.next() + static_cast<uint64_t>(part.rank), part.state);
    MPI_Allreduce(out.data(), in.data(), 20, pair, op, part.comm);
    take(part, in);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iscan(in.data(), out.data(), 20, pair, op, part.comm, &request);
    part.pause();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Op_free(&op);
    MPI_Type_free(&pair);
    take(part, out);
}

void ask_neighbours(Part &part) {
    MPI_Comm ring = MPI_COMM_NULL;
    const int periodic = part.common.below(2);
    MPI_Cart_create(part.comm, 1, &part.size, &periodic, 0, &ring);
    part.pause();
    const int count = 1 + part.common.below(30);
    std::vector<int> out(static_cast<size_t>(count));
    std::vector<int> in(static_cast<size_t>(2 * count), -1);
    fill(out.data(), count, part.common.next(), part.state);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ineighbor_allgather(out.data(), count, MPI_INT, in.data(), count, MPI_INT, ring, &request);
    part.pause();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    take(part, in);
    MPI_Comm_free(&ring);
}

void use_file(Part &part) {
    int job = getpid();
    MPI_Bcast(&job, 1, MPI_INT, 0, part.comm);
    char name[64];
    std::snprintf(name, sizeof name, "/dev/shm/cd_random.%d", job);
    MPI_File file = MPI_FILE_NULL;
    MPI_File_open(part.comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &file);
    part.pause();
    const int count = 1 + part.common.below(50);
    std::vector<int> out(static_cast<size_t>(count));
    std::vector<int> in(static_cast<size_t>(2 * count), -1);
    fill(out.data(), count, part.common.next() + static_cast<uint64_t>(part.rank), part.state);
    const auto bytes = static_cast<MPI_Offset>(sizeof(int)) * count;
    MPI_Status status = {};
    MPI_File_set_view(file, part.rank * bytes, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_File_write_all(file, out.data(), count, MPI_INT, &status);
    part.pause();
    MPI_Barrier(part.comm);
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_Request request = MPI_REQUEST_NULL;
    const int other = part.common.below(part.size);
    MPI_File_seek(file, static_cast<MPI_Offset>(other) * count, MPI_SEEK_SET);
    MPI_File_iread(file, in.data(), count, MPI_INT, &request);
    part.pause();
    MPI_Wait(&request, &status);
    MPI_File_seek(file, 0, MPI_SEEK_SET);
    part.pause();
    MPI_File_read(file, in.data() + count, count, MPI_INT, &status);
    take(part, in);
    MPI_File_close(&file);
}

} // namespace

void use_objects(Part &part) {
    const int choice = part.common.below(21);
    if (choice < 5) {
        give_up(part);
    } else if (choice < 10) {
        reduce_by_an_own_operator(part);
    } else if (choice < 15) {
        ask_neighbours(part);
    } else if (choice < 20) {
        part.size > 1 ? meet_the_others(part) : give_up(part);
    } else {
        use_file(part);
    }
}

void change_attribute(Part &part) {
    static char values[256];
    const auto look = [&] {
        void *value = nullptr;
        int present = 0;
        MPI_Comm_get_attr(part.comm, part.state.key, &value, &present);
        const auto number =
            present != 0 ? static_cast<uint64_t>(static_cast<char *>(value) - values) : 256;
        part.received.in_any_order = mix(part.received.in_any_order, number);
        return present != 0;
    };
    if (part.state.key == 0) {
        MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &part.state.key, nullptr);
    }
    const bool present = look();
    part.pause();
    if (present && part.common.percent(40)) {
        MPI_Comm_delete_attr(part.comm, part.state.key);
    } else {
        MPI_Comm_set_attr(part.comm, part.state.key, values + part.state.hash % 256);
    }
    part.pause();
    look();
}
