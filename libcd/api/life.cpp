// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// create_cd, commit_cd, restore_cd, advance_cd_point_in_time, cd_need_advance

#include "api/operation.h"
#include "base/attempt.h"
#include "base/make_room.h"
#include "domains/advance.h"
#include "domains/commit.h"
#include "domains/inheriting.h"
#include "domains/recovery.h"
#include "mpi_log/log_spill.h"
#include "runtime/active_stack.h"
#include "runtime/family_lock.h"
#include "runtime/file_positions.h"
#include "runtime/fork.h"
#include "runtime/identity.h"
#include "runtime/log_listener.h"
#include "runtime/protected_root.h"
#include "runtime/rehearsal.h"
#include "runtime/stored_family.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace cd {
namespace {

Status check_logging_mode(int mode) {
    if (mode == CD_COMM_LOGGING_DISABLED || mode == CD_COMM_LOGGING_ENABLED ||
        mode == CD_COMM_LOGGING_INHERIT) {
        return Status::ok();
    }
    return fail(CD_ERROR_LOGGING_MODE,
                "log_mpi_traffic is %d; allowed are COMM_LOGGING_DISABLED (0), _ENABLED (1) and "
                "_INHERIT (2)",
                mode);
}

Status check_logging_against(const Domain &parent, mpi_log mode) {
    const bool wanted = mode == CD_COMM_LOGGING_ENABLED;
    if (mode == CD_COMM_LOGGING_INHERIT || wanted == parent.log.enabled()) {
        return Status::ok();
    }
    return fail(CD_ERROR_LOGGING_MISMATCH,
                "MPI logging is %s in the parent CD %s, so a child cannot have it %s; pass "
                "COMM_LOGGING_INHERIT",
                parent.log.enabled() ? "enabled" : "disabled", parent.name(),
                wanted ? "enabled" : "disabled");
}

Status read_storage_info(const char *storage_info, StorageInfo &storage) {
    if (storage_info != nullptr) {
        if (Status status = parse_storage_info(storage_info, "storage_info", storage); !status) {
            return status;
        }
    }
    return check_supported(storage);
}

// The name is the root's already, so that no other thread opens the same store.
Status open_root(cd_handle handle, bool &met) {
    Status status;
    try {
        status = open_family(handle, met);
    } catch (...) {
        end_family(handle);
        throw;
    }
    if (!status) {
        end_family(handle);
    }
    return status;
}

Pace begin_pace(const AdvanceLimits &limits) {
    return {limits, limits.given() ? os::system().monotonic_ns() : 0};
}

Status read_injections() {
    Status status;
    Registry::instance().between_forks([&] { status = Rehearsal::instance().read_environment(); });
    return status;
}

// root: has its storage.
Status begin_root(std::unique_ptr<Resident> root, mpi_log mode, const char *name, bool &met,
                  cd_handle &handle, Report &report) {
    AdvanceLimits limits;
    if (Status status = read_advance_limits(limits); !status) {
        return status;
    }
    root->pace = begin_pace(limits);
    if (Status status = read_injections(); !status) {
        return status;
    }
    ActiveStack &stack = ActiveStack::of_this_thread();
    stack.make_room();
    root->root_name = name;
    root->rank = current_rank();
    root->identity = make_identity(root->rank, root->root_name, 0, 0);
    report.about(root->name());
    root->home_thread = root->active_in = stack.thread();
    if (mode == CD_COMM_LOGGING_ENABLED) {
        const StorageInfo &storage = root->storage;
        root->log = LogShare::of_root(
            storage.log_limit > 0 ? std::make_shared<LogSpill>(storage.log_limit, storage.dir)
                                  : nullptr);
    }
    const bool outlives_process = root->storage.store == Store::file;
    Status status = Registry::instance().install(std::move(root), handle);
    if (status.is_ok() && outlives_process) {
        status = open_root(handle, met);
    }
    if (status.is_ok()) {
        stack.push(handle);
    }
    return status;
}

Status create_root(const char *storage_info, mpi_log mode, const char *name, cd_handle &handle,
                   Report &report) {
    if (Status status = check_root_name(name); !status) {
        return status;
    }
    if (mode == CD_COMM_LOGGING_INHERIT) {
        return fail(CD_ERROR_LOGGING_INHERIT_AT_ROOT,
                    "the root CD \"%s\" has no parent to inherit MPI logging from; pass "
                    "COMM_LOGGING_ENABLED or COMM_LOGGING_DISABLED",
                    name);
    }
    auto root = std::make_unique<Resident>();
    if (const char *defaults = os::system().environment("CD_STORAGE_INFO")) {
        Status status =
            parse_storage_info(defaults, "the environment variable CD_STORAGE_INFO", root->storage);
        if (!status && storage_info == nullptr) {
            return status; // who gives a storage_info knows what to do without it
        }
    }
    if (Status status = read_storage_info(storage_info, root->storage); !status) {
        return status;
    }
    ProtectedCreate protection(name, root->storage);
    return protection.outcome(
        begin_root(std::move(root), mode, name, protection.met, handle, report));
}

// Only what one thread does is done again in the same order.
LogShare::Place log_place(const Resident &parent, uint64_t creating_thread) {
    if (parent.home_thread != creating_thread) {
        return LogShare::Place::own_in_any_order;
    }
    return parent.children.empty() ? LogShare::Place::parents : LogShare::Place::own;
}

// A child that came back from the store. storage: what the program wants it to have.
Status wake_child(Resident &child, Resident &parent, ActiveStack &stack, cd_handle &handle,
                  Report &report) {
    report.about(child.name());
    if (parent.log.enabled()) {
        Status status = LogShare::of_child(parent.log, LogShare::Place::own_in_any_order,
                                           {child.depth, child.sibling}, child.log);
        if (!status) {
            return status;
        }
    }
    child.home_thread = child.active_in = stack.thread();
    child.pace = begin_pace(parent.pace.limits());
    wake(child, parent);
    handle = child.handle;
    stack.push(handle);
    return Status::ok();
}

Status create_child(cd_handle parent_handle, const char *storage_info, mpi_log mode,
                    const char *name, cd_handle &handle, Report &report) {
    FamilyLock lock;
    if (Status status = lock.lock(parent_handle, FamilyLock::Reach::self); !status) {
        return status;
    }
    Resident &parent = lock.domain();
    if (name != nullptr) {
        return fail(
            CD_ERROR_NAME_ON_CHILD,
            "the name \"%s\" was given to a child of CD %s; only roots have names, pass NULL", name,
            parent.name());
    }
    if (Status status = check_logging_against(parent, mode); !status) {
        return status;
    }
    auto child = std::make_unique<Resident>();
    child->storage = parent.storage;
    if (Status status = read_storage_info(storage_info, child->storage); !status) {
        return status;
    }
    if (Status status = check_same_store(child->storage, parent.storage, parent.name()); !status) {
        return status;
    }
    ActiveStack &stack = ActiveStack::of_this_thread();
    stack.make_room();
    if (Resident *dormant = next_dormant(parent)) {
        return wake_child(*dormant, parent, stack, handle, report);
    }
    child->parent = &parent;
    child->depth = parent.depth + 1;
    child->sibling = parent.children_numbers.lowest_free();
    child->root_name = parent.root_name;
    child->rank = parent.rank;
    child->identity = make_identity(child->rank, child->root_name, child->depth, child->sibling);
    report.about(child->name());
    child->home_thread = child->active_in = stack.thread();
    child->pace = begin_pace(parent.pace.limits());
    LedgerPlace place(*child, parent);
    if (parent.log.enabled()) {
        Status status = LogShare::of_child(parent.log, log_place(parent, stack.thread()),
                                           {child->depth, child->sibling}, child->log);
        if (!status) {
            return status;
        }
    }
    if (log_place(parent, stack.thread()) != LogShare::Place::parents &&
        child->log.extent().remaining > 0) {
        report.also(CD_OP_REPLAY_BEGIN, child->name());
    }
    make_room_for_one(parent.children);
    if (parent.ledger != nullptr) {
        lock.prepare_discard(1);
    }
    Resident &resident = *child;
    Status status = Registry::instance().install(std::move(child), handle);
    if (!status) {
        return status;
    }
    parent.children.push_back(&resident);
    parent.children_numbers.take(resident.sibling);
    // Last, since it cannot be taken back. Nobody else knows the child yet.
    status = attempt([&] { return place.write_down(); });
    if (!status) {
        lock.discard(resident);
        handle = nullptr;
        return status;
    }
    ++parent.children_created;
    stack.push(handle);
    place.keep();
    return status;
}

// What the interposition layer is told once the locks are gone: the family whose logs the operation
// may have forgotten, 0 if none, and its root.
struct Forgotten {
    uint64_t family = 0;
    cd_handle root = nullptr;
};

uint64_t family_of_root(Resident &domain) {
    return domain.is_root() && domain.log.enabled() ? domain.log.stream().family() : 0;
}

// Locks the named CD and its parent, and all ancestors if the operation asks for it by returning
// nothing: that is rare, and CDs with a common root should not wait for each other.
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
    if (Status status = lock.lock(handle, FamilyLock::Reach::ancestors); !status) {
        return status;
    }
    return *operation(lock, Locked::ancestors);
}

