// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// The Wait and Test family, and what else is done with requests.

#include "harness/scenario.h"

namespace completion {

namespace {

using namespace cd::scenarios;

constexpr int tag = 21;

// Each rank receives count messages of different lengths from the previous one.
struct Traffic {
    explicit Traffic(int count)
        : sent(sequence(count, 0)), requests(2 * count), received(count, Buffer<int>(count + 1)) {}

    void start(Run &run) {
        const int count = static_cast<int>(received.size());
        for (int i = 0; i < count; ++i) {
            sent[i] = 100 * run.rank + i;
        }
        for (int i = 0; i < count; ++i) {
            CALL(MPI_Irecv(received[i], count + 1, MPI_INT, run.previous(), tag + i, MPI_COMM_WORLD,
                           &requests[i]));
        }
        for (int i = 0; i < count; ++i) {
            CALL(MPI_Isend(sent.data(), i + 1, MPI_INT, run.next(), tag + i, MPI_COMM_WORLD,
                           &requests[count + i]));
        }
    }
    void show(Run &run) const {
        for (const Buffer<int> &buffer : received) {
            run.out.buffer("received", buffer);
        }
        for (const MPI_Request &request : requests) {
            run.out.value("null", request == MPI_REQUEST_NULL);
        }
    }
    int count() const { return static_cast<int>(requests.size()); }

