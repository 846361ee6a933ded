// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// add_file_to_cd and delete_file_from_cd

#include "api/operation.h"
#include "restart/bind.h"
#include "runtime/family_lock.h"
#include "runtime/file_positions.h"

#include <algorithm>
#include <memory>
#include <vector>

namespace cd {
namespace {

Status write_down(Domain &domain, const FileTable &files) {
    if (domain.ledger == nullptr) {
        return Status::ok();
    }
    std::vector<FilePosition> all(files.begin(), files.end());
    all.insert(all.end(), domain.unbound_files.begin(), domain.unbound_files.end());
    const std::unique_ptr<Transaction> transaction = domain.ledger->begin();
    transaction->files(domain.number, all);
    return transaction->commit();
}

// now: as the file is. One that came back from a store keeps the position that it has there.
Status hold_file(Domain &domain, const FilePosition &now) {
    domain.files.make_room(1);
    FilePosition file = now;
    const bool came_back = bind_file(domain, now, file);
    FileTable files = domain.files;
    files.add(file);
    Status status = write_down(domain, files);
    if (status.is_ok() && came_back && domain.files_owed) {
        FileTable only;
        only.add(file);
        status = set_positions(domain, only);
    }
    if (status.is_ok()) {
        domain.files.add(file);
    } else if (came_back) {
        domain.unbound_files.push_back(file);
    }
    return status;
}

Status let_go_of_file(Domain &domain, int descriptor) {
    FileTable files = domain.files;
    files.remove(descriptor);
    Status status = write_down(domain, files);
    if (status.is_ok()) {
        domain.files.remove(descriptor);
    }
    return status;
}

} // namespace
} // namespace cd

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
        return cd::hold_file(lock.domain(), file);
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
        return cd::let_go_of_file(lock.domain(), filedes);
    }));
}

} // extern "C"
