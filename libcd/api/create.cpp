// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// create_cd

#include "api/api_call.h"
#include "base/no_throw.h"
#include "base/reserve_one.h"
#include "cd/mpi_log.h"
#include "mpi_log/spill.h"
#include "runtime/active_stack.h"
#include "runtime/family_lock.h"
#include "runtime/fault_injection.h"
#include "runtime/fork.h"
#include "runtime/identity.h"
#include "runtime/log_listener.h"
#include "runtime/persistent_root.h"
#include "runtime/redundancy_client.h"

#include <memory>
#include <string>
#include <utility>

namespace cd {
namespace {

constexpr const char *environment_origin = "the environment variable CD_STORAGE_INFO";

// Checks what all creations need.
Status check_call(int mode) {
    if (Status status = support_fork(); !status) {
        return status;
    }
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

Status read_roots_storage_info(const char *storage_info, const char *name, StorageInfo &storage) {
    if (storage_info == nullptr) {
        return check_supported(storage, environment_origin);
    }
    const std::string origin = std::string("the storage_info of root CD ") + name;
    Status status = parse_storage_info(storage_info, origin.c_str(), storage);
    return status ? check_supported(storage, origin.c_str()) : status;
}

// Checks first that the child has the root's store: no other setting would make another one
// possible.
Status read_childs_storage_info(const char *storage_info, const Domain &parent,
                                StorageInfo &storage) {
    if (storage_info == nullptr) {
        return Status::ok();
    }
    const std::string origin = "the storage_info of a child of CD " + parent.identity;
    Status status = parse_storage_info(storage_info, origin.c_str(), storage);
    if (status) {
        status = check_same_store(storage, parent.storage, parent.name());
    }
    return status ? check_supported(storage, origin.c_str()) : status;
}

// Installs the root and opens its store under one lock, so that no forked process has half a root.
Status install_and_open(FamilyLock &lock, std::unique_ptr<Resident> installed, bool &met,
                        cd_handle &handle) {
    lock.prepare_discard(1);
    Resident &root = *installed;
    // Takes the name first, so that no other thread opens the same store.
    Status status = lock.install(std::move(installed), handle);
    if (!status || root.storage.store != Store::file) {
        return status;
    }
    try {
        status = open_family(lock, root, met);
    } catch (...) {
        end_family(lock, root);
        throw;
    }
    if (!status) {
        end_family(lock, root);
    }
    return status;
}

AdvancePolicy begin_policy(const AdvanceLimits &limits) {
    return {limits, limits.given() ? os::system().monotonic_ns() : 0};
}

Status read_injections() {
    Status status;
    Registry::instance().between_forks(
        [&] { status = FaultInjection::instance().read_environment(); });
    return status;
}

// Creates a root whose storage is known.
Status begin_root(std::unique_ptr<Resident> root, mpi_log mode, const char *name, bool &met,
                  cd_handle &handle, Report &report) {
    AdvanceLimits limits;
    if (Status status = read_advance_limits(limits); !status) {
        return status;
    }
    root->advance_policy = begin_policy(limits);
    if (Status status = read_injections(); !status) {
        return status;
    }
    ActiveStack &stack = ActiveStack::of_this_thread();
    stack.reserve_room();
    root->root_name = name;
    root->rank = current_rank();
    root->identity = make_identity(root->rank, root->root_name, 0, 0);
    report.about(root->name());
    root->creator_thread = stack.thread();
    if (mode == CD_COMM_LOGGING_ENABLED) {
        const StorageInfo &storage = root->storage;
        root->log = LogView::of_root(
            storage.log_limit > 0 ? std::make_shared<LogSpill>(storage.log_limit, storage.dir)
                                  : nullptr);
    }
    FamilyLock lock;
    Status status = install_and_open(lock, std::move(root), met, handle);
    if (status.is_ok()) {
        stack.push(handle);
    }
    return status;
}

// Reads the environment's storage_info as the default.
Status read_defaults(const char *defaults, const char *storage_info, StorageInfo &storage,
                     JointCreate &protection) {
    if (defaults == nullptr) {
        return Status::ok();
    }
    Status status = parse_storage_info(defaults, environment_origin, storage);
    if (status || storage_info == nullptr) {
        return status;
    }
    protection.is_wanted = asks_for_protection("", storage_info);
    return Status::ok();
}

Status make_root(const char *defaults, const char *storage_info, mpi_log mode, const char *name,
                 JointCreate &protection, cd_handle &handle, Report &report) {
    auto root = std::make_unique<Resident>();
    if (Status status = read_defaults(defaults, storage_info, root->storage, protection); !status) {
        return status;
    }
    if (Status status = check_call(mode); !status) {
        return status;
    }
    if (Status status = check_root_name(name); !status) {
        return status;
    }
    if (mode == CD_COMM_LOGGING_INHERIT) {
        return fail(CD_ERROR_LOGGING_INHERIT_AT_ROOT,
                    "the root CD \"%s\" has no parent to inherit MPI logging from; pass "
                    "COMM_LOGGING_ENABLED or COMM_LOGGING_DISABLED",
                    name);
    }
    if (Status status = read_roots_storage_info(storage_info, name, root->storage); !status) {
        return status;
    }
    protection.is_wanted = root->storage.store == Store::file && root->storage.is_protected();
    return begin_root(std::move(root), mode, name, protection.has_met, handle, report);
}

// Creates a root. Reports also unreadable settings to other ranks, which may wait. defaults may be
// null.
Status create_root(const char *defaults, const char *storage_info, mpi_log mode, const char *name,
                   cd_handle &handle, Report &report) {
    const auto text = [](const char *given) { return given != nullptr ? given : ""; };
    JointCreate protection{check_root_name(name) ? name : "",
                           asks_for_protection(text(defaults), text(storage_info))};
    try {
        return protection.outcome(
            make_root(defaults, storage_info, mode, name, protection, handle, report));
    } catch (const std::bad_alloc &) {
        return protection.outcome(out_of_memory("create_cd"));
    }
}

// Gives the child its part of the family's log. take_log_number() makes its number there final.
Status join_log(Resident &child, Resident &parent, Report &report) {
    if (!parent.log.enabled()) {
        return Status::ok();
    }
    const bool other_thread = child.creator_thread != parent.creator_thread;
    const int number = parent.log_numbers[other_thread].lowest_free();
    Status status = LogView::of_child(parent.log, {child.depth, number, other_thread},
                                      parent.name(), child.log);
    if (status && &child.log.log() != &parent.log.log() && child.log.extent().remaining > 0) {
        report.also(CD_OP_REPLAY_BEGIN, child.name());
    }
    return status;
}

void take_log_number(const Resident &child, Resident &parent) noexcept {
    if (child.log.enabled()) {
        const Log::Sibling &sibling = child.log.sibling();
        parent.log_numbers[sibling.other_thread].take(sibling.index);
    }
}

// Makes a child that came back from the store the next one of its parent.
Status wake_child(Resident &child, Resident &parent, ActiveStack &stack, cd_handle &handle,
                  Report &report) {
    report.about(child.name());
    child.creator_thread = stack.thread();
    if (Status status = join_log(child, parent, report); !status) {
        return status;
    }
    take_log_number(child, parent);
    child.slot->active_in = stack.thread();
    child.advance_policy = begin_policy(parent.advance_policy.limits());
    wake(child, parent);
    handle = child.handle;
    stack.push(handle);
    return Status::ok();
}

Status create_child(cd_handle parent_handle, const char *storage_info, mpi_log mode,
                    const char *name, cd_handle &handle, Report &report) {
    if (Status status = check_call(mode); !status) {
        return status;
    }
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
    if (Status status = read_childs_storage_info(storage_info, parent, child->storage); !status) {
        return status;
    }
    ActiveStack &stack = ActiveStack::of_this_thread();
    stack.reserve_room();
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
    child->creator_thread = stack.thread();
    child->advance_policy = begin_policy(parent.advance_policy.limits());
    StorePlace place(*child, parent);
    if (Status status = join_log(*child, parent, report); !status) {
        return status;
    }
    reserve_one(parent.children);
    if (parent.store != nullptr) {
        lock.prepare_discard(1);
    }
    Resident &resident = *child;
    Status status = lock.install(std::move(child), handle);
    if (!status) {
        return status;
    }
    parent.children.push_back(&resident);
    parent.children_numbers.take(resident.sibling);
    take_log_number(resident, parent);
    // Last, since it cannot be undone.
    status = catch_exceptions([&] { return place.write_down(); });
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

// Returns the handle that create(handle, report) makes, or nullptr.
template <typename Create> cd_handle created(int *error, const Create &create) {
    cd_handle handle = nullptr;
    const Status status = observed(
        CD_OP_CREATE, [&](Report &report) { return create(handle, report); }, "create_cd");
    if (error != nullptr) {
        *error = status.code();
    }
    notify_boundary();
    return status.is_ok() ? handle : nullptr;
}

} // namespace
} // namespace cd

extern "C" {

cd_handle create_cd(cd_handle parent, const char *storage_info, mpi_log log_mpi_traffic,
                    const char *name, int *error) {
    return cd::created(error, [&](cd_handle &handle, cd::Report &report) {
        if (parent != nullptr) {
            return cd::create_child(parent, storage_info, log_mpi_traffic, name, handle, report);
        }
        const char *defaults = cd::os::system().environment("CD_STORAGE_INFO");
        return cd::create_root(defaults, storage_info, log_mpi_traffic, name, handle, report);
    });
}

cd_handle cd_log_create_root(const char *name, int *error) {
    return cd::created(error, [&](cd_handle &handle, cd::Report &report) {
        return cd::create_root(nullptr, nullptr, CD_COMM_LOGGING_ENABLED, name, handle, report);
    });
}

} // extern "C"
