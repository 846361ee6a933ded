// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// cd_name, cd_query, cd_verify, cd_observe

#include "domains/query.h"
#include "api/api_call.h"
#include "domains/verify.h"
#include "runtime/family_lock.h"
#include "runtime/redundancy_client.h"
#include "runtime/region_names.h"

#include <optional>

extern "C" {

const char *cd_name(cd_handle cd) {
    const char *name = nullptr;
    const cd::Status status = cd::guarded([&] {
        cd::FamilyLock lock;
        cd::Status locked = lock.lock(cd, cd::FamilyLock::Reach::self);
        name = locked.is_ok() ? lock.domain().name() : nullptr;
        return locked;
    });
    return status.is_ok() ? name : nullptr;
}

int cd_query(cd_handle cd, cd_info *info) {
    return cd::result_of(cd::guarded([&] {
        cd::FamilyLock lock;
        if (cd::Status status = lock.lock(cd, cd::FamilyLock::Reach::self); !status) {
            return status;
        }
        if (info == nullptr) {
            return cd::fail(CD_ERROR_ARGUMENT,
                            "CD %s: info is NULL; pass a struct cd_info to fill in",
                            lock.domain().name());
        }
        const cd::Resident &domain = lock.domain();
        cd::query(domain, *info);
        info->protected_epoch = domain.protection ? domain.protection->protected_epoch() : 0;
        return cd::Status::ok();
    }));
}

int cd_verify(cd_handle cd, cd_mismatch_fn report_mismatch, void *context) {
    return cd::result_of(cd::observed(CD_OP_VERIFY, [&](cd::Report &report) {
        cd::FamilyLock lock;
        if (cd::Status status = lock.lock(cd, cd::FamilyLock::Reach::family); !status) {
            return status;
        }
        report.about(lock.domain().name());
        std::optional<cd::FamilyLock::Lending> lending;
        if (report_mismatch != nullptr) {
            lending.emplace(lock);
        }
        return cd::verify(lock.domain(), report_mismatch, context);
    }));
}

int cd_name_region(const char *name, void *address, size_t length) {
    return cd::result_of(cd::guarded([&] {
        const auto begin = reinterpret_cast<uintptr_t>(address);
        return cd::name_region(name, {begin, begin + length});
    }));
}

int cd_observe(cd_event_fn observer, void *context) {
    return cd::result_of(cd::guarded([&] {
        cd::set_observer(observer, context);
        return cd::Status::ok();
    }));
}

} // extern "C"
