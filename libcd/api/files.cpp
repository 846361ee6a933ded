// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// add_file_to_cd and delete_file_from_cd

#include "api/operation.h"
#include "runtime/family_lock.h"
#include "runtime/file_positions.h"

#include <algorithm>

extern "C" {

int add_file_to_cd(cd_handle cd, int filedes) {
    return cd::result_of(cd::observed(CD_OP_ADD_FILE, [&](cd::Report &report) {
        cd::FamilyLock lock;
        if (cd::Status status = lock.lock(cd, cd::FamilyLock::Reach::self); !status) {
            return status;
        }
        report.about(lock.domain().name());
        cd::FilePosition file;
        if (cd::Status status = cd::read_position(filedes, file); !status) {
            return status;
        }
        const auto &files = lock.domain().files;
        const auto held = std::ranges::find(files, filedes, &cd::FilePosition::descriptor);
        if (held != files.end()) {
            return cd::check_same_file(lock.domain(), *held, file);
        }
        lock.domain().files.add(file);
        return cd::Status::ok();
    }));
}

int delete_file_from_cd(cd_handle cd, int filedes) {
    return cd::result_of(cd::observed(CD_OP_DELETE_FILE, [&](cd::Report &report) {
        cd::FamilyLock lock;
        if (cd::Status status = lock.lock(cd, cd::FamilyLock::Reach::self); !status) {
            return status;
        }
        report.about(lock.domain().name());
        if (!lock.domain().files.holds(filedes)) {
            return cd::fail(CD_ERROR_FILE_NOT_IN_CD,
                            "CD %s does not hold file descriptor %d; delete only what was added to "
                            "this CD",
                            lock.domain().name(), filedes);
        }
        lock.domain().files.remove(filedes);
        return cd::Status::ok();
    }));
}

} // extern "C"
