// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "runtime/family_lock.h"
#include "runtime/registry.h"

namespace cd {

// Opens the store of a new root. If the store already holds the root, loads it with its
// descendants, which stay dormant until the program creates them. `lock` has installed the root,
// and gets the locks of its descendants. A failure may leave some of them. `met` receives whether
// other ranks were met, as for a root with redundancy. May throw std::bad_alloc.
Status open_family(FamilyLock &lock, Resident &root, bool &met);

// Discards a CD and all its descendants. `lock` is prepared for that, and has the locks of all.
void end_family(FamilyLock &lock, Resident &top) noexcept;

// Returns the dormant child that the next create call of this parent wakes, the one with the
// smallest index; or nullptr.
Resident *next_dormant(const Resident &parent);

// Makes a dormant child an ordinary one, when the program creates it.
void wake(Resident &child, Resident &parent);

// Reserves a child's place in the store of its family, if there is one. The destructor gives it
// back unless keep() was called.
class StorePlace {
public:
    // May throw std::bad_alloc.
    StorePlace(Resident &child, const Resident &parent);
    StorePlace(const StorePlace &) = delete;
    StorePlace &operator=(const StorePlace &) = delete;
    ~StorePlace();

    // Records the child in the store although it holds nothing yet, if a restarted process would
    // otherwise take a sibling for it. May throw std::bad_alloc.
    Status write_down();

    void keep() { store_.reset(); }

private:
    std::shared_ptr<PersistentStore> store_;
    CdNumber number_ = 0;
};

} // namespace cd
