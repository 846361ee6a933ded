// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// add_file_to_cd and delete_file_from_cd

#include "api/api_call.h"
#include "runtime/family_lock.h"
#include "runtime/file_positions.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <vector>

namespace cd {
namespace {

using Positions = std::vector<FilePosition>;

// Writes the CD's files down: files, and those that wait to be added again, except bound.
Status write_down(const Domain &domain, const FileTable &files, Positions::const_iterator bound) {
    if (domain.store == nullptr) {
        return Status::ok();
    }
    Positions all(files.begin(), files.end());
    const Positions &pending = domain.pending_files;
    all.insert(all.end(), pending.begin(), bound);
    all.insert(all.end(), bound != pending.end() ? std::next(bound) : bound, pending.end());
    const std::unique_ptr<Transaction> transaction = domain.store->begin();
    transaction->files(domain.number, all);
    return transaction->commit();
}

// Adds the file at its present position, or at the stored one if it came back from a store.
Status hold_file(Domain &domain, const FilePosition &now) {
    domain.files.reserve_room(1);
    FilePosition file = now;
    const auto stored = find_same_file(domain.pending_files, now);
    const bool came_back = stored != domain.pending_files.end();
    if (came_back) {
        file.position = stored->position;
    }
    FileTable files = domain.files;
    files.add(file);
    if (Status status = write_down(domain, files, stored); !status) {
        return status;
    }
    const bool owed = came_back && domain.files_owed;
    if (Status status = owed ? set_position(domain, file) : Status::ok(); !status) {
        return status;
    }
    domain.files.add(file);
    if (came_back) {
        domain.pending_files.erase(stored);
    }
    return Status::ok();
}

Status let_go_of_file(Domain &domain, int descriptor) {
    FileTable files = domain.files;
    files.remove(descriptor);
    Status status = write_down(domain, files, domain.pending_files.end());
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
        if (cd::Status status = cd::read_position(lock.domain(), filedes, file); !status) {
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
