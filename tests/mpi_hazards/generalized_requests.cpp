// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Generalized requests, whose functions call MPI themselves: a library that has its operations as
// requests keeps objects with them, and frees these when MPI says that the request is done with.
#include "complaints.h"
#include "hazard.h"

#include <functional>

namespace generalized_requests {

namespace {

int gone = 0; // communicators that MPI has freed

int note_gone(MPI_Comm, int, void *, void *) {
    ++gone;
    return MPI_SUCCESS;
}

void talk_in(MPI_Comm comm, MPI_Datatype pair) {
    const int sent[2] = {5, 6};
    int received[2] = {};
    MPI_Sendrecv(sent, 1, pair, 0, 3, received, 1, pair, 0, 3, comm, MPI_STATUS_IGNORE);
    CHECK(received[0] == 5 && received[1] == 6);
}

// What a library's operation has of its own.
struct Operation {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Datatype pair = MPI_DATATYPE_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
};

int tell(void *state, MPI_Status *status) {
    const auto &operation = *static_cast<Operation *>(state);
    talk_in(operation.comm, operation.pair);
    MPI_Status_set_elements(status, MPI_INT, 2);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = status->MPI_TAG = 7;
    return MPI_SUCCESS;
}

int free_its_objects(void *state) {
    auto &operation = *static_cast<Operation *>(state);
    talk_in(operation.comm, operation.pair);
    CHECK(MPI_Type_free(&operation.pair) == MPI_SUCCESS);
    CHECK(MPI_Comm_free(&operation.comm) == MPI_SUCCESS);
    return MPI_SUCCESS;
}

void start(Operation &operation, MPI_Comm like) {
    MPI_Comm_dup(like, &operation.comm);
    MPI_Type_contiguous(2, MPI_INT, &operation.pair);
    MPI_Type_commit(&operation.pair);
    talk_in(operation.comm, operation.pair);
    MPI_Grequest_start(
        tell, free_its_objects, [](void *, int) { return MPI_SUCCESS; }, &operation,
        &operation.request);
}

bool tells_of_it(const MPI_Status &status) {
    int count = 0;
    MPI_Get_elements(&status, MPI_INT, &count);
    return count == 2 && status.MPI_TAG == 7;
}

// A communicator whose duplicates tell when they go.
class Marked {
public:
    Marked() {
        MPI_Comm_create_keyval(MPI_COMM_DUP_FN, note_gone, &key_, nullptr);
        MPI_Comm_dup(MPI_COMM_SELF, &comm);
        MPI_Comm_set_attr(comm, key_, nullptr);
        gone = 0;
    }
    Marked(const Marked &) = delete;
    Marked &operator=(const Marked &) = delete;
    ~Marked() {
        MPI_Comm_free(&comm);
        MPI_Comm_free_keyval(&key_);
    }

    MPI_Comm comm = MPI_COMM_NULL;

private:
    int key_ = MPI_KEYVAL_INVALID;
};

// The objects are there for each re-execution, and go with the log.
void objects_go_with_the_log(const std::function<void(Operation &)> &finish) {
    const Marked marked;
    {
        Domain domain;
        const auto execute = [&] {
            Operation operation;
            start(operation, marked.comm);
            finish(operation);
        };
        execute();
        for (int restored = 0; restored < 2; ++restored) {
            domain.restore();
            execute();
            CHECK(domain.info().replaying == 0);
        }
        CHECK(gone == 0);
    }
    CHECK(gone == 1);
}

} // namespace

HAZARD(what_the_free_function_of_a_request_frees_is_there_again) {
    objects_go_with_the_log([](Operation &operation) {
        MPI_Grequest_complete(operation.request);
        MPI_Status status = {};
        MPI_Wait(&operation.request, &status);
        CHECK(tells_of_it(status));
    });
}

HAZARD(freeing_a_generalized_request_is_refused) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    objects_go_with_the_log([](Operation &operation) {
        const Complaints complaints;
        CHECK(MPI_Request_free(&operation.request) != MPI_SUCCESS);
        MPI_Grequest_complete(operation.request);
        MPI_Wait(&operation.request, MPI_STATUS_IGNORE);
    });
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

} // namespace generalized_requests
