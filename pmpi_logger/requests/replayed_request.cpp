// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "requests/replayed_request.h"

#include "mpi/real.h"

#include <mutex>
#include <set>
#include <vector>

namespace cd::logger {
namespace {

std::mutex pool_mutex;
std::vector<MPI_Request> pool;

// Never freed before MPI ends, so that no other request gets their handles.
std::set<MPI_Request> generalized;

struct Outcome {
    MPI_Status status;
    int result;
};

int give_kept_status(void *kept, MPI_Status *status) {
    if (kept == nullptr) {
        real<Fn::MPI_Status_set_elements>(status, MPI_BYTE, 0);
        real<Fn::MPI_Status_set_cancelled>(status, 0);
        status->MPI_SOURCE = MPI_ANY_SOURCE;
        status->MPI_TAG = MPI_ANY_TAG;
        return MPI_SUCCESS;
    }
    const int error = status->MPI_ERROR;
    const auto *outcome = static_cast<Outcome *>(kept);
    *status = outcome->status;
    status->MPI_ERROR = error;
    return outcome->result;
}

int free_kept_status(void *kept) {
    delete static_cast<Outcome *>(kept);
    return MPI_SUCCESS;
}

int ignore_cancel(void *, int) { return MPI_SUCCESS; }

void fortran_query(MPI_Aint *, MPI_Fint *, MPI_Fint *error) { *error = MPI_SUCCESS; }
void fortran_free(MPI_Aint *, MPI_Fint *error) { *error = MPI_SUCCESS; }
void fortran_cancel(MPI_Aint *, MPI_Fint *, MPI_Fint *error) { *error = MPI_SUCCESS; }

MPI_Request complete(Outcome *kept) {
    MPI_Request request = MPI_REQUEST_NULL;
    real<Fn::MPI_Grequest_start>(give_kept_status, free_kept_status, ignore_cancel, kept, &request);
    real<Fn::MPI_Grequest_complete>(request);
    return request;
}

} // namespace

MPI_Request take_placeholder() {
    {
        const std::scoped_lock lock(pool_mutex);
        if (!pool.empty()) {
            const MPI_Request request = pool.back();
            pool.pop_back();
            return request;
        }
    }
    return complete(nullptr);
}

void give_placeholder(MPI_Request request) {
    const std::scoped_lock lock(pool_mutex);
    pool.push_back(request);
}

MPI_Request take_generalized(bool of_fortran) {
    MPI_Request request = MPI_REQUEST_NULL;
    if (of_fortran) {
        real<Fn::MPI_Grequest_start>(
            reinterpret_cast<MPI_Grequest_query_function *>(fortran_query),
            reinterpret_cast<MPI_Grequest_free_function *>(fortran_free),
            reinterpret_cast<MPI_Grequest_cancel_function *>(fortran_cancel), nullptr, &request);
        real<Fn::MPI_Grequest_complete>(request);
    } else {
        request = complete(nullptr);
    }
    const std::scoped_lock lock(pool_mutex);
    generalized.insert(request);
    return request;
}

bool is_replayed_generalized(MPI_Request request) {
    const std::scoped_lock lock(pool_mutex);
    return generalized.contains(request);
}

MPI_Request completed_request(const MPI_Status &status, int result) {
    return complete(new Outcome{status, result});
}

void free_placeholders() {
    const std::scoped_lock lock(pool_mutex);
    pool.insert(pool.end(), generalized.begin(), generalized.end());
    for (MPI_Request &request : pool) {
        real<Fn::MPI_Request_free>(&request);
    }
    pool.clear();
    generalized.clear();
}

} // namespace cd::logger
