// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// The add calls in all their forms, and delete_from_cd

#include "api/api_call.h"
#include "domains/add.h"
#include "domains/compaction.h"
#include "domains/delete_ranges.h"
#include "domains/restore.h"
#include "restart/bind.h"
#include "runtime/family_lock.h"

#include <atomic>
#include <cstdarg>
#include <string>
#include <vector>

namespace cd {
namespace {

// Numbers the add calls of all threads: regen functions are called in this order.
uint64_t next_call() {
    static std::atomic<uint64_t> calls = 0;
    return calls.fetch_add(1, std::memory_order_relaxed);
}

cd_operation operation_of(Restoration restoration) {
    switch (restoration) {
    case Restoration::copy:
        return CD_OP_ADD_COPY;
    case Restoration::parent:
        return CD_OP_ADD_PARENT;
    case Restoration::regen:
        return CD_OP_ADD_REGEN;
    }
    return CD_OP_ADD_COPY;
}

// Sets how this call's entries are kept: by its storage_info, else like the CD's.
Status choose_storage(const Domain &domain, const char *storage_info, AddRequest &request) {
    request.cd = domain.name();
    request.in_place = domain.storage.shadow == Shadow::none;
    request.checksummed = domain.storage.checksummed();
    if (storage_info == nullptr) {
        return Status::ok();
    }
    StorageInfo storage = domain.storage;
    const std::string where = "CD " + domain.identity + ": storage_info";
    if (Status status = parse_storage_info(storage_info, where.c_str(), storage); !status) {
        return status;
    }
    if (Status status = check_same_store(storage, domain.storage, domain.name()); !status) {
        return status;
    }
    request.in_place = storage.shadow == Shadow::none;
    request.checksummed = storage.checksummed();
    return check_supported(storage, where.c_str());
}

Status add_here(Resident &domain, AddRequest &request, const char *storage_info, Report &report) {
    report.about(domain.name());
    if (Status status = choose_storage(domain, storage_info, request); !status) {
        return status;
    }
    size_t copied = 0;
    Status status = add(domain, request, copied);
    report.copied(copied);
    if (status.is_ok()) {
        free_sparse_places(domain);
    }
    return status;
}

Status bind_here(Resident &domain, AddRequest &request, const char *storage_info, FamilyLock &lock,
                 Report &report) {
    report.about(domain.name());
    if (Status status = choose_storage(domain, storage_info, request); !status) {
        return status;
    }
    if (Status status = check_request(request); !status) {
        return status;
    }
    // Regenerates what a restore has left to this function.
    const auto regenerate_owed = [&](std::vector<cd_addrspec> &specs) {
        const FamilyLock::Lending lending(lock);
        return regenerate(domain, request.regen, specs);
    };
    size_t copied = 0;
    Status status = bind_and_add(domain, request, copied, regenerate_owed);
    report.copied(copied);
    if (status.is_ok()) {
        free_sparse_places(domain);
    }
    return status;
}

// Returns the root of a CD in whose family ranges are pending; nullptr: there are none.
cd_handle root_to_bind(const Resident &domain) {
    if (domain.store == nullptr || domain.store->pending == 0) {
        return nullptr;
    }
    const Resident *at = &domain;
    while (!at->is_root()) {
        at = at->parent_resident();
    }
    return at->handle;
}

// Returns a CD whose whole family is locked, or nullptr if it has ended.
Resident *find_in_locked_family(cd_handle handle) {
    uint64_t generation = 0;
    const Slot *slot = Registry::instance().find(handle, generation);
    return slot != nullptr && slot->generation == generation ? slot->resident.get() : nullptr;
}

int add_named(cd_handle handle, const cd_addrspec *list, int count, const char *storage_info,
              Restoration restoration, cd_regen_fn regen, const char *call = __builtin_FUNCTION()) {
    const auto add_to_cd = [&](Report &report) {
        AddRequest request = {list, count, restoration, regen, false, false, next_call()};
        // An ancestor of a PARENT entry must not end while it is looked up.
        const auto reach = restoration == Restoration::parent ? FamilyLock::Reach::ancestors
                                                              : FamilyLock::Reach::self;
        cd_handle named = nullptr;
        cd_handle root = nullptr;
        {
            FamilyLock lock;
            if (Status status = lock.lock(handle, reach); !status) {
                return status;
            }
            named = lock.domain().handle;
            root = root_to_bind(lock.domain());
            if (root == nullptr) {
                return add_here(lock.domain(), request, storage_info, report);
            }
        }
        {
            FamilyLock lock;
            if (Status status = lock.lock(root, FamilyLock::Reach::family); !status) {
                return status;
            }
            if (Resident *domain = find_in_locked_family(named)) {
                return bind_here(*domain, request, storage_info, lock, report);
            }
        }
        FamilyLock gone; // the CD has ended meanwhile: fails
        return gone.lock(named, FamilyLock::Reach::self);
    };
    return result_of(observed(operation_of(restoration), add_to_cd, call));
}

// The optional arguments of a call that the C macros made: they end with CD_END_OF_ARGUMENTS.
const void *next_argument(va_list &arguments, bool &ended) {
    const void *argument = ended ? nullptr : va_arg(arguments, const void *);
    ended |= argument == CD_END_OF_ARGUMENTS;
    return ended ? nullptr : argument;
}

} // namespace
} // namespace cd

