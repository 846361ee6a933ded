// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "runtime/registry.h"

#include "memory/page_pool.h"
#include "runtime/redundancy_client.h"

#include <chrono>
#include <new>
#include <thread>
#include <utility>

namespace cd {

Resident::Resident() = default;
Resident::~Resident() = default;
namespace {

// A handle: generation, index of the slot, and a mark that no aligned pointer has.
constexpr unsigned mark_bits = 4;
constexpr unsigned index_bits = 20;
constexpr uintptr_t mark = 0xd;

cd_handle encode(uint32_t index, uint64_t generation) {
    const uintptr_t value =
        ((static_cast<uintptr_t>(generation) << index_bits | index) << mark_bits) | mark;
    return reinterpret_cast<cd_handle>(value); // NOLINT(performance-no-int-to-ptr)
}

} // namespace

Registry &Registry::instance() {
    // Never destroyed: threads may end, with CDs active, after the destructors of static objects.
    static auto *registry = new Registry;
    return *registry;
}

Slot *Registry::find(cd_handle handle, uint64_t &generation) const {
    const auto value = reinterpret_cast<uintptr_t>(handle);
    const auto index = static_cast<uint32_t>(value >> mark_bits & ((1U << index_bits) - 1));
    generation = value >> (mark_bits + index_bits);
    const bool possible = (value & ((1U << mark_bits) - 1)) == mark && generation != 0 &&
                          index < used_.load(std::memory_order_acquire);
    return possible ? slot_at(index) : nullptr;
}

bool Registry::alive(cd_handle handle) const {
    uint64_t generation = 0;
    const Slot *slot = find(handle, generation);
    return slot != nullptr && slot->generation.load(std::memory_order_acquire) == generation;
}

Status Registry::install(std::unique_ptr<Resident> resident, cd_handle &handle, Slot *&slot) {
    if (Status status = reserve(*resident, slot); !status) {
        return status;
    }
    // Not under the registry's mutex: a thread that removed the slot's last resident may still hold
    // the slot's lock and want the registry's.
    slot->mutex.lock();
    handle = resident->handle;
    slot->generation.store(resident->generation, std::memory_order_release);
    slot->active_in = resident->creator_thread;
    slot->parent = resident->is_root() ? nullptr : resident->parent_resident()->slot;
    slot->resident = std::move(resident);
    return Status::ok();
}

Status Registry::reserve(Resident &resident, Slot *&slot) {
    const std::scoped_lock lock(mutex_);
    if (resident.is_root() && root_names_.contains(resident.root_name)) {
        return fail(CD_ERROR_NAME_IN_USE,
                    "this rank has a live root CD named \"%s\" already; commit it first or choose "
                    "another name",
                    resident.root_name.c_str());
    }
    if (free_.empty() && !add_chunk()) {
        return fail(CD_ERROR_NO_MEMORY, "%u CDs are alive, more cannot be managed; commit some",
                    used_.load());
    }
    if (resident.is_root()) {
        root_names_.insert(resident.root_name);
    }
    slot = slot_at(free_.back());
    free_.pop_back();
    resident.slot = slot;
    resident.generation = next_generation_++;
    resident.creation = resident.generation;
    resident.handle = encode(slot->index, resident.generation);
    return Status::ok();
}

bool Registry::add_chunk() {
    const uint32_t used = used_.load();
    if (used == slots_per_chunk * chunks) {
        return false;
    }
    free_.reserve(used + slots_per_chunk);
    auto *chunk = new Chunk;
    for (uint32_t i = slots_per_chunk; i-- > 0;) {
        (*chunk)[i].index = used + i;
        free_.push_back(used + i);
    }
    chunks_[used / slots_per_chunk].store(chunk);
    used_.store(used + slots_per_chunk, std::memory_order_release);
    return true;
}

std::unique_ptr<Resident> Registry::remove(Resident &resident) noexcept {
    const std::scoped_lock lock(mutex_);
    if (resident.is_root()) {
        root_names_.erase(root_names_.find(resident.root_name));
    }
    Slot &slot = *resident.slot;
    slot.generation.store(0, std::memory_order_release);
    free_.push_back(slot.index);
    return std::move(slot.resident);
}

// Never waits while it holds a lock, since other threads hold locks in unknown orders. Lent locks
// are those of a CD and all its ancestors, and threads that wait for them hold nothing.
void Registry::lock_everything() {
    ++waiting_forks_;
    while (!try_lock_everything()) {
        std::this_thread::yield();
    }
    --waiting_forks_;
}

void Registry::wait_for_forks() const {
    constexpr auto longest = std::chrono::milliseconds(50);
    const auto end = std::chrono::steady_clock::now() + longest;
    while (waiting_forks_ != 0 && std::chrono::steady_clock::now() < end) {
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
}

bool Registry::try_lock_everything() {
    if (!mutex_.try_lock()) {
        return false;
    }
    bool complete = PagePool::instance().mutex().try_lock();
    const bool pool_locked = complete;
    for (uint32_t i = 0; complete && i < used_.load(); ++i) {
        // Empty slots too: a thread that emptied one may still hold its lock.
        if (Slot &slot = *slot_at(i); slot.lent_by == 0) {
            complete = slot.locked_for_fork = slot.mutex.try_lock();
        }
    }
    if (!complete) {
        unlock_slots();
        if (pool_locked) {
            PagePool::instance().mutex().unlock();
        }
        mutex_.unlock();
    }
    return complete;
}

void Registry::unlock_everything() {
    unlock_slots();
    PagePool::instance().mutex().unlock();
    mutex_.unlock();
}

void Registry::forget_other_threads(uint64_t survivor) {
    waiting_forks_ = 0;
    for (uint32_t i = 0; i < used_.load(); ++i) {
        if (Slot &slot = *slot_at(i); slot.lent_by != 0 && slot.lent_by != survivor) {
            new (&slot.mutex) std::mutex; // the thread that would unlock it is not in this process
            slot.lent_by = 0;
        }
    }
    take_back_reservations();
}

bool Registry::has_root(const std::string &name) {
    bool found = false;
    for_each([&](const Resident &resident) {
        found = found || (resident.is_root() && resident.root_name == name);
    });
    return found;
}

// Takes back names and slots that were reserved, but have no resident yet.
void Registry::take_back_reservations() {
    std::erase_if(root_names_, [this](const std::string &name) { return !has_root(name); });
    free_.clear();
    for (uint32_t i = used_.load(); i-- > 0;) {
        if (slot_at(i)->resident == nullptr) {
            free_.push_back(i);
        }
    }
}

void Registry::unlock_slots() {
    for (uint32_t i = used_.load(); i-- > 0;) {
        if (Slot &slot = *slot_at(i); slot.locked_for_fork) {
            slot.locked_for_fork = false;
            slot.mutex.unlock();
        }
    }
}

} // namespace cd
