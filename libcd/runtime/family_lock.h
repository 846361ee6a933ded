// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "runtime/registry.h"

#include <absl/container/inlined_vector.h>

#include <memory>
#include <vector>

namespace cd {

// The locks of one operation on a CD and its relatives. Takes them from ancestors to descendants,
// which avoids deadlocks, and releases them at its end.
class FamilyLock {
public:
    enum class Reach {
        self,
        parent,    // and the CD
        ancestors, // and the CD
        family     // ancestors, the CD, and all descendants
    };

    FamilyLock() = default;
    FamilyLock(const FamilyLock &) = delete;
    FamilyLock &operator=(const FamilyLock &) = delete;
    ~FamilyLock();

    // Locks the CD, whose handle may be CURRENT_CD. Fails if it names no live CD; then nothing is
    // locked. May throw std::bad_alloc, except for a root alone.
    Status lock(cd_handle handle, Reach reach);

    // Gives a new CD a slot and a handle, and locks it. A parent is locked already. Fails with
    // CD_ERROR_NAME_IN_USE if a live root has the name. May throw std::bad_alloc; then nothing has
    // changed.
    Status install(std::unique_ptr<Resident> resident, cd_handle &handle);

    // Returns the named CD, after a successful lock().
    Resident &domain() const { return *domain_; }

    // Lends the locks while the thread is inside functions of the application and leaves the CDs
    // unchanged: a fork does not wait for them, since the function itself may fork. Needs the locks
    // of all ancestors.
    class Lending {
    public:
        explicit Lending(FamilyLock &lock);
        Lending(const Lending &) = delete;
        Lending &operator=(const Lending &) = delete;
        ~Lending();

    private:
        FamilyLock &lock_;
    };

    // Removes a locked CD from its family and the registry. Deletes it after the locks are
    // released.
    void discard(Resident &resident) noexcept;

    // Makes discard() of count CDs safe. May throw std::bad_alloc.
    void prepare_discard(size_t count) { discarded_.reserve(count); }

private:
    struct Named {
        Slot *slot;
        uint64_t generation;
    };

    bool lock_slot(Named named);
    void lock_descendants(const Domain &top);
    void unlock_all() noexcept;
    void set_lent_by(uint64_t thread);

    Resident *domain_ = nullptr;
    absl::InlinedVector<Slot *, 8> locked_; // deeper CDs go to the heap
    std::vector<std::unique_ptr<Resident>> discarded_;
};

} // namespace cd