extern "C" {

int add_to_cd_via_copy(cd_handle cd, const cd_addrspec *addrlist, int ascount,
                       const char *storage_info) {
    return cd::add_named(cd, addrlist, ascount, storage_info, cd::Restoration::copy, nullptr);
}

int add_to_cd_via_parent(cd_handle cd, const cd_addrspec *addrlist, int ascount,
                         const char *storage_info) {
    return cd::add_named(cd, addrlist, ascount, storage_info, cd::Restoration::parent, nullptr);
}

int add_to_cd_via_regen(cd_handle cd, const cd_addrspec *addrlist, int ascount,
                        const char *storage_info, cd_regen_fn regen) {
    return cd::add_named(cd, addrlist, ascount, storage_info, cd::Restoration::regen, regen);
}

int cd_add_via_copy_va(cd_handle cd, const cd_addrspec *addrlist, int ascount, ...) {
    va_list arguments;
    va_start(arguments, ascount);
    bool ended = false;
    const void *storage_info = cd::next_argument(arguments, ended);
    va_end(arguments);
    return add_to_cd_via_copy(cd, addrlist, ascount, static_cast<const char *>(storage_info));
}

int cd_add_via_parent_va(cd_handle cd, const cd_addrspec *addrlist, int ascount, ...) {
    va_list arguments;
    va_start(arguments, ascount);
    bool ended = false;
    const void *storage_info = cd::next_argument(arguments, ended);
    va_end(arguments);
    return add_to_cd_via_parent(cd, addrlist, ascount, static_cast<const char *>(storage_info));
}

int cd_add_via_regen_va(cd_handle cd, const cd_addrspec *addrlist, int ascount, ...) {
    va_list arguments;
    va_start(arguments, ascount);
    bool ended = false;
    const void *first = cd::next_argument(arguments, ended);
    const void *second = cd::next_argument(arguments, ended);
    va_end(arguments);
    const void *storage_info = ended ? nullptr : first;
    const void *regen = ended ? first : second;
    return add_to_cd_via_regen(cd, addrlist, ascount, static_cast<const char *>(storage_info),
                               reinterpret_cast<cd_regen_fn>(const_cast<void *>(regen)));
}

int delete_from_cd(cd_handle cd, const cd_addrspec *addrlist, int ascount) {
    return cd::result_of(cd::observed(CD_OP_DELETE, [&](cd::Report &report) {
        cd::FamilyLock lock;
        if (cd::Status status = lock.lock(cd, cd::FamilyLock::Reach::self); !status) {
            return status;
        }
        report.about(lock.domain().name());
        if (cd::Status status = cd::check_list(addrlist, ascount, lock.domain().name()); !status) {
            return status;
        }
        return cd::delete_ranges(lock.domain(), addrlist, ascount);
    }));
}

} // extern "C"
