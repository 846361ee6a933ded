// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "runtime/family_lock.h"

#include "runtime/active_stack.h"

#include <algorithm>
#include <utility>

namespace cd {
namespace {

Status invalid(cd_handle handle) {
    return fail(
        CD_ERROR_INVALID_HANDLE,
        "the handle %p names no live CD: it was committed, discarded by a restore, or never "
        "created; pass the handle of a live CD, or CURRENT_CD",
        handle);
}

} // namespace

FamilyLock::~FamilyLock() { unlock_all(); }

Status FamilyLock::lock(cd_handle handle, Reach reach) {
    if (handle == CD_CURRENT_CD) {
        handle = ActiveStack::active();
        if (handle == nullptr) {
            return fail(CD_ERROR_NO_CURRENT_CD,
                        "CURRENT_CD was given, but this thread has no active CD; create one or "
                        "pass a handle");
        }
    }
    Registry::instance().give_way_to_forks();
    Named named = {};
    named.slot = Registry::instance().find(handle, named.generation);
    if (named.slot == nullptr || !lock_slot(named)) {
        return invalid(handle);
    }
    domain_ = named.slot->resident.get();
    if (reach == Reach::self || (reach != Reach::family && domain_->parent == nullptr)) {
        return Status::ok();
    }
    // Ancestors outlive the CD, but have to be locked before it.
    std::vector<Named> path;
    const Resident *relative = domain_;
    while ((relative = relative->parent_resident()) != nullptr) {
        path.push_back({relative->slot, relative->generation});
        if (reach == Reach::parent) {
            break;
        }
    }
    unlock_all();
    std::ranges::reverse(path);
    path.push_back(named);
    for (const Named &relation : path) {
        if (!lock_slot(relation)) {
            unlock_all();
            return invalid(handle);
        }
    }
    if (reach == Reach::family) {
        lock_descendants(*domain_);
    }
    return Status::ok();
}

Status FamilyLock::install(std::unique_ptr<Resident> resident, cd_handle &handle) {
    locked_.reserve(locked_.size() + 1);
    Slot *slot = nullptr;
    Status status = Registry::instance().install(std::move(resident), handle, slot);
    if (status.is_ok()) {
        locked_.push_back(slot);
    }
    return status;
}

// Locks the slot. False if it has another resident by now; then nothing is locked.
bool FamilyLock::lock_slot(Named named) {
    locked_.reserve(locked_.size() + 1);
    named.slot->mutex.lock();
    locked_.push_back(named.slot);
    if (named.slot->generation.load(std::memory_order_relaxed) == named.generation) {
        return true;
    }
    unlock_all();
    return false;
}

void FamilyLock::lock_descendants(const Domain &top) {
    // Reads a CD's children after locking it: then they cannot end.
    std::vector<const Domain *> locked = {&top};
    for (size_t i = 0; i < locked.size(); ++i) {
        for (const Domain *child : locked[i]->children) {
            const auto &resident = static_cast<const Resident &>(*child);
            lock_slot({resident.slot, resident.generation});
            locked.push_back(child);
        }
    }
}

void FamilyLock::discard(Resident &resident) noexcept {
    if (Domain *parent = resident.parent) {
        auto &siblings = parent->children; // in the order of their creation
        siblings.erase(
            std::ranges::lower_bound(siblings, resident.creation, {}, &Domain::creation));
        parent->children_numbers.give_back(resident.sibling);
        if (resident.dormant) {
            resident.parent_resident()->dormant_children.erase(resident.sibling);
        }
        if (resident.log.enabled()) {
            const Log::Sibling &in_log = resident.log.sibling();
            parent->log_numbers[in_log.other_thread].give_back(in_log.index);
        }
    }
    discarded_.push_back(Registry::instance().remove(resident));
}

FamilyLock::Lending::Lending(FamilyLock &lock) : lock_(lock) {
    lock_.set_lent_by(ActiveStack::of_this_thread().thread());
}

FamilyLock::Lending::~Lending() { lock_.set_lent_by(0); }

void FamilyLock::set_lent_by(uint64_t thread) {
    Registry::instance().between_forks([&] {
        for (Slot *slot : locked_) {
            slot->lent_by = thread;
        }
    });
}

void FamilyLock::unlock_all() noexcept {
    for (; !locked_.empty(); locked_.pop_back()) {
        locked_.back()->mutex.unlock();
    }
}

} // namespace cd
