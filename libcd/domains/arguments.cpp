// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "domains/arguments.h"

namespace cd {
namespace {

Status check_range(const cd_addrspec &element, int index, const char *cd) {
    if (is_range(element)) {
        return Status::ok();
    }
    if (element.address == nullptr) {
        return fail(CD_ERROR_NULL_ADDRESS,
                    "CD %s: element %d of the list is %zu bytes at address NULL; give the address",
                    cd, index, element.length);
    }
    return fail(CD_ERROR_RANGE_WRAPS,
                "CD %s: element %d of the list, %zu bytes at %p, runs past the end of the address "
                "space; check the length",
                cd, index, element.length, element.address);
}

Status check_count(const cd_addrspec *list, int count, const char *cd) {
    if (count < 0) {
        return fail(CD_ERROR_COUNT, "CD %s: the list has %d elements; the count cannot be negative",
                    cd, count);
    }
    if (list == nullptr && count > 0) {
        return fail(
            CD_ERROR_NULL_LIST,
            "CD %s: the list is NULL or shorter than its count of %d; pass a list of that many "
            "elements",
            cd, count);
    }
    return Status::ok();
}

Status check_labels(const cd_addrspec &element, int index, Restoration restoration,
                    const char *cd) {
    if (has_legal_labels(element, restoration)) {
        return Status::ok();
    }
    const int access = element.addr_tp;
    const int scope = element.addr_scope;
    if (access != CD_READ_ONLY && access != CD_READ_WRITE) {
        return fail(CD_ERROR_ADDR_TYPE,
                    "CD %s: element %d of the list has addr_tp %d; allowed are READ_ONLY (0) and "
                    "READ_WRITE (1)",
                    cd, index, access);
    }
    if (scope != CD_GLOBAL && scope != CD_CONSTRAINED) {
        return fail(CD_ERROR_ADDR_SCOPE,
                    "CD %s: element %d of the list has addr_scope %d; allowed are GLOBAL (0) and "
                    "CONSTRAINED (1)",
                    cd, index, scope);
    }
    return fail(CD_ERROR_REGEN_READ_WRITE,
                "CD %s: element %d of the list, %zu bytes at %p, is READ_WRITE; what a function "
                "regenerates is READ_ONLY, or add it via copy",
                cd, index, element.length, element.address);
}

} // namespace

Status check_list(const cd_addrspec *list, int count, const char *cd) {
    Status status = check_count(list, count, cd);
    for (int i = 0; status.is_ok() && i < count; ++i) {
        status = check_range(list[i], i, cd);
    }
    return status;
}

Status check_call(const AddRequest &request) {
    Status status = check_count(request.list, request.count, request.cd);
    if (status.is_ok() && request.restoration == Restoration::regen && request.regen == nullptr) {
        return fail(
            CD_ERROR_REGEN_NULL,
            "CD %s: the regen function is NULL; pass the function that writes the data of these "
            "ranges",
            request.cd);
    }
    return status;
}

Status check_request(const AddRequest &request) {
    Status status = check_call(request);
    for (int i = 0; status.is_ok() && i < request.count; ++i) {
        status = check_labels(request.list[i], i, request.restoration, request.cd);
        if (status.is_ok()) {
            status = check_range(request.list[i], i, request.cd);
        }
    }
    return status;
}

} // namespace cd
