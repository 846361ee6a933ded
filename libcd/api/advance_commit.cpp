// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// commit_cd, advance_cd_point_in_time, cd_need_advance

#include "api/api_call.h"
#include "domains/advance.h"
#include "domains/commit.h"
#include "restart/bind.h"
#include "runtime/active_stack.h"
#include "runtime/family_lock.h"
#include "runtime/file_positions.h"
#include "runtime/log_listener.h"
#include "runtime/persistent_root.h"
#include "runtime/redundancy_client.h"

#include <new>
#include <optional>
#include <string>
#include <vector>

namespace cd {
namespace {

// The family whose logs the operation may have shortened, 0 if none, and its root. Passed to the
// interposition layer after the locks are released.
struct Forgotten {
    uint64_t family = 0;
    cd_handle root = nullptr;
};

uint64_t family_of_root(Resident &domain) {
    return domain.is_root() && domain.log.enabled() ? domain.log.log().family() : 0;
}

// Runs the operation with the named CD and its parent locked. Locks the whole family and repeats it
// if it returns nothing, which is rare.
template <typename Operation> Status with_parent(cd_handle handle, const Operation &operation) {
    {
        FamilyLock lock;
        if (Status status = lock.lock(handle, FamilyLock::Reach::parent); !status) {
            return status;
        }
        if (std::optional<Status> status = operation(lock, Locked::parent)) {
            return *status;
        }
    }
    FamilyLock lock;
    if (Status status = lock.lock(handle, FamilyLock::Reach::family); !status) {
        return status;
    }
    return *operation(lock, Locked::ancestors);
}

// True if a root's store cannot be removed, since it belongs to the parent process.
bool leaves_its_store(const Domain &domain) {
    return domain.is_root() && domain.store != nullptr && !domain.store->is_of_this_process();
}

// Ends a root with its descendants, and leaves its store and redundancy to the parent process.
void end_without_store(FamilyLock &lock, Resident &root, Report &report) {
    const std::vector<Domain *> subtree = subtree_of(root);
    lock.prepare_discard(subtree.size());
    for (size_t i = subtree.size(); i-- > 1;) {
        report.also(CD_OP_DISCARD, subtree[i]->name());
    }
    root.store->leave_to_parent();
    end_family(lock, root);
}

std::optional<Status> commit_locked(FamilyLock &lock, Locked locked, Report &report,
                                    Forgotten &forgotten) {
    Resident &domain = lock.domain();
    report.about(domain.name());
    if (leaves_its_store(domain)) {
        if (locked == Locked::parent) {
            return std::nullopt;
        }
        forgotten.family = family_of_root(domain);
        end_without_store(lock, domain, report);
        ActiveStack::look_for_ended();
        return Status::ok();
    }
    JointCommit protection(domain);
    std::optional<Status> status;
    try {
        lock.prepare_discard(1);
        status = commit(domain, locked, protection.last_vote());
    } catch (const std::bad_alloc &) {
        status = out_of_memory("commit_cd");
    }
    if (!status || !*status) {
        return status ? std::optional(protection.outcome(*status)) : status;
    }
    forgotten.family = family_of_root(domain);
    lock.discard(domain);
    ActiveStack::look_for_ended();
    return Status::ok();
}

std::optional<Status> advance_locked(FamilyLock &lock, Locked locked, Report &report,
                                     Forgotten &forgotten) {
    Resident &domain = lock.domain();
    report.about(domain.name());
    JointAdvance protection(lock.domain());
    const bool measures = domain.advance_policy.measures();
    const uint64_t begin = measures ? os::system().monotonic_ns() : 0;
    size_t copied = 0;
    std::optional<Status> status;
    try {
        std::vector<FilePosition> positions;
        status = read_positions(domain, positions);
        if (*status && !domain.is_root()) {
            report.also(CD_OP_IMPLICIT_COMMIT, domain.name());
        }
        if (*status && protection.wanted()) {
            report.also(CD_OP_PROTECT, domain.name());
        }
        status =
            *status ? advance(domain, locked, positions, copied, protection.last_vote()) : status;
    } catch (const std::bad_alloc &) {
        if (!protection.wanted()) {
            throw;
        }
        status = fail(CD_ERROR_NO_MEMORY, "CD %s: there is no memory to advance it; free some",
                      domain.name());
    }
    if (status && !*status) {
        status = protection.refused(*status);
    } else if (status && protection.wanted()) {
        report.set_also_error(protection.offer());
    }
    if (measures && status && status->is_ok()) {
        domain.advance_policy.advanced(begin, os::system().monotonic_ns());
    }
    report.copied(copied);
    if (status && status->is_ok()) {
        warn_of_pending_files(domain);
        forgotten = {family_of_root(domain), domain.handle};
    }
    return status;
}

} // namespace
} // namespace cd

extern "C" {

int commit_cd(cd_handle cd) {
    cd::Forgotten forgotten;
    const cd::Status status = cd::observed(CD_OP_COMMIT, [&](cd::Report &report) {
        return cd::with_parent(cd, [&](cd::FamilyLock &lock, cd::Locked locked) {
            return cd::commit_locked(lock, locked, report, forgotten);
        });
    });
    cd::notify_boundary();
    cd::notify_forgotten(forgotten.family, nullptr);
    return cd::result_of(status);
}

int advance_cd_point_in_time(cd_handle cd) {
    cd::Forgotten forgotten;
    const cd::Status status = cd::observed(CD_OP_ADVANCE, [&](cd::Report &report) {
        return cd::with_parent(cd, [&](cd::FamilyLock &lock, cd::Locked locked) {
            return cd::advance_locked(lock, locked, report, forgotten);
        });
    });
    cd::notify_boundary();
    cd::notify_forgotten(forgotten.family, forgotten.root);
    return cd::result_of(status);
}

int cd_need_advance(cd_handle cd) {
    bool needed = true;
    const cd::Status status = cd::guarded([&] {
        cd::FamilyLock lock;
        cd::Status locked = lock.lock(cd, cd::FamilyLock::Reach::self);
        if (locked.is_ok()) {
            const cd::AdvancePolicy &advance_policy = lock.domain().advance_policy;
            needed = !advance_policy.measures() ||
                     advance_policy.is_time(cd::os::system().monotonic_ns());
        }
        return locked;
    });
    return !status.is_ok() || needed ? 1 : 0;
}

} // extern "C"
