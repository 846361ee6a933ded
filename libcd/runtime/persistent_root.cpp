// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "runtime/persistent_root.h"

#include "base/no_throw.h"
#include "base/reserve_one.h"
#include "file_store/open_store.h"
#include "restart/memory_names.h"
#include "restart/reload.h"
#include "runtime/identity.h"
#include "runtime/redundancy_client.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

namespace cd {
namespace {

Status make_dormant(const StoredCd &stored, Resident &parent, OpenedStore &opened,
                    Transaction &binds, FamilyLock &lock, Resident *&made) {
    auto child = std::make_unique<Resident>();
    child->parent = &parent;
    child->store = parent.store;
    child->storage = parent.storage;
    child->depth = parent.depth + 1;
    child->sibling = stored.sibling;
    child->root_name = parent.root_name;
    child->rank = parent.rank;
    child->identity = make_identity(child->rank, child->root_name, child->depth, child->sibling);
    child->dormant = true;
    if (Status status = reload(*child, stored, opened, binds); !status) {
        return status;
    }
    reserve_one(parent.children);
    parent.children_numbers.reserve_room(stored.sibling);
    made = child.get();
    std::map<int, Resident *> dormant = {{stored.sibling, made}};
    cd_handle handle = nullptr;
    Status status = lock.install(std::move(child), handle);
    if (status.is_ok()) {
        parent.dormant_children.merge(dormant);
        parent.children.push_back(made);
        parent.children_numbers.take(stored.sibling);
    }
    return status;
}

// Parents have smaller numbers than their children.
Status attach(Resident &root, OpenedStore &opened, FamilyLock &lock) {
    lock.prepare_discard(opened.loaded.state.cds.size());
    const std::unique_ptr<Transaction> binds = root.store->begin();
    std::map<uint64_t, Resident *> made;
    for (const auto &[number, stored] : opened.loaded.state.cds) {
        made[number] = &root;
        Status status = number == State::root ? reload(root, stored, opened, *binds)
                                              : make_dormant(stored, *made.at(stored.parent),
                                                             opened, *binds, lock, made[number]);
        if (!status) {
            return status;
        }
    }
    return binds->commit();
}

Status open_here(Resident &root, const OpenRequest &request, FamilyLock &lock,
                 OpenedStore &opened) {
    if (Status status = open_store(request, MemoryNames::instance(), opened); !status) {
        return status;
    }
    root.store = opened.store;
    Status status = opened.restarted ? attach(root, opened, lock) : Status::ok();
    // Removes the newer points in time, which are damaged.
    return status && opened.newer_are_damaged ? opened.store->rewrite() : status;
}

// All ranks agree on the checkpoint to start from, and then on whether all could open it.
Status open_protected(Resident &root, OpenRequest &request, FamilyLock &lock, bool &met) {
    cd_protected_start start = {};
    std::unique_ptr<RedundancyClient> protection;
    Status status = RedundancyClient::open(request, protection, start, met);
    root.protection = std::move(protection);
    if (!status) {
        return status;
    }
    OpenedStore opened;
    return root.protection->opened(catch_exceptions([&] {
        request.start = StoreStart{start.epoch, start.image};
        return open_here(root, request, lock, opened);
    }));
}

// Returns the last number of a path "1.4.2", which counts the children of one parent.
uint64_t last_number_of(std::string_view path) {
    path.remove_prefix(path.find_last_of('.') + 1); // npos + 1 is 0
    uint64_t number = 0;
    std::from_chars(path.data(), path.data() + path.size(), number);
    return number;
}

} // namespace

Status open_family(FamilyLock &lock, Resident &root, bool &met) {
    OpenRequest request = {root.storage, root.rank, root.root_name, std::nullopt};
    if (root.storage.is_protected()) {
        return open_protected(root, request, lock, met);
    }
    OpenedStore opened;
    return open_here(root, request, lock, opened);
}

void end_family(FamilyLock &lock, Resident &top) noexcept {
    Resident *at = &top;
    while (at != &top || !top.children.empty()) {
        if (!at->children.empty()) {
            at = static_cast<Resident *>(at->children.back());
        } else {
            Resident *const parent = at->parent_resident();
            lock.discard(*at);
            at = parent;
        }
    }
    lock.discard(top);
}

Resident *next_dormant(const Resident &parent) {
    if (!parent.restarted) { // a restore would have ended them, and an advance is refused
        return nullptr;
    }
    const auto &dormant = parent.dormant_children;
    return dormant.empty() ? nullptr : dormant.begin()->second;
}

void wake(Resident &child, Resident &parent) {
    child.dormant = false;
    parent.dormant_children.erase(child.sibling);
    parent.children_created = std::max(parent.children_created, last_number_of(child.path));
}

StorePlace::StorePlace(Resident &child, const Resident &parent) {
    if (parent.store == nullptr) {
        return;
    }
    const std::string own = std::to_string(parent.children_created + 1);
    child.path = parent.path.empty() ? own : parent.path + "." + own;
    child.number = number_ = parent.store->next_number();
    child.store = parent.store;
    parent.store->announce(number_, parent.number, child.depth, child.sibling, child.path);
    store_ = parent.store;
}

Status StorePlace::write_down() {
    if (store_ == nullptr || !store_->precedes_known(number_)) {
        return Status::ok();
    }
    const std::unique_ptr<Transaction> transaction = store_->begin();
    transaction->make_known(number_);
    return transaction->commit();
}

StorePlace::~StorePlace() {
    if (store_ != nullptr) {
        store_->withdraw(number_);
    }
}

} // namespace cd
