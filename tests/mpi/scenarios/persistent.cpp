// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Persistent requests.

#include "harness/scenario.h"

namespace persistent {

namespace {

using namespace cd::scenarios;

constexpr int tag = 33;

// Sends twice with a request that init makes; both buffers change in between.
template <typename Init> void send_twice(Run &run, bool ready, const Init &init) {
    auto sent = sequence(4, 10 * run.rank);
    Buffer<int> received(6);
    MPI_Request requests[2];
    CALL(SIZED(MPI_Recv_init)(received, 6, MPI_INT, run.previous(), tag, MPI_COMM_WORLD,
                              &requests[0]));
    CALL(init(sent.data(), &requests[1]));
    run.out.choices("requests", requests, 2);
    for (int round = 0; round < 2; ++round) {
        sent[0] = 1000 * round + run.rank;
        CALL(MPI_Start(&requests[0]));
        if (ready) {
            CALL(MPI_Barrier(MPI_COMM_WORLD));
        }
        CALL(MPI_Start(&requests[1]));
        auto completed = statuses(2);
        CALL(MPI_Waitall(2, requests, completed.data()));
        run.out.status("status", completed[0]);
        run.out.buffer("received", received);
        run.out.value("still there", requests[0] != MPI_REQUEST_NULL);
    }
    CALL(MPI_Request_free(&requests[0]));
    CALL(MPI_Request_free(&requests[1]));
    run.out.value("null", requests[0] == MPI_REQUEST_NULL);
}

SCENARIO(send_init, SIZED(MPI_Send_init), SIZED(MPI_Recv_init), MPI_Start, MPI_Request_free) {
    send_twice(run, false, [&](const int *sent, MPI_Request *request) {
        return SIZED(MPI_Send_init)(sent, 4, MPI_INT, run.next(), tag, MPI_COMM_WORLD, request);
    });
}

SCENARIO(ssend_init, SIZED(MPI_Ssend_init)) {
    send_twice(run, false, [&](const int *sent, MPI_Request *request) {
        return SIZED(MPI_Ssend_init)(sent, 3, MPI_INT, run.next(), tag, MPI_COMM_WORLD, request);
    });
}

SCENARIO(rsend_init, SIZED(MPI_Rsend_init)) {
    send_twice(run, true, [&](const int *sent, MPI_Request *request) {
        return SIZED(MPI_Rsend_init)(sent, 2, MPI_INT, run.next(), tag, MPI_COMM_WORLD, request);
    });
}

#if defined CD_HAS_MPI_Psend_init && !defined CD_OPEN_MPI_5
#ifndef CD_LARGE_COUNTS
// The parts get ready in several ways, and are asked for in between.
SCENARIO(partitioned, MPI_Psend_init, MPI_Precv_init, MPI_Pready, MPI_Pready_range, MPI_Pready_list,
         MPI_Parrived) {
    constexpr int parts = 6;
    constexpr int count = 2 * 1000;
    auto sent = sequence(parts * count, 10 * run.rank);
    Buffer<int> received(parts * count + 1);
    MPI_Request requests[2];
    CALL(MPI_Precv_init(received, parts / 2, 2 * count, MPI_INT, run.previous(), tag,
                        MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]));
    CALL(MPI_Psend_init(sent.data(), parts, count, MPI_INT, run.next(), tag, MPI_COMM_WORLD,
                        MPI_INFO_NULL, &requests[1]));
    for (int round = 0; round < 2; ++round) {
        CALL(MPI_Startall(2, requests));
        sent[0] = 1000 * round + run.rank;
        CALL(MPI_Pready(0, requests[1]));
        int flag = -1;
        CALL(MPI_Parrived(requests[0], 1, &flag));
        run.out.value("not yet", flag);
        sent[count] = 2000 * round + run.rank;
        CALL(MPI_Pready_range(1, 3, requests[1]));
        int last[] = {5, 4};
        CALL(MPI_Pready_list(2, last, requests[1]));
        while (flag == 0) {
            if (MPI_Parrived(requests[0], 0, &flag) != MPI_SUCCESS) {
                throw Failure("MPI_Parrived");
            }
        }
        run.out.value("first", received[0]);
        run.out.value("of the second half", received[count]);
        auto completed = statuses(2);
        CALL(MPI_Waitall(2, requests, completed.data()));
        run.out.status("status", completed[0]);
        run.out.buffer("received", received);
    }
    CALL(MPI_Request_free(&requests[0]));
    CALL(MPI_Request_free(&requests[1]));
}
#endif
#endif

SCENARIO(startall, MPI_Startall, MPI_Testall) {
    auto sent = sequence(6, 10 * run.rank);
    std::vector<Buffer<int>> received(3, Buffer<int>(2));
    MPI_Request requests[6];
    for (int i = 0; i < 3; ++i) {
        CALL(SIZED(MPI_Recv_init)(received[i], 2, MPI_INT, MPI_ANY_SOURCE, tag + i, MPI_COMM_WORLD,
                                  &requests[i]));
        CALL(SIZED(MPI_Send_init)(sent.data() + i, 2, MPI_INT, run.next(), tag + i, MPI_COMM_WORLD,
                                  &requests[3 + i]));
    }
    for (int round = 0; round < 3; ++round) {
        CALL(MPI_Startall(6, requests));
        auto completed = statuses(6);
        if (round == 1) {
            int flag = 0;
            while (flag == 0) {
                if (MPI_Testall(6, requests, &flag, completed.data()) != MPI_SUCCESS) {
                    throw Failure("MPI_Testall");
                }
            }
        } else {
            CALL(MPI_Waitall(6, requests, completed.data()));
        }
        for (int i = 0; i < 3; ++i) {
            run.out.status("status", completed[i]);
            run.out.buffer("received", received[i]);
        }
    }
    for (MPI_Request &request : requests) {
        CALL(MPI_Request_free(&request));
    }
}

SCENARIO(inactive, MPI_Wait, MPI_Waitany, MPI_Testsome) {
    Buffer<int> received(1);
    MPI_Request request = MPI_REQUEST_NULL;
    CALL(SIZED(MPI_Recv_init)(received, 1, MPI_INT, run.previous(), tag, MPI_COMM_WORLD, &request));
    Status status;
    CALL(MPI_Wait(&request, &status));
    run.out.status("of an inactive request", status);
    int flag = -1;
    Status tested;
    CALL(MPI_Test(&request, &flag, &tested));
    run.out.value("flag", flag);
    run.out.status("of an inactive request", tested);
    int index = -1;
    CALL(MPI_Waitany(1, &request, &index, MPI_STATUS_IGNORE));
    run.out.value("nothing active", index == MPI_UNDEFINED);
    int indices[1] = {-7};
    CALL(MPI_Testsome(1, &request, &index, indices, MPI_STATUSES_IGNORE));
    run.out.value("nothing active", index == MPI_UNDEFINED);
    CALL(MPI_Request_free(&request));
}

SCENARIO(nobody, SIZED(MPI_Recv_init)) {
    Buffer<int> received(1);
    MPI_Request request = MPI_REQUEST_NULL;
    CALL(SIZED(MPI_Recv_init)(received, 1, MPI_INT, MPI_PROC_NULL, tag, MPI_COMM_WORLD, &request));
    CALL(MPI_Start(&request));
    Status status;
    CALL(MPI_Wait(&request, &status));
    run.out.status("from nobody", status);
    run.out.buffer("received", received);
    CALL(MPI_Request_free(&request));
}

SCENARIO(cancelled, MPI_Cancel) {
    Buffer<int> received(1);
    MPI_Request request = MPI_REQUEST_NULL;
    CALL(SIZED(MPI_Recv_init)(received, 1, MPI_INT, run.previous(), tag, MPI_COMM_WORLD, &request));
    CALL(MPI_Start(&request));
    CALL(MPI_Cancel(&request));
    Status status;
    CALL(MPI_Wait(&request, &status));
    int is = -1;
    CALL(MPI_Test_cancelled(&status, &is));
    run.out.value("cancelled", is);
    const int sent = run.rank;
    CALL(MPI_Barrier(MPI_COMM_WORLD));
    CALL(MPI_Start(&request));
    CALL(MPI_Send(&sent, 1, MPI_INT, run.next(), tag, MPI_COMM_WORLD));
    CALL(MPI_Wait(&request, MPI_STATUS_IGNORE));
    run.out.buffer("received", received);
    CALL(MPI_Request_free(&request));
}

} // namespace

} // namespace persistent
