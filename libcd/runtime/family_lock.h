// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "runtime/registry.h"

#include <array>
#include <memory>
#include <vector>

namespace cd {

// The locks that one operation needs, on a CD and on relatives, taken from ancestors to
// descendants so that operations cannot wait for each other in a circle. Lets go at its end.
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

    // handle may be CURRENT_CD. Fails if it names no live CD; then nothing is locked.
    // May throw std::bad_alloc, unless it is a root without its descendants: other ranks may wait
    // for that one.
    Status lock(cd_handle handle, Reach reach);

    // Gives a new CD a slot and a handle, and locks it: nobody else meets it before the locks are
    // gone. Its parent, if it has one, is locked. May throw std::bad_alloc; then nothing has
    // changed. For a root: CD_ERROR_NAME_IN_USE if a live root has the name.
    Status install(std::unique_ptr<Resident> resident, cd_handle &handle);

    // The CD that was named. Only after a successful lock().
    Resident &domain() const { return *domain_; }

    // While one lives, the thread may be inside functions of the application and leaves the locked
    // CDs as they are. A fork does not wait for these locks: the function itself may fork, and in
    // the new process other threads do not come back from theirs. Needs the locks of all ancestors.
    class Lending {
    public:
        explicit Lending(FamilyLock &lock);
        Lending(const Lending &) = delete;
        Lending &operator=(const Lending &) = delete;
        ~Lending();

    private:
        FamilyLock &lock_;
    };

    // Takes a CD that is locked out of its family and out of the registry. It is deleted when the
    // locks are gone.
    void discard(Resident &resident) noexcept;

    // Makes discard() of count CDs safe. May throw std::bad_alloc.
    void prepare_discard(size_t count) { discarded_.reserve(count); }

private:
    static constexpr size_t usual_depth = 8; // beyond it locks go to the heap

    struct Named {
        Slot *slot;
        uint64_t generation;
    };

    void prepare_lock();
    bool lock_slot(Named named);
    void lock_descendants(const Domain &top);
    void unlock_all() noexcept;
    void remember(Slot *slot);
    void set_lent_by(uint64_t thread);

    Resident *domain_ = nullptr;
    std::array<Slot *, usual_depth> few_ = {};
    size_t locked_ = 0;
    std::vector<Slot *> more_;
    std::vector<std::unique_ptr<Resident>> discarded_;
};

} // namespace cd