std::optional<Status> commit_locked(FamilyLock &lock, Locked locked, Report &report,
                                    Forgotten &forgotten) {
    Resident &domain = lock.domain();
    report.about(domain.name());
    ProtectedCommit protection(domain);
    lock.prepare_discard(1);
    ActiveStack &stack = ActiveStack::of_this_thread();
    std::optional<Status> status = commit(domain, locked, protection.last_word());
    if (!status || !*status) {
        return status ? std::optional(protection.refused(*status)) : status;
    }
    forgotten.family = family_of_root(domain);
    stack.remove(domain.handle);
    lock.discard(domain);
    return Status::ok();
}

// A thread that works in a descendant would find its CD gone and its memory changed under it.
Status check_not_active_elsewhere(const Domain &top, const std::vector<Domain *> &subtree) {
    const uint64_t here = ActiveStack::of_this_thread().thread();
    for (const Domain *domain : subtree) {
        const uint64_t active_in = static_cast<const Resident *>(domain)->active_in;
        if (domain != &top && active_in != 0 && active_in != here) {
            return fail(CD_ERROR_ACTIVE_ELSEWHERE,
                        "CD %s cannot be restored while its descendant %s is active in another "
                        "thread; let that thread commit it or end first",
                        top.name(), domain->name());
        }
    }
    return Status::ok();
}

