// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// What calls write into the statuses that they are given, and what they leave as it was.
#include "hazard.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <string>

namespace statuses {

namespace {

constexpr int poison = 0xA5;

// Gives statuses full of a poison, and keeps what becomes of them.
class Poisoned {
public:
    explicit Poisoned(int with) : poison_(with) {}

    // Valid until the next ones are asked for. sends: which are those of sends, of which MPI
    // defines the error alone.
    MPI_Status *next(size_t count = 1, std::initializer_list<size_t> sends = {}) {
        keep();
        sends_ = sends;
        given_.resize(count);
        std::memset(static_cast<void *>(given_.data()), poison_, count * sizeof(MPI_Status));
        return given_.data();
    }
    // All, one after the other.
    std::string bytes() {
        keep();
        return kept_;
    }

private:
    void keep() {
        for (const size_t send : sends_) {
            const int error = given_[send].MPI_ERROR;
            given_[send] = {};
            given_[send].MPI_ERROR = error;
        }
        kept_.append(reinterpret_cast<const char *>(given_.data()),
                     given_.size() * sizeof(MPI_Status));
        given_.clear();
        sends_.clear();
    }

    int poison_;
    std::vector<MPI_Status> given_;
    std::vector<size_t> sends_; // of those
    std::string kept_;
};

// Messages to this rank itself.
class Messages {
public:
    MPI_Request sent() {
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Isend(out_.data(), eager, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
        return request;
    }
    MPI_Request posted() {
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Irecv(in_.data(), eager, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
        return request;
    }
    void receive(MPI_Status *status) {
        MPI_Recv(in_.data(), eager, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_SELF, status);
    }
    int *in() { return in_.data(); }
    const int *out() const { return out_.data(); }

private:
    Numbers out_ = numbers(1, eager);
    Numbers in_ = Numbers(eager);
};

void receive_and_probe(Poisoned &statuses) {
    Messages messages;
    MPI_Request sent = messages.sent();
    messages.receive(statuses.next());
    MPI_Wait(&sent, statuses.next(1, {0}));
    MPI_Recv(messages.in(), eager, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_SELF, statuses.next());
    MPI_Sendrecv(messages.out(), eager, MPI_INT, 0, 2, messages.in(), eager, MPI_INT, 0, 2,
                 MPI_COMM_SELF, statuses.next());
    sent = messages.sent();
    MPI_Probe(0, MPI_ANY_TAG, MPI_COMM_SELF, statuses.next());
    int found = 0;
    for (MPI_Status *const status = statuses.next(); found == 0;) {
        MPI_Iprobe(0, MPI_ANY_TAG, MPI_COMM_SELF, &found, status);
    }
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Mprobe(0, 1, MPI_COMM_SELF, &message, statuses.next());
    MPI_Mrecv(messages.in(), eager, MPI_INT, &message, statuses.next());
    MPI_Wait(&sent, statuses.next(1, {0}));
}

void complete_one(Poisoned &statuses) {
    Messages messages;
    MPI_Request none = MPI_REQUEST_NULL;
    int flag = 0;
    int index = 0;
    MPI_Wait(&none, statuses.next());
    MPI_Test(&none, &flag, statuses.next());
    MPI_Waitany(1, &none, &index, statuses.next());
    MPI_Testany(1, &none, &index, &flag, statuses.next());
    MPI_Request received = messages.posted();
    MPI_Request sent = messages.sent();
    MPI_Wait(&received, statuses.next());
    flag = 0;
    for (MPI_Status *const status = statuses.next(1, {0}); flag == 0;) {
        MPI_Test(&sent, &flag, status);
    }
    received = messages.posted();
    sent = messages.sent();
    flag = 0;
    for (MPI_Status *const status = statuses.next(); flag == 0;) {
        MPI_Request_get_status(received, &flag, status);
    }
    MPI_Waitany(1, &received, &index, statuses.next());
    flag = 0;
    for (MPI_Status *const status = statuses.next(1, {0}); flag == 0;) {
        MPI_Testany(1, &sent, &index, &flag, status);
    }
    MPI_Request barrier = MPI_REQUEST_NULL;
    MPI_Ibarrier(MPI_COMM_SELF, &barrier);
    MPI_Wait(&barrier, statuses.next());
    MPI_Recv_init(messages.in(), eager, MPI_INT, 0, 1, MPI_COMM_SELF, &received);
    MPI_Start(&received);
    sent = messages.sent();
    MPI_Wait(&received, statuses.next());
    MPI_Wait(&received, statuses.next()); // inactive
    MPI_Wait(&sent, statuses.next(1, {0}));
    MPI_Request_free(&received);
}

void complete_several(Poisoned &statuses) {
    Messages messages;
    constexpr int several = 3; // the last is none
    std::vector<MPI_Request> requests(several);
    const auto start = [&] {
        requests = {messages.posted(), messages.sent(), MPI_REQUEST_NULL};
        return requests.data();
    };
    int flag = 0;
    int count = 0;
    std::vector<int> indices(several);
    MPI_Waitall(several, start(), statuses.next(several, {1}));
    start();
    for (MPI_Status *const status = statuses.next(several, {1}); flag == 0;) {
        MPI_Testall(several, requests.data(), &flag, status);
    }
    // One by one, so that each execution finds the same.
    start();
    MPI_Waitsome(1, &requests[0], &count, indices.data(), statuses.next());
    MPI_Waitsome(1, &requests[1], &count, indices.data(), statuses.next(1, {0}));
    MPI_Waitsome(1, &requests[2], &count, indices.data(), statuses.next());
    start();
    for (size_t i = 0; i < requests.size(); ++i) {
        count = 0;
        MPI_Status *const status = i == 1 ? statuses.next(1, {0}) : statuses.next();
        while (count == 0) {
            MPI_Testsome(1, &requests[i], &count, indices.data(), status);
        }
    }
}

std::string run(int with) {
    Poisoned statuses(with);
    receive_and_probe(statuses);
    complete_one(statuses);
    complete_several(statuses);
    return statuses.bytes();
}

} // namespace

// MPI_ERROR above all, which those write alone that bring several.
HAZARD(statuses_are_written_as_mpi_writes_them) {
    if (world_rank() == 1) {
        return;
    }
    const std::string bare = run(poison);
    Domain domain;
    CHECK(run(poison) == bare);
    for (int i = 0; i < 2; ++i) {
        domain.restore();
        const std::string again = run(poison);
        for (size_t at = 0; at < again.size(); ++at) {
            if (again[at] != bare[at]) {
                std::fprintf(stderr, "byte %zu of status %zu\n", at % sizeof(MPI_Status),
                             at / sizeof(MPI_Status));
            }
        }
        CHECK(again == bare);
    }
}

} // namespace statuses
