// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Generalized requests, for which a thread that has no domain works: it completes them once more
// for the re-execution, which may have waited for them before.
#include "hazard.h"
#include "worker_thread.h"

namespace helped_requests {

namespace {

struct Helped {
    void begin() {
        MPI_Grequest_start(
            [](void *, MPI_Status *status) {
                MPI_Status_set_elements(status, MPI_INT, 2);
                MPI_Status_set_cancelled(status, 0);
                status->MPI_SOURCE = status->MPI_TAG = 7;
                return MPI_SUCCESS;
            },
            [](void *) { return MPI_SUCCESS; }, [](void *, int) { return MPI_SUCCESS; }, nullptr,
            &request);
    }
    void complete() {
        thread([this] { CHECK(MPI_Grequest_complete(request) == MPI_SUCCESS); });
    }
    void wait() const {
        MPI_Request copy = request;
        MPI_Status status = {};
        CHECK(MPI_Wait(&copy, &status) == MPI_SUCCESS);
        int count = 0;
        MPI_Get_elements(&status, MPI_INT, &count);
        CHECK(count == 2 && status.MPI_TAG == 7);
    }

    MPI_Request request = MPI_REQUEST_NULL;
    WorkerThread thread; // the last: it uses the other
};

} // namespace

HAZARD_IN_THREADS(request_is_completed_by_a_thread_without_a_domain_again) {
    Helped helped;
    Domain domain;
    helped.begin();
    helped.complete();
    helped.wait();
    for (const bool waits_first : {false, true, false}) {
        domain.restore();
        helped.begin();
        if (waits_first) {
            helped.wait();
        }
        helped.complete();
        if (!waits_first) {
            helped.wait();
        }
        CHECK(domain.info().replaying == 0);
    }
}

// The log ends before it is waited for.
HAZARD_IN_THREADS(request_that_is_complete_at_the_restore_is_completed_again) {
    Helped helped;
    Domain domain;
    helped.begin();
    for (int restored = 0; restored < 2; ++restored) {
        helped.complete();
        domain.restore();
        helped.begin();
    }
    helped.complete();
    helped.wait();
}

} // namespace helped_requests
