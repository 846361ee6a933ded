// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Blocking point to point.

#include "harness/scenario.h"

#include <cstdlib>

namespace point_to_point {

namespace {

using namespace cd::scenarios;

constexpr int tag = 5;

SCENARIO(send_modes, SIZED(MPI_Send), SIZED(MPI_Ssend), SIZED(MPI_Rsend), SIZED(MPI_Recv)) {
    const auto sent = sequence(6, 100 * run.rank);
    for (int turn = 0; turn < run.size; ++turn) {
        const int receiver = (turn + 1) % run.size;
        if (run.rank == turn) {
            CALL(SIZED(MPI_Send)(sent.data(), 6, MPI_INT, receiver, tag, MPI_COMM_WORLD));
            CALL(SIZED(MPI_Ssend)(sent.data(), 2, MPI_INT, receiver, tag + 1, MPI_COMM_WORLD));
            int ready = 0;
            CALL(SIZED(MPI_Recv)(&ready, 1, MPI_INT, receiver, tag, MPI_COMM_WORLD,
                                 MPI_STATUS_IGNORE));
            run.out.value("ready", ready);
            CALL(SIZED(MPI_Rsend)(sent.data() + 1, 3, MPI_INT, receiver, tag + 2, MPI_COMM_WORLD));
        }
        if (run.rank == receiver) {
            Buffer<int> longer(9);
            Status status;
            CALL(SIZED(MPI_Recv)(longer, 9, MPI_INT, turn, tag, MPI_COMM_WORLD, &status));
            run.out.buffer("longer", longer);
            run.out.status("status", status);
            CALL(SIZED(MPI_Recv)(longer, 2, MPI_INT, MPI_ANY_SOURCE, tag + 1, MPI_COMM_WORLD,
                                 MPI_STATUS_IGNORE));
            run.out.buffer("from anybody", longer);
            Buffer<int> ready(3);
            MPI_Request request = MPI_REQUEST_NULL;
            CALL(MPI_Irecv(ready, 3, MPI_INT, turn, tag + 2, MPI_COMM_WORLD, &request));
            const int go = 7 + run.rank;
            CALL(SIZED(MPI_Send)(&go, 1, MPI_INT, turn, tag, MPI_COMM_WORLD));
            CALL(MPI_Wait(&request, &status));
            run.out.buffer("ready send", ready);
            run.out.status("ready send", status);
        }
    }
}

SCENARIO(large_messages, SIZED(MPI_Send), SIZED(MPI_Recv)) {
    constexpr int count = 100 * 1000;
    const auto sent = sequence<double>(count, run.rank);
    if (run.rank == 0) {
        CALL(SIZED(MPI_Send)(sent.data(), count, MPI_DOUBLE, 1, tag, MPI_COMM_WORLD));
    } else if (run.rank == 1) {
        Buffer<double> received(count + 1);
        Status status;
        CALL(SIZED(MPI_Recv)(received, count + 1, MPI_DOUBLE, 0, MPI_ANY_TAG, MPI_COMM_WORLD,
                             &status));
        run.out.buffer("received", received);
        run.out.status("status", status);
    }
}

SCENARIO(nobody_and_nothing, SIZED(MPI_Send), SIZED(MPI_Recv), SIZED(MPI_Sendrecv),
         SIZED(MPI_Sendrecv_replace)) {
    auto buffer = sequence(4, 1);
    Status status;
    CALL(SIZED(MPI_Send)(buffer, 4, MPI_INT, MPI_PROC_NULL, tag, MPI_COMM_WORLD));
    CALL(SIZED(MPI_Recv)(buffer, 4, MPI_INT, MPI_PROC_NULL, tag, MPI_COMM_WORLD, &status));
    run.out.status("from nobody", status);
    Status exchanged;
    CALL(SIZED(MPI_Sendrecv)(nullptr, 0, MPI_INT, run.next(), tag, nullptr, 0, MPI_INT,
                             run.previous(), tag, MPI_COMM_WORLD, &exchanged));
    run.out.status("nothing", exchanged);
    Status half;
    const bool first = run.rank == 0;
    const bool last = run.rank == run.size - 1;
    CALL(SIZED(MPI_Sendrecv_replace)(buffer, 2, MPI_INT, last ? MPI_PROC_NULL : run.next(), tag,
                                     first ? MPI_PROC_NULL : run.previous(), tag, MPI_COMM_WORLD,
                                     &half));
    run.out.status("half", half);
    run.out.buffer("buffer", buffer);
}

SCENARIO(sendrecv, SIZED(MPI_Sendrecv), SIZED(MPI_Sendrecv_replace)) {
    const auto sent = sequence(5, 10 * run.rank);
    Buffer<int> received(8);
    Status status;
    CALL(SIZED(MPI_Sendrecv)(sent.data(), 5, MPI_INT, run.next(), tag, received, 8, MPI_INT,
                             MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
    run.out.buffer("received", received);
    run.out.status("status", status);
    CALL(SIZED(MPI_Sendrecv_replace)(received, 5, MPI_INT, run.next(), tag, run.previous(), tag,
                                     MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    run.out.buffer("replaced", received);
}

SCENARIO(truncation, SIZED(MPI_Recv)) {
    if (run.rank == 0) {
        const auto sent = sequence(8, 1);
        CALL(SIZED(MPI_Send)(sent.data(), 8, MPI_INT, 1, tag, MPI_COMM_WORLD));
        CALL(SIZED(MPI_Send)(sent.data(), 2, MPI_INT, 1, tag + 1, MPI_COMM_WORLD));
    } else if (run.rank == 1) {
        Buffer<int> received(8);
        RESULT(SIZED(MPI_Recv)(received, 3, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        run.out.buffer("too short", received);
        CALL(SIZED(MPI_Recv)(received, 2, MPI_INT, 0, tag + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        run.out.buffer("afterwards", received);
    }
}

SCENARIO(wrong_arguments, SIZED(MPI_Send), SIZED(MPI_Recv)) {
    Buffer<int> buffer(1);
    RESULT(SIZED(MPI_Send)(buffer, 1, MPI_INT, run.size + 5, tag, MPI_COMM_WORLD));
    RESULT(
        SIZED(MPI_Recv)(buffer, 1, MPI_DATATYPE_NULL, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    run.out.buffer("buffer", buffer);
}

// Who comes first is a choice of each execution.
SCENARIO(anybody, SIZED(MPI_Recv)) {
    if (run.rank != 0) {
        const auto sent = sequence(run.rank, 10 * run.rank);
        CALL(SIZED(MPI_Send)(sent.data(), run.rank, MPI_INT, 0, tag + run.rank, MPI_COMM_WORLD));
        return;
    }
    for (int i = 1; i < run.size; ++i) {
        Buffer<int> received(static_cast<size_t>(run.size));
        Status status;
        CALL(SIZED(MPI_Recv)(received, run.size, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG,
                             MPI_COMM_WORLD, &status));
        run.out.choice("status", static_cast<MPI_Status>(status));
        run.out.choices("received", received.data(), received.count());
    }
}

SCENARIO(buffered, SIZED(MPI_Bsend), SIZED(MPI_Ibsend), SIZED(MPI_Bsend_init),
         SIZED(MPI_Buffer_attach), SIZED(MPI_Buffer_detach)) {
    constexpr int bytes = 4096;
    std::vector<char> attached(bytes);
    const auto sent = sequence(10, 10 * run.rank);
    CALL(SIZED(MPI_Buffer_attach)(attached.data(), bytes));
    CALL(SIZED(MPI_Bsend)(sent.data(), 10, MPI_INT, run.next(), tag, MPI_COMM_WORLD));
    MPI_Request request = MPI_REQUEST_NULL;
    CALL(SIZED(MPI_Ibsend)(sent.data() + 1, 9, MPI_INT, run.next(), tag, MPI_COMM_WORLD, &request));
    CALL(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CALL(SIZED(MPI_Bsend_init)(sent.data() + 2, 8, MPI_INT, run.next(), tag, MPI_COMM_WORLD,
                               &request));
    CALL(MPI_Start(&request));
    CALL(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CALL(MPI_Request_free(&request));
    for (int i = 0; i < 3; ++i) {
        Buffer<int> received(12);
        Status status;
        CALL(MPI_Recv(received, 12, MPI_INT, run.previous(), tag, MPI_COMM_WORLD, &status));
        run.out.buffer("received", received);
        run.out.status("status", status);
    }
    void *detached = nullptr;
    Count size = 0;
    CALL(SIZED(MPI_Buffer_detach)(&detached, &size));
    const bool ours = detached == attached.data();
    run.out.value("the buffer attached", ours);
    run.out.value("its size", size);
}

#if CD_HAS_MPI_Buffer_flush && !defined CD_LARGE_COUNTS
SCENARIO(flushed, MPI_Buffer_flush, MPI_Buffer_iflush) {
    std::vector<char> attached(4096);
    const auto sent = sequence(2, 10 * run.rank);
    CALL(MPI_Buffer_attach(attached.data(), static_cast<int>(attached.size())));
    for (int i = 0; i < 2; ++i) {
        Buffer<int> received(2);
        MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        CALL(MPI_Irecv(received, 2, MPI_INT, run.previous(), tag, MPI_COMM_WORLD, &requests[0]));
        CALL(MPI_Bsend(sent.data(), 2, MPI_INT, run.next(), tag, MPI_COMM_WORLD));
        if (i == 0) {
            CALL(MPI_Buffer_flush());
        } else {
            CALL(MPI_Buffer_iflush(&requests[1]));
        }
        CALL(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        run.out.buffer("received", received);
    }
    void *detached = nullptr;
    int size = 0;
    CALL(MPI_Buffer_detach(&detached, &size));
}
#endif

} // namespace

} // namespace point_to_point
