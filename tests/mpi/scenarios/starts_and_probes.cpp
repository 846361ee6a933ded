// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Starting sends and receives, and probing for messages.

#include "harness/scenario.h"

namespace starts_and_probes {

namespace {

using namespace cd::scenarios;

constexpr int tag = 9;

SCENARIO(isend_modes, SIZED(MPI_Isend), SIZED(MPI_Issend), SIZED(MPI_Irsend), SIZED(MPI_Irecv)) {
    const auto sent = sequence(6, 100 * run.rank);
    std::vector<Buffer<int>> received(3, Buffer<int>(7));
    MPI_Request requests[6];
    for (int i = 0; i < 3; ++i) {
        CALL(SIZED(MPI_Irecv)(received[i], 7, MPI_INT, run.previous(), tag + i, MPI_COMM_WORLD,
                              &requests[i]));
    }
    CALL(MPI_Barrier(MPI_COMM_WORLD));
    CALL(SIZED(MPI_Irsend)(sent.data(), 6, MPI_INT, run.next(), tag, MPI_COMM_WORLD, &requests[3]));
    CALL(SIZED(MPI_Isend)(sent.data(), 5, MPI_INT, run.next(), tag + 1, MPI_COMM_WORLD,
                          &requests[4]));
    CALL(SIZED(MPI_Issend)(sent.data(), 4, MPI_INT, run.next(), tag + 2, MPI_COMM_WORLD,
                           &requests[5]));
    auto completed = statuses(6);
    CALL(MPI_Waitall(6, requests, completed.data()));
    for (int i = 0; i < 3; ++i) {
        run.out.buffer("received", received[i]);
        run.out.status("status", completed[i]);
    }
    for (const MPI_Request &request : requests) {
        run.out.value("null", request == MPI_REQUEST_NULL);
    }
}

SCENARIO(large_isend, SIZED(MPI_Isend), SIZED(MPI_Irecv)) {
    constexpr int count = 50 * 1000;
    auto sent = sequence<double>(count, run.rank);
    Buffer<double> received(count);
    MPI_Request requests[2];
    CALL(SIZED(MPI_Isend)(sent.data(), count, MPI_DOUBLE, run.next(), tag, MPI_COMM_WORLD,
                          &requests[0]));
    CALL(SIZED(MPI_Irecv)(received, count, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                          &requests[1]));
    auto completed = statuses(2);
    CALL(MPI_Waitall(2, requests, completed.data()));
    run.out.buffer("received", received);
    run.out.status("status", completed[1]);
}

SCENARIO(nobody, SIZED(MPI_Isend), SIZED(MPI_Irecv)) {
    Buffer<int> buffer(3);
    MPI_Request request = MPI_REQUEST_NULL;
    Status status;
    CALL(SIZED(MPI_Irecv)(buffer, 3, MPI_INT, MPI_PROC_NULL, tag, MPI_COMM_WORLD, &request));
    CALL(MPI_Wait(&request, &status));
    run.out.status("from nobody", status);
    CALL(SIZED(MPI_Isend)(buffer, 3, MPI_INT, MPI_PROC_NULL, tag, MPI_COMM_WORLD, &request));
    CALL(MPI_Wait(&request, MPI_STATUS_IGNORE));
    run.out.buffer("buffer", buffer);
}

#ifdef CD_HAS_MPI_Isendrecv // with MPI_PROC_NULL MPICH 4.0.2 crashes
SCENARIO(isendrecv, SIZED(MPI_Isendrecv), SIZED(MPI_Isendrecv_replace)) {
    constexpr int count = 30 * 1000;
    auto sent = sequence(count, 100 * run.rank);
    Buffer<int> received(count + 1);
    auto replaced = sequence(6, 1000 * run.rank);
    MPI_Request requests[2];
    CALL(SIZED(MPI_Isendrecv)(sent.data(), count, MPI_INT, run.next(), tag, received, count + 1,
                              MPI_INT, run.previous(), tag, MPI_COMM_WORLD, &requests[0]));
    CALL(SIZED(MPI_Isendrecv_replace)(replaced.data(), 6, MPI_INT, run.next(), tag + 1,
                                      MPI_ANY_SOURCE, tag + 1, MPI_COMM_WORLD, &requests[1]));
    auto completed = statuses(2);
    CALL(MPI_Waitall(2, requests, completed.data()));
    run.out.buffer("received", received);
    run.out.buffer("replaced", replaced);
    run.out.choices("statuses", completed.data(), 2); // MPICH 4.0.2 leaves them as they come
}
#endif

// Messages on one communicator with one tag do not overtake each other.
SCENARIO(order, SIZED(MPI_Isend), SIZED(MPI_Irecv)) {
    constexpr int count = 8;
    std::vector<MPI_Request> requests(2 * count);
    auto sent = sequence(count, 10 * run.rank);
    Buffer<int> received(count);
    for (int i = 0; i < count; ++i) {
        CALL(SIZED(MPI_Isend)(sent.data() + i, 1, MPI_INT, run.next(), tag, MPI_COMM_WORLD,
                              &requests[i]));
    }
    for (int i = 0; i < count; ++i) {
        CALL(SIZED(MPI_Irecv)(received.data() + i, 1, MPI_INT, run.previous(), tag, MPI_COMM_WORLD,
                              &requests[count + i]));
    }
    for (int i = 2 * count - 1; i >= 0; --i) {
        CALL(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
    }
    run.out.buffer("received", received);
}

SCENARIO(probe, MPI_Probe, MPI_Iprobe) {
    auto sent = sequence(3, run.rank);
    MPI_Request request = MPI_REQUEST_NULL;
    CALL(MPI_Isend(sent.data(), 3, MPI_INT, run.next(), tag, MPI_COMM_WORLD, &request));
    Status status;
    CALL(MPI_Probe(run.previous(), MPI_ANY_TAG, MPI_COMM_WORLD, &status));
    run.out.status("probed", status);
    CALL(MPI_Probe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    int flag = -1;
    Status again;
    CALL(MPI_Iprobe(run.previous(), tag, MPI_COMM_WORLD, &flag, &again));
    run.out.value("flag", flag);
    run.out.status("probed again", again);
    CALL(MPI_Iprobe(run.previous(), tag, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    run.out.value("flag", flag);
    Buffer<int> received(3);
    CALL(SIZED(MPI_Recv)(received, 3, MPI_INT, run.previous(), tag, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE));
    run.out.buffer("received", received);
    CALL(MPI_Wait(&request, MPI_STATUS_IGNORE));
    Status nothing;
    CALL(MPI_Iprobe(MPI_ANY_SOURCE, tag + 1, MPI_COMM_WORLD, &flag, &nothing));
    run.out.value("nothing", flag);
    run.out.choice("no status", static_cast<MPI_Status>(nothing));
    Status nobody;
    CALL(MPI_Iprobe(MPI_PROC_NULL, tag, MPI_COMM_WORLD, &flag, &nobody));
    run.out.value("nobody", flag);
    run.out.status("from nobody", nobody);
}

SCENARIO(polling, MPI_Iprobe) {
    auto sent = sequence(1, run.rank);
    int found = 0;
    int polls = 0;
    if (run.rank != 0) {
        CALL(MPI_Recv(nullptr, 0, MPI_INT, 0, tag + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CALL(MPI_Send(sent.data(), 1, MPI_INT, 0, tag, MPI_COMM_WORLD));
        return;
    }
    for (int i = 0; i < 5; ++i) {
        CALL(MPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE));
        run.out.value("not yet", found);
    }
    for (int source = 1; source < run.size; ++source) {
        CALL(MPI_Send(nullptr, 0, MPI_INT, source, tag + 1, MPI_COMM_WORLD));
        Status status;
        do {
            ++polls;
            const int result = MPI_Iprobe(source, tag, MPI_COMM_WORLD, &found, &status);
            if (result != MPI_SUCCESS) {
                throw Failure("MPI_Iprobe");
            }
        } while (found == 0);
        run.out.choice("polls", polls);
        run.out.status("found", status);
        int value = -1;
        CALL(MPI_Recv(&value, 1, MPI_INT, source, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        run.out.value("value", value);
    }
}

SCENARIO(matched_probe, MPI_Mprobe, SIZED(MPI_Mrecv), SIZED(MPI_Imrecv)) {
    auto sent = sequence(4, run.rank);
    MPI_Request requests[2];
    CALL(MPI_Isend(sent.data(), 4, MPI_INT, run.next(), tag, MPI_COMM_WORLD, &requests[0]));
    CALL(MPI_Isend(sent.data(), 3, MPI_INT, run.next(), tag + 1, MPI_COMM_WORLD, &requests[1]));
    MPI_Message message = MPI_MESSAGE_NULL;
    Status status;
    CALL(MPI_Mprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &message, &status));
    run.out.status("probed", status);
    run.out.choice("message", message);
    Buffer<int> received(5);
    Status arrived;
    CALL(SIZED(MPI_Mrecv)(received, 5, MPI_INT, &message, &arrived));
    run.out.status("received", arrived);
    run.out.buffer("received", received);
    run.out.value("gone", message == MPI_MESSAGE_NULL);

    CALL(MPI_Mprobe(run.previous(), tag + 1, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE));
    MPI_Request request = MPI_REQUEST_NULL;
    Buffer<int> later(5);
    CALL(SIZED(MPI_Imrecv)(later, 5, MPI_INT, &message, &request));
    run.out.value("gone", message == MPI_MESSAGE_NULL);
    Status completed;
    CALL(MPI_Wait(&request, &completed));
    run.out.status("completed", completed);
    run.out.buffer("later", later);
    CALL(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));

    CALL(MPI_Mprobe(MPI_PROC_NULL, tag, MPI_COMM_WORLD, &message, &status));
    run.out.value("no process", message == MPI_MESSAGE_NO_PROC);
    CALL(SIZED(MPI_Mrecv)(received, 5, MPI_INT, &message, &arrived));
    run.out.status("from nobody", arrived);
    run.out.buffer("received", received);
}

SCENARIO(improbe, MPI_Improbe, SIZED(MPI_Mrecv)) {
    auto sent = sequence(2, run.rank);
    MPI_Message message = MPI_MESSAGE_NULL;
    int flag = -1;
    CALL(MPI_Improbe(MPI_ANY_SOURCE, tag + 3, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE));
    run.out.value("nothing", flag);
    MPI_Request request = MPI_REQUEST_NULL;
    CALL(MPI_Isend(sent.data(), 2, MPI_INT, run.next(), tag, MPI_COMM_WORLD, &request));
    CALL(MPI_Probe(run.previous(), tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    Status status;
    CALL(MPI_Improbe(run.previous(), tag, MPI_COMM_WORLD, &flag, &message, &status));
    run.out.value("flag", flag);
    run.out.status("status", status);
    Buffer<int> received(2);
    CALL(SIZED(MPI_Mrecv)(received, 2, MPI_INT, &message, MPI_STATUS_IGNORE));
    run.out.buffer("received", received);
    CALL(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

} // namespace

} // namespace starts_and_probes
