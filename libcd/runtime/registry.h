// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "domains/domain.h"
#include "runtime/advance_policy.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace cd {

class RedundancyClient;
struct Slot;

// A live domain, with what the runtime needs beyond its semantics.
struct Resident : Domain {
    Resident();
    ~Resident();

    Slot *slot = nullptr;
    uint64_t generation = 0;
    cd_handle handle = nullptr;
    int rank = 0;
    uint64_t creator_thread = 0; // or, if that has ended, the thread that restored it
    AdvancePolicy advance_policy;
    std::unique_ptr<RedundancyClient> protection; // of a root that has one
    std::map<int, Resident *> dormant_children;   // by their sibling index

    Resident *parent_resident() const { return static_cast<Resident *>(parent); }
};

// The place that a handle names. Slots are reused but never freed, so a stale handle is detected by
// its generation. One cache line each, since neighbours are other CDs.
struct alignas(64) Slot {
    std::mutex mutex;                     // guards the resident and everything in it
    std::atomic<uint64_t> generation = 0; // of the resident; 0: empty
    std::unique_ptr<Resident> resident;
    // The thread whose stack has the resident; 0: none. Set under the mutex, cleared without it
    // when that thread ends.
    std::atomic<uint64_t> active_in = 0;
    // The slot of the resident's parent; nullptr for a root. Valid while the resident lives.
    std::atomic<const Slot *> parent = nullptr;
    uint32_t index = 0;
    // The rest is guarded by the registry's mutex.
    bool locked_for_fork = false;
    uint64_t lent_by = 0; // the thread that has lent the mutex (FamilyLock::Lending); 0: none
};

// All live CDs of the process. Thread-safe. Lock order: slots from ancestors to descendants, then
// the registry's own mutex.
class Registry {
public:
    static Registry &instance();

    // Returns the slot that handle names and the generation that it must have; nullptr if it cannot
    // be a handle. Takes no lock.
    Slot *find(cd_handle handle, uint64_t &generation) const;

    // True if handle names a live CD at this moment. Takes no lock.
    bool alive(cd_handle handle) const;

    // Gives the resident a slot and a handle; the slot's mutex is then held by the caller. May
    // throw std::bad_alloc; then nothing has changed. For a root: CD_ERROR_NAME_IN_USE if a live
    // root has the name.
    Status install(std::unique_ptr<Resident> resident, cd_handle &handle, Slot *&slot);

    // Empties the slot, whose mutex the caller holds. Returns the resident, to be deleted without
    // locks.
    std::unique_ptr<Resident> remove(Resident &resident) noexcept;

    // Lets waiting forks go first, for a caller that holds no slot: they need all slots free at one
    // moment. Waits for a short time only, since a fork may wait for the caller.
    void give_way_to_forks() const {
        if (waiting_forks_.load(std::memory_order_relaxed) != 0) [[unlikely]] {
            wait_for_forks();
        }
    }

    // Lock all slots but lent ones, and release them. Waits for operations that are under way.
    void lock_everything();
    void unlock_everything();

    // Forgets, in the new process before unlock_everything(), what other threads than survivor had
    // lent, waited for or reserved.
    void forget_other_threads(uint64_t survivor);

    // Calls change at a moment when no fork is under way.
    template <typename Change> void between_forks(const Change &change) {
        const std::scoped_lock lock(mutex_);
        change();
    }

    // Calls visit for every resident. Only between lock_everything() and unlock_everything().
    template <typename Visit> void for_each(const Visit &visit) {
        for (uint32_t i = 0; i < used_.load(); ++i) {
            if (Slot &slot = *slot_at(i); slot.resident != nullptr) {
                visit(*slot.resident);
            }
        }
    }

private:
    static constexpr uint32_t slots_per_chunk = 256;
    static constexpr uint32_t chunks = 4096;
    using Chunk = std::array<Slot, slots_per_chunk>;

    Slot *slot_at(uint32_t index) const {
        return &(*chunks_[index / slots_per_chunk].load())[index % slots_per_chunk];
    }
    Status reserve(Resident &resident, Slot *&slot);
    bool add_chunk();
    bool try_lock_everything();
    void wait_for_forks() const;
    bool has_root(const std::string &name);
    void take_back_reservations();
    void unlock_slots();

    // Read by every operation; they hardly ever change.
    std::atomic<int> waiting_forks_ = 0; // in lock_everything()
    std::atomic<uint32_t> used_ = 0;
    std::array<std::atomic<Chunk *>, chunks> chunks_ = {};

    alignas(64) std::mutex mutex_; // guards what follows, and changes of used_ and chunks_
    std::vector<uint32_t> free_;   // has room for every slot
    std::set<std::string, std::less<>> root_names_;
    uint64_t next_generation_ = 1;
};

} // namespace cd