    Buffer<int> sent;
    std::vector<MPI_Request> requests;
    std::vector<Buffer<int>> received;
};

void check_success(int result) {
    if (result != MPI_SUCCESS) {
        throw Failure("a completing call failed");
    }
}

SCENARIO(wait, MPI_Wait) {
    Traffic traffic(3);
    traffic.start(run);
    for (int i = 0; i < traffic.count(); ++i) {
        Status status;
        CALL(MPI_Wait(&traffic.requests[i], i == 1 ? MPI_STATUS_IGNORE : &status));
        if (i < 3) {
            run.out.status("status", status);
        }
    }
    traffic.show(run);
    Status empty;
    CALL(MPI_Wait(&traffic.requests[0], &empty));
    run.out.status("of a null request", empty);
    CALL(MPI_Wait(&traffic.requests[0], MPI_STATUS_IGNORE));
}

SCENARIO(test, MPI_Test) {
    Traffic traffic(3);
    traffic.start(run);
    for (int i = 0; i < traffic.count(); ++i) {
        Status status;
        int done = 0;
        int polls = 0;
        while (done == 0) {
            check_success(
                MPI_Test(&traffic.requests[i], &done, i == 1 ? MPI_STATUS_IGNORE : &status));
            ++polls;
        }
        run.out.choice("polls", polls);
        if (i < 3) {
            run.out.status("status", status);
        }
    }
    traffic.show(run);
    Status empty;
    int flag = -1;
    CALL(MPI_Test(&traffic.requests[0], &flag, &empty));
    run.out.value("flag", flag);
    run.out.status("of a null request", empty);
}

SCENARIO(test_that_finds_nothing, MPI_Test, MPI_Testall, MPI_Testany, MPI_Testsome) {
    Buffer<int> received(1);
    MPI_Request request = MPI_REQUEST_NULL;
    CALL(MPI_Irecv(received, 1, MPI_INT, run.previous(), tag, MPI_COMM_WORLD, &request));
    // Nobody sends before everybody has looked.
    Status status;
    int flag = -1;
    int index = -7;
    int indices[1] = {-7};
    CALL(MPI_Test(&request, &flag, &status));
    run.out.value("test", flag);
    CALL(MPI_Testany(1, &request, &index, &flag, &status));
    run.out.value("testany", flag);
    run.out.value("testany", index);
    CALL(MPI_Testall(1, &request, &flag, MPI_STATUSES_IGNORE));
    run.out.value("testall", flag);
    CALL(MPI_Testsome(1, &request, &index, indices, MPI_STATUSES_IGNORE));
    run.out.value("testsome", index);
    run.out.value("testsome", indices);
    run.out.choice("status", static_cast<MPI_Status>(status));
    run.out.value("still there", request != MPI_REQUEST_NULL);
    CALL(MPI_Barrier(MPI_COMM_WORLD));
    const int sent = run.rank;
    CALL(MPI_Send(&sent, 1, MPI_INT, run.next(), tag, MPI_COMM_WORLD));
    CALL(MPI_Wait(&request, MPI_STATUS_IGNORE));
    run.out.buffer("received", received);
}

SCENARIO(waitany, MPI_Waitany) {
    for (const bool ignore : {false, true}) {
        Traffic traffic(4);
        traffic.start(run);
        for (int i = 0; i < traffic.count(); ++i) {
            Status status;
            int index = -1;
            CALL(MPI_Waitany(traffic.count(), traffic.requests.data(), &index,
                             ignore ? MPI_STATUS_IGNORE : &status));
            run.out.choice("index", index);
            run.out.choice("status", static_cast<MPI_Status>(status));
        }
        traffic.show(run);
        Status empty;
        int index = -1;
        CALL(MPI_Waitany(traffic.count(), traffic.requests.data(), &index, &empty));
        run.out.value("nothing left", index == MPI_UNDEFINED);
        run.out.status("empty", empty);
    }
}

SCENARIO(testany, MPI_Testany) {
    Traffic traffic(4);
    traffic.start(run);
    for (int done = 0; done < traffic.count();) {
        Status status;
        int index = -1;
        int flag = -1;
        int polls = 0;
        do {
            check_success(MPI_Testany(traffic.count(), traffic.requests.data(), &index, &flag,
                                      done % 2 == 0 ? &status : MPI_STATUS_IGNORE));
            ++polls;
        } while (flag == 0);
        ++done;
        run.out.choice("polls", polls);
        run.out.choice("index", index);
        run.out.choice("status", static_cast<MPI_Status>(status));
    }
    traffic.show(run);
    int index = -1;
    int flag = -1;
    CALL(MPI_Testany(traffic.count(), traffic.requests.data(), &index, &flag, MPI_STATUS_IGNORE));
    run.out.value("nothing left", index == MPI_UNDEFINED);
    run.out.value("flag", flag);
}

SCENARIO(waitall, MPI_Waitall) {
    for (const bool ignore : {false, true}) {
        Traffic traffic(3);
        traffic.start(run);
        traffic.requests.insert(traffic.requests.begin() + 1, MPI_REQUEST_NULL);
        auto completed = statuses(traffic.requests.size());
        CALL(MPI_Waitall(traffic.count(), traffic.requests.data(),
                         ignore ? MPI_STATUSES_IGNORE : completed.data()));
        traffic.show(run);
        completed.resize(4); // what sends leave in a status is undefined
        run.out.statuses("statuses", completed);
    }
    CALL(MPI_Waitall(0, nullptr, MPI_STATUSES_IGNORE));
}

SCENARIO(testall, MPI_Testall) {
    for (const bool ignore : {false, true}) {
        Traffic traffic(3);
        traffic.start(run);
        auto completed = statuses(traffic.requests.size());
        int flag = 0;
        int polls = 0;
        while (flag == 0) {
            check_success(MPI_Testall(traffic.count(), traffic.requests.data(), &flag,
                                      ignore ? MPI_STATUSES_IGNORE : completed.data()));
            ++polls;
        }
        run.out.choice("polls", polls);
        traffic.show(run);
        completed.resize(3);
        run.out.statuses("statuses", completed);
    }
}

SCENARIO(waitsome, MPI_Waitsome) {
    for (const bool ignore : {false, true}) {
        Traffic traffic(4);
        traffic.start(run);
        std::vector<int> order;
        std::vector<MPI_Status> seen;
        for (int done = 0; done < traffic.count();) {
            auto completed = statuses(traffic.requests.size());
            std::vector<int> indices(traffic.requests.size(), -7);
            int some = -1;
            check_success(MPI_Waitsome(traffic.count(), traffic.requests.data(), &some,
                                       indices.data(),
                                       ignore ? MPI_STATUSES_IGNORE : completed.data()));
            order.push_back(some);
            order.insert(order.end(), indices.begin(), indices.begin() + some);
            seen.insert(seen.end(), completed.begin(), completed.begin() + some);
            done += some;
        }
        run.out.choices("order", order.data(), order.size());
        run.out.choices("statuses", seen.data(), seen.size());
        traffic.show(run);
        int some = -1;
        int none[8];
        CALL(MPI_Waitsome(traffic.count(), traffic.requests.data(), &some, none,
                          MPI_STATUSES_IGNORE));
        run.out.value("nothing left", some == MPI_UNDEFINED);
    }
}

SCENARIO(testsome, MPI_Testsome) {
    Traffic traffic(4);
    traffic.start(run);
    std::vector<int> order;
    std::vector<MPI_Status> seen;
    for (int done = 0; done < traffic.count();) {
        auto completed = statuses(traffic.requests.size());
        std::vector<int> indices(traffic.requests.size(), -7);
        int some = -1;
        check_success(MPI_Testsome(traffic.count(), traffic.requests.data(), &some, indices.data(),
                                   completed.data()));
        order.push_back(some);
        order.insert(order.end(), indices.begin(), indices.begin() + some);
        seen.insert(seen.end(), completed.begin(), completed.begin() + some);
        done += some;
    }
    run.out.choices("order", order.data(), order.size());
    run.out.choices("statuses", seen.data(), seen.size());
    traffic.show(run);
}

SCENARIO(errors_in_statuses, MPI_Waitall, MPI_Waitany, MPI_Wait) {
    const auto sent = sequence(4, 10 * run.rank);
    std::vector<Buffer<int>> received(4, Buffer<int>(4));
    MPI_Request requests[4];
    for (int i = 0; i < 4; ++i) {
        const int length = i == 1 ? 4 : 2; // the others are too short
        CALL(MPI_Irecv(received[i], length, MPI_INT, run.previous(), tag + i, MPI_COMM_WORLD,
                       &requests[i]));
    }
    CALL(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < 4; ++i) {
        CALL(MPI_Send(sent.data(), 4, MPI_INT, run.next(), tag + i, MPI_COMM_WORLD));
    }
    auto completed = statuses(2);
#ifdef OPEN_MPI // 4.1.4 waits forever if another request than the last has failed
    RESULT(MPI_Wait(&requests[0], &completed[0]));
    RESULT(MPI_Waitall(1, &requests[1], &completed[1]));
#else
    RESULT(MPI_Waitall(2, requests, completed.data()));
#endif
    for (int i = 0; i < 2; ++i) {
        run.out.choice("status", static_cast<MPI_Status>(completed[i]));
        run.out.buffer("received", received[i]);
        run.out.value("null", requests[i] == MPI_REQUEST_NULL);
    }
    int index = -1;
    RESULT(MPI_Waitany(1, &requests[2], &index, MPI_STATUS_IGNORE));
    RESULT(MPI_Wait(&requests[3], MPI_STATUS_IGNORE));
    run.out.buffer("received", received[2]);
    run.out.buffer("received", received[3]);
    CALL(MPI_Barrier(MPI_COMM_WORLD));
}

SCENARIO(request_get_status, MPI_Request_get_status) {
    Buffer<int> received(2);
    const auto sent = sequence(2, 5 * run.rank);
    MPI_Request request = MPI_REQUEST_NULL;
    Status status;
    int flag = -1;
    CALL(MPI_Request_get_status(request, &flag, &status));
    run.out.value("null", flag);
    run.out.status("of a null request", status);
    CALL(MPI_Irecv(received, 2, MPI_INT, run.previous(), tag, MPI_COMM_WORLD, &request));
    CALL(MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE));
    run.out.value("not yet", flag);
    CALL(MPI_Barrier(MPI_COMM_WORLD));
    CALL(MPI_Send(sent.data(), 2, MPI_INT, run.next(), tag, MPI_COMM_WORLD));
    int polls = 0;
    do {
        check_success(MPI_Request_get_status(request, &flag, &status));
        ++polls;
    } while (flag == 0);
    run.out.choice("polls", polls);
    run.out.status("complete", status);
    run.out.buffer("received", received);
    run.out.value("still there", request != MPI_REQUEST_NULL);
    CALL(MPI_Wait(&request, &status));
    run.out.status("waited for", status);
}

#if CD_HAS_MPI_Request_get_status_any
SCENARIO(request_get_status_of_many, MPI_Request_get_status_any, MPI_Request_get_status_all,
         MPI_Request_get_status_some) {
    Buffer<int> received[3] = {Buffer<int>(2), Buffer<int>(2), Buffer<int>(2)};
    const auto sent = sequence(2, 5 * run.rank);
    MPI_Request requests[4] = {};
    requests[3] = MPI_REQUEST_NULL;
    for (int i = 0; i < 3; ++i) {
        CALL(MPI_Irecv(received[i], 2, MPI_INT, run.previous(), tag + i, MPI_COMM_WORLD,
                       &requests[i]));
    }
    auto seen = statuses(4);
    int flag = -1;
    int index = -1;
    int indices[4] = {};
    CALL(MPI_Request_get_status_any(1, &requests[3], &index, &flag, &seen[0]));
    run.out.value("none", index == MPI_UNDEFINED && flag != 0);
    CALL(MPI_Request_get_status_all(4, requests, &flag, seen.data()));
    run.out.value("not yet", flag);
    CALL(MPI_Barrier(MPI_COMM_WORLD));
    CALL(MPI_Send(sent.data(), 2, MPI_INT, run.next(), tag + 1, MPI_COMM_WORLD));
    do {
        check_success(MPI_Request_get_status_any(4, requests, &index, &flag, &seen[0]));
    } while (flag == 0);
    run.out.value("any", index);
    run.out.status("any", seen[0]);
    run.out.buffer("received", received[1]);
    int count = 0;
    CALL(MPI_Request_get_status_some(4, requests, &count, indices, seen.data()));
    run.out.value("some", count);
    run.out.values("indices", indices, 1);
    run.out.status("some", seen[0]);
    CALL(MPI_Barrier(MPI_COMM_WORLD));
    CALL(MPI_Send(sent.data(), 1, MPI_INT, run.next(), tag, MPI_COMM_WORLD));
    CALL(MPI_Send(sent.data(), 2, MPI_INT, run.next(), tag + 2, MPI_COMM_WORLD));
    do {
        check_success(MPI_Request_get_status_all(4, requests, &flag, seen.data()));
    } while (flag == 0);
    for (int i = 0; i < 3; ++i) {
        run.out.status("all", seen[static_cast<size_t>(i)]);
        run.out.buffer("received", received[i]);
    }
    CALL(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
    CALL(MPI_Request_get_status_some(4, requests, &count, indices, MPI_STATUSES_IGNORE));
    run.out.value("all are null", count == MPI_UNDEFINED);
}
#endif

SCENARIO(cancel, MPI_Cancel) {
    Buffer<int> received(2);
    MPI_Request request = MPI_REQUEST_NULL;
    CALL(MPI_Irecv(received, 2, MPI_INT, run.previous(), tag, MPI_COMM_WORLD, &request));
    CALL(MPI_Cancel(&request));
    Status status;
    CALL(MPI_Wait(&request, &status));
    int cancelled = -1;
    CALL(MPI_Test_cancelled(&status, &cancelled));
    run.out.value("cancelled", cancelled);
    run.out.choice("status", static_cast<MPI_Status>(status));
    run.out.buffer("received", received);
    // The message is for the next receive.
    CALL(MPI_Barrier(MPI_COMM_WORLD));
    const int sent[2] = {run.rank, 1};
    CALL(MPI_Sendrecv(sent, 2, MPI_INT, run.next(), tag, received, 2, MPI_INT, run.previous(), tag,
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    run.out.buffer("received", received);
}

SCENARIO(request_free, MPI_Request_free) {
    const int sent = run.rank;
    int received = -1;
    MPI_Request request = MPI_REQUEST_NULL;
    CALL(MPI_Isend(&sent, 1, MPI_INT, run.next(), tag, MPI_COMM_WORLD, &request));
    CALL(MPI_Request_free(&request));
    run.out.value("null", request == MPI_REQUEST_NULL);
    CALL(MPI_Recv(&received, 1, MPI_INT, run.previous(), tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    run.out.value("received", received);
}

struct Generalized {
    int queried = 0;
    int freed = 0;
    int cancelled = 0;
};

int query(void *state, MPI_Status *status) {
    static_cast<Generalized *>(state)->queried++;
    MPI_Status_set_elements(status, MPI_INT, 3);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = 4;
    status->MPI_TAG = 5;
    return MPI_SUCCESS;
}
int release(void *state) {
    static_cast<Generalized *>(state)->freed++;
    return MPI_SUCCESS;
}
int cancel(void *state, int) {
    static_cast<Generalized *>(state)->cancelled++;
    return MPI_SUCCESS;
}

SCENARIO(generalized, MPI_Grequest_start, MPI_Grequest_complete) {
    // A re-execution need not call the functions: only what MPI tells counts.
    static Generalized state;
    MPI_Request request = MPI_REQUEST_NULL;
    CALL(MPI_Grequest_start(query, release, cancel, &state, &request));
    int flag = -1;
    CALL(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
    run.out.value("not yet", flag);
    CALL(MPI_Grequest_complete(request));
    Status status;
    CALL(MPI_Wait(&request, &status));
    run.out.status("status", status);
    run.out.value("null", request == MPI_REQUEST_NULL);
}

#if CD_HAS_MPIX_Grequest_start
REFUSAL(refused_grequest_start, MPIX_Grequest_start, nullptr, nullptr, nullptr, nullptr, nullptr,
        nullptr, nullptr)
REFUSAL(refused_grequest_class_create, MPIX_Grequest_class_create, nullptr, nullptr, nullptr,
        nullptr, nullptr, nullptr)
REFUSAL(refused_grequest_class_allocate, MPIX_Grequest_class_allocate, 0, nullptr, nullptr)
#endif

} // namespace

} // namespace completion
