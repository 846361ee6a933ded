// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/saved_status.h"
#include "runtime/family_lock.h"

#include <cstdint>
#include <optional>

namespace cd {

// The part of a create_cd that concerns the protection of the root, if it is to have one: other
// ranks may wait for this one, so it takes part whatever comes of the creation.
class ProtectedCreate {
public:
    // name lives on, and is "" where it is none that a root can have. expected: whether the root is
    // likely to have a protection, until its storage is known.
    ProtectedCreate(const char *name, bool expected) : name_(name), owed_(expected) {}
    ProtectedCreate(const ProtectedCreate &) = delete;
    ProtectedCreate &operator=(const ProtectedCreate &) = delete;
    ~ProtectedCreate();

    void is_likely(bool expected) { owed_ = expected; }

    void is_to_have(const StorageInfo &storage) {
        owed_ = storage.store == Store::file && storage.is_protected();
    }

    // Set by who meets the other ranks.
    bool met = false;

    // The outcome of all ranks, if they do not know yet that it fails here.
    Status outcome(Status own) noexcept;

private:
    const char *name_;
    bool owed_;
};

// The part of an advance that concerns the protection of the CD, if it is a root that has one: all
// ranks advance it, or none does, and the others wait for this one, so it takes part whatever comes
// of the advance. A fork does not wait for the others.
class ProtectedAdvance : public CommitVote {
public:
    // lock: has the root's, and lives on.
    explicit ProtectedAdvance(FamilyLock &lock)
        : lock_(lock), domain_(lock.domain()),
          owed_(domain_.protection != nullptr ? Owed::word : Owed::nothing) {}
    ProtectedAdvance(const ProtectedAdvance &) = delete;
    ProtectedAdvance &operator=(const ProtectedAdvance &) = delete;
    ~ProtectedAdvance() override;

    bool wanted() const { return domain_.protection != nullptr; }
    CommitVote *last_word() { return wanted() ? this : nullptr; }
    Status say(Status own) noexcept override;

    // The advance failed here: the outcome of all ranks, if they do not know yet. Where they have
    // advanced all the same, as that has been said, its epoch is used up here, too.
    Status refused(Status own) noexcept;

    // The CD has advanced, and nothing takes that back: that the new point in time could not be
    // protected is returned, and told to people by one of the ranks.
    cd_error offer() noexcept;

private:
    enum class Owed : uint8_t { word, point, nothing };

    uint64_t next_epoch() const;

    FamilyLock &lock_;
    Resident &domain_;
    Owed owed_;
    SavedStatus why_; // it did not advance here, where the others have
    bool advanced_ = false;
};

// The same for a commit: all ranks commit the root, or none does.
class ProtectedCommit : public CommitVote {
public:
    // lock: of the root.
    ProtectedCommit(FamilyLock &lock, Resident &domain)
        : lock_(lock), domain_(domain), owed_(domain.protection != nullptr) {}
    ProtectedCommit(const ProtectedCommit &) = delete;
    ProtectedCommit &operator=(const ProtectedCommit &) = delete;
    ~ProtectedCommit() override;

    CommitVote *last_word() { return owed_ ? this : nullptr; }
    Status say(Status own) noexcept override;

    // The outcome of all ranks, if they do not know this one's yet: that it failed here, or that
    // the root ends without its store, which would have asked for the last word.
    Status outcome(Status own) noexcept { return owed_ ? say(own) : own; }

private:
    FamilyLock &lock_;
    Resident &domain_;
    bool owed_;
};

} // namespace cd
