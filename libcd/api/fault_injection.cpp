// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// cd_inject, cd_failed

#include "runtime/fault_injection.h"
#include "api/api_call.h"
#include "cd/control.h"
#include "runtime/family_lock.h"

extern "C" {

int cd_inject(const char *injections) {
    return cd::result_of(cd::guarded([&] {
        cd::Status status;
        cd::Registry::instance().between_forks([&] {
            if (injections == nullptr) {
                cd::FaultInjection::instance().forget_all();
            } else {
                status = cd::FaultInjection::instance().add(injections);
            }
        });
        return status;
    }));
}

int cd_failed(cd_handle cd) {
    bool hit = false;
    const cd::Status status = cd::guarded([&] {
        cd::FamilyLock lock;
        if (cd::Status locked = lock.lock(cd, cd::FamilyLock::Reach::self); !locked) {
            return locked;
        }
        const cd::Resident &domain = lock.domain();
        cd::Registry::instance().between_forks(
            [&] { hit = cd::FaultInjection::instance().hits(domain.rank, domain); });
        return cd::Status::ok();
    });
    if (!status) {
        return CD_FAILURE;
    }
    return hit ? 1 : 0;
}

} // extern "C"