Status write_memory(Recovery &recovery, FamilyLock &lock) {
    std::optional<FamilyLock::Lending> lending;
    if (recovery.regenerates()) {
        lending.emplace(lock);
    }
    return recovery.write_memory();
}

// Functions that regenerate bytes are the program's: those of the process that is gone are of no
// use.
Status check_regenerable(const std::vector<Domain *> &subtree) {
    for (const Domain *domain : subtree) {
        for (const Unbound &found : domain->unbound) {
            if (found.restoration == Restoration::regen) {
                return fail(CD_ERROR_RESTART_UNBOUND,
                            "CD %s holds %zu bytes via regen, and this program has not given the "
                            "function yet; add them via regen again, then restore",
                            domain->name(), found.old.length());
            }
        }
    }
    return Status::ok();
}

// After memory was restored: in the store too the descendants end.
Status write_down_restore(Resident &top, const std::vector<Domain *> &subtree,
                          Inheriting &inheriting) {
    for (size_t i = 1; i < subtree.size(); ++i) {
        inheriting.leave(*subtree[i], false);
    }
    const std::unique_ptr<Transaction> transaction = top.ledger->begin();
    inheriting.write_down(*transaction);
    for (size_t i = subtree.size(); i-- > 1;) {
        transaction->drop(subtree[i]->number);
    }
    return transaction->commit();
}

void count_as_restored(Resident &top) noexcept {
    top.restarted = false;
    top.files_owed = true;
    top.children_created = 0;
    for (Unbound &found : top.unbound) {
        found.owed = true;
    }
}

Status restore_named(cd_handle handle, Report &report) {
    FamilyLock lock;
    if (Status status = lock.lock(handle, FamilyLock::Reach::family); !status) {
        return status;
    }
    Resident &domain = lock.domain();
    report.about(domain.name());
    Recovery recovery(domain);
    if (Status status = recovery.prepare(); !status) {
        return status;
    }
    const auto &subtree = recovery.subtree();
    if (Status status = check_not_active_elsewhere(domain, subtree); !status) {
        return status;
    }
    if (Status status = check_regenerable(subtree); !status) {
        return status;
    }
    std::vector<FilePosition> unused;
    if (Status status = read_positions(domain, recovery.files(), unused); !status) {
        return status;
    }
    lock.prepare_discard(subtree.size());
    for (size_t i = subtree.size(); i-- > 1;) {
        report.also(CD_OP_DISCARD, subtree[i]->name());
    }
    if (domain.log.extent().entries > 0) {
        report.also(CD_OP_REPLAY_BEGIN, domain.name());
    }
    if (Status status = write_memory(recovery, lock); !status) {
        return status;
    }
    if (Status status = set_positions(domain, recovery.files()); !status) {
        return status;
    }
    report.copied(recovery.copied());
    if (domain.ledger != nullptr) {
        Inheriting inheriting(domain);
        if (Status status = write_down_restore(domain, subtree, inheriting); !status) {
            return status;
        }
        inheriting.publish();
    }
    count_as_restored(domain);
    if (domain.pace.measures()) {
        domain.pace.restored(os::system().monotonic_ns());
    }
    domain.log.rewind(domain.depth);
    for (size_t i = subtree.size(); i-- > 1;) {
        lock.discard(static_cast<Resident &>(*subtree[i]));
    }
    return Status::ok();
}

