// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// restore_cd

#include "domains/restore.h"
#include "api/api_call.h"
#include "domains/compaction.h"
#include "restart/bind.h"
#include "runtime/active_stack.h"
#include "runtime/family_lock.h"
#include "runtime/file_positions.h"
#include "runtime/log_listener.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cd {
namespace {

// Fails if a thread works in a descendant: its CD would vanish and its memory change.
Status check_not_active_elsewhere(const Domain &top, const std::vector<Domain *> &subtree) {
    const uint64_t here = ActiveStack::of_this_thread().thread();
    for (const Domain *domain : subtree) {
        const uint64_t active_in = static_cast<const Resident *>(domain)->slot->active_in;
        if (domain != &top && active_in != 0 && active_in != here) {
            return fail(CD_ERROR_ACTIVE_ELSEWHERE,
                        "CD %s cannot be restored while its descendant %s is active in another "
                        "thread; let that thread commit it or end first",
                        top.name(), domain->name());
        }
    }
    return Status::ok();
}

Status write_memory(Restore &restore, FamilyLock &lock) {
    std::optional<FamilyLock::Lending> lending;
    if (restore.regenerates()) {
        lending.emplace(lock);
    }
    return restore.write_memory();
}

Status check_files(const std::vector<Restore::HeldFile> &files) {
    for (const auto &[holder, file] : files) {
        FilePosition now;
        if (Status status = read_held_position(*holder, file, now); !status) {
            return status;
        }
    }
    return Status::ok();
}

// Sets the oldest position last, as memory is written: duplicates of a descriptor share one.
Status set_positions(const std::vector<Restore::HeldFile> &files) {
    for (auto at = files.rbegin(); at != files.rend(); ++at) {
        if (Status status = set_position(*at->holder, at->file); !status) {
            return status;
        }
    }
    return Status::ok();
}

// Ends the descendants in the store, with what they hold and no add has bound.
Status drop_descendants(Resident &top, const std::vector<Domain *> &subtree) {
    const std::unique_ptr<Transaction> transaction = top.store->begin();
    for (size_t i = subtree.size(); i-- > 1;) {
        transaction->drop(subtree[i]->number);
    }
    Status status = transaction->commit();
    for (size_t i = 1; status.is_ok() && i < subtree.size(); ++i) {
        top.store->pending -= subtree[i]->pending.size();
    }
    return status;
}

void count_as_restored(Resident &top) noexcept {
    top.restarted = false;
    top.files_owed = true;
    top.children_created = 0;
    for (auto &[name, range] : top.pending) {
        range.owed = true;
    }
}

// Fails if the log cannot answer the re-execution. Children find their logs by whether the creator
// of their parent makes them.
Status check_log(const Resident &domain) {
    if (domain.creator_thread != ActiveStack::of_this_thread().thread() &&
        domain.log.replays_children(domain.depth)) {
        return fail(
            CD_ERROR_LOG_SIBLINGS,
            "CD %s: only the thread that created a CD with children may restore it while its MPI "
            "log is replayed; restore it or an ancestor there, or call delete_MPI_log_from_cd",
            domain.name());
    }
    return domain.log.check_nothing_lost(domain.depth, domain.name());
}

// Makes this thread the creator of a CD whose creator has ended.
void take_place_of_creator(Resident &domain) noexcept {
    if (domain.slot->active_in == 0) {
        domain.creator_thread = ActiveStack::of_this_thread().thread();
    }
}

// Fails if the other ranks have advanced past this CD's point in time.
Status check_in_step(const Domain &domain) {
    if (domain.missed_epochs == 0) {
        return Status::ok();
    }
    const unsigned long long others = domain.epoch + domain.missed_epochs;
    return fail(
        CD_ERROR_STORE_IO,
        "CD %s cannot be restored: its last advance failed in this rank only, and the others "
        "are at epoch %llu; continue to the next advance, or restart the program",
        domain.name(), others);
}

Status restore_named(cd_handle handle, Report &report) {
    FamilyLock lock;
    if (Status status = lock.lock(handle, FamilyLock::Reach::family); !status) {
        return status;
    }
    Resident &domain = lock.domain();
    report.about(domain.name());
    if (Status status = check_in_step(domain); !status) {
        return status;
    }
    if (Status status = check_log(domain); !status) {
        return status;
    }
    if (Status status = domain.store != nullptr ? domain.store->check_readable() : Status::ok();
        !status) {
        return status;
    }
    Restore restore(domain);
    if (Status status = restore.prepare(); !status) {
        return status;
    }
    const auto &subtree = restore.subtree();
    if (Status status = check_not_active_elsewhere(domain, subtree); !status) {
        return status;
    }
    for (Domain *each : subtree) {
        if (Status status = check_add_order(*each); !status) {
            return status;
        }
    }
    if (Status status = check_files(restore.files()); !status) {
        return status;
    }
    lock.prepare_discard(subtree.size());
    for (size_t i = subtree.size(); i-- > 1;) {
        report.also(CD_OP_DISCARD, subtree[i]->name());
    }
    if (domain.log.extent().entries > 0) {
        report.also(CD_OP_REPLAY_BEGIN, domain.name());
    }
    if (Status status = write_memory(restore, lock); !status) {
        return status;
    }
    if (Status status = set_positions(restore.files()); !status) {
        return status;
    }
    report.copied(restore.copied());
    if (domain.store != nullptr) {
        if (Status status = drop_descendants(domain, subtree); !status) {
            return status;
        }
    }
    count_as_restored(domain);
    if (domain.advance_policy.measures()) {
        domain.advance_policy.restored(os::system().monotonic_ns());
    }
    domain.log.rewind(domain.depth);
    take_place_of_creator(domain);
    for (size_t i = subtree.size(); i-- > 1;) {
        lock.discard(static_cast<Resident &>(*subtree[i]));
    }
    free_sparse_places(domain);
    return Status::ok();
}

// Checks what the interposition layer needs before it prepares a restore, and returns the CD's
// name.
Status check_quiescible(cd_handle handle, std::string &name, Report &report) {
    FamilyLock lock;
    if (Status status = lock.lock(handle, FamilyLock::Reach::family); !status) {
        return status;
    }
    const Resident &domain = lock.domain();
    name = domain.identity;
    report.about(domain.name());
    if (Status status = check_log(domain); !status) {
        return status;
    }
    return check_not_active_elsewhere(lock.domain(), subtree_of(lock.domain()));
}

// Restores between the interposition layer's preparation, which may refuse, and its completion.
Status restore_quiesced(cd_handle handle, Report &report) {
    const cd_log_listener *listener = log_listener.load(std::memory_order_acquire);
    if (listener == nullptr) {
        return restore_named(handle, report);
    }
    std::string name;
    if (Status status = check_quiescible(handle, name, report); !status) {
        return status;
    }
    if (const char *reason = listener->restoring(handle)) {
        return fail(CD_ERROR_LOG_PENDING, "CD %s cannot be restored now: %s", name.c_str(), reason);
    }
    const Status status = restore_named(handle, report);
    listener->restored(handle, status.is_ok() ? 1 : 0);
    return status;
}

} // namespace
} // namespace cd

extern "C" int restore_cd(cd_handle cd) {
    return cd::result_of(cd::observed(
        CD_OP_RESTORE, [&](cd::Report &report) { return cd::restore_quiesced(cd, report); }));
}
