// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "runtime/family_lock.h"
#include "runtime/registry.h"

namespace cd {

// Opens the store of a new root that is to be written down. If it holds the root already, with its
// descendants, they all come back: the descendants dormant, until the program creates them. root:
// was installed by lock, which has their locks then, too. Fails with the root as it was, or with
// some of its descendants. May throw std::bad_alloc. met: whether it has met the other ranks, where
// it is to be protected.
Status open_family(FamilyLock &lock, Resident &root, bool &met);

// Discards a CD and all its descendants, for which the lock is prepared; it has the locks of all of
// them.
void end_family(FamilyLock &lock, Resident &top) noexcept;

// The dormant child that the next create call of this parent means: the one with the smallest
// index. nullptr: there is none.
Resident *next_dormant(const Resident &parent);

// The program has created it now.
void wake(Resident &child, Resident &parent);

// A child's place in the family's store, if there is one; without keep() it is gone at its end.
class StorePlace {
public:
    // May throw std::bad_alloc.
    StorePlace(Resident &child, const Resident &parent);
    StorePlace(const StorePlace &) = delete;
    StorePlace &operator=(const StorePlace &) = delete;
    ~StorePlace();

    // Where a process that comes later would take a sibling for the child, the store has to know
    // it even if it holds nothing. May throw std::bad_alloc.
    Status write_down();

    void keep() { store_.reset(); }

private:
    std::shared_ptr<PersistentStore> store_;
    CdNumber number_ = 0;
};

} // namespace cd