// What the interposition layer does before a restore would harm such a thread.
Status check_quiescible(cd_handle handle, Report &report) {
    FamilyLock lock;
    if (Status status = lock.lock(handle, FamilyLock::Reach::family); !status) {
        return status;
    }
    report.about(lock.domain().name());
    return check_not_active_elsewhere(lock.domain(), subtree_of(lock.domain()));
}

// Tells the interposition layer, which may find that the CD cannot be restored now.
Status restore_quiesced(cd_handle handle, Report &report) {
    const cd_log_listener *listener = log_listener.load(std::memory_order_acquire);
    if (listener == nullptr) {
        return restore_named(handle, report);
    }
    if (Status status = check_quiescible(handle, report); !status) {
        return status;
    }
    if (const char *reason = listener->restoring(handle)) {
        return fail(CD_ERROR_LOG_PENDING, "the CD cannot be restored now: %s", reason);
    }
    const Status status = restore_named(handle, report);
    listener->restored(handle, status.is_ok() ? 1 : 0);
    return status;
}

std::optional<Status> advance_locked(FamilyLock &lock, Locked locked, Report &report,
                                     Forgotten &forgotten) {
    Resident &domain = lock.domain();
    report.about(domain.name());
    ProtectedAdvance protection(domain);
    std::vector<FilePosition> positions;
    if (Status status = read_positions(domain, domain.files, positions); !status) {
        return status;
    }
    if (!domain.is_root()) {
        report.also(CD_OP_IMPLICIT_COMMIT, domain.name());
    }
    if (protection.wanted()) {
        report.also(CD_OP_PROTECT, domain.name());
    }
    const bool measures = domain.pace.measures();
    const uint64_t begin = measures ? os::system().monotonic_ns() : 0;
    size_t copied = 0;
    std::optional<Status> status = advance(domain, locked, positions, copied);
    if (status && status->is_ok() && protection.wanted()) {
        report.also_came_to(protection.offer());
    }
    if (measures && status && status->is_ok()) {
        domain.pace.advanced(begin, os::system().monotonic_ns());
    }
    report.copied(copied);
    if (status && status->is_ok()) {
        forgotten = {family_of_root(domain), domain.handle};
    }
    return status;
}

} // namespace
} // namespace cd

extern "C" {

cd_handle create_cd(cd_handle parent, const char *storage_info, mpi_log log_mpi_traffic,
                    const char *name, int *error) {
    cd_handle handle = nullptr;
    const cd::Status status = cd::observed(CD_OP_CREATE, [&](cd::Report &report) {
        cd::Status created = cd::support_fork();
        if (created.is_ok()) {
            created = cd::check_logging_mode(log_mpi_traffic);
        }
        if (created.is_ok()) {
            created =
                parent == nullptr
                    ? cd::create_root(storage_info, log_mpi_traffic, name, handle, report)
                    : cd::create_child(parent, storage_info, log_mpi_traffic, name, handle, report);
        }
        return created;
    });
    if (error != nullptr) {
        *error = status.code();
    }
    cd::tell_boundary();
    return status.is_ok() ? handle : nullptr;
}

int commit_cd(cd_handle cd) {
    cd::Forgotten forgotten;
    const cd::Status status = cd::observed(CD_OP_COMMIT, [&](cd::Report &report) {
        return cd::with_parent(cd, [&](cd::FamilyLock &lock, cd::Locked locked) {
            return cd::commit_locked(lock, locked, report, forgotten);
        });
    });
    cd::tell_boundary();
    cd::tell_forgotten(forgotten.family, nullptr);
    return cd::result_of(status);
}

int restore_cd(cd_handle cd) {
    return cd::result_of(cd::observed(
        CD_OP_RESTORE, [&](cd::Report &report) { return cd::restore_quiesced(cd, report); }));
}

int advance_cd_point_in_time(cd_handle cd) {
    cd::Forgotten forgotten;
    const cd::Status status = cd::observed(CD_OP_ADVANCE, [&](cd::Report &report) {
        return cd::with_parent(cd, [&](cd::FamilyLock &lock, cd::Locked locked) {
            return cd::advance_locked(lock, locked, report, forgotten);
        });
    });
    cd::tell_boundary();
    cd::tell_forgotten(forgotten.family, forgotten.root);
    return cd::result_of(status);
}

int cd_need_advance(cd_handle cd) {
    bool needed = true;
    const cd::Status status = cd::guarded([&] {
        cd::FamilyLock lock;
        cd::Status locked = lock.lock(cd, cd::FamilyLock::Reach::self);
        if (locked.is_ok()) {
            const cd::Pace &pace = lock.domain().pace;
            needed = !pace.measures() || pace.is_time(cd::os::system().monotonic_ns());
        }
        return locked;
    });
    return !status.is_ok() || needed ? 1 : 0;
}

} // extern "C"
