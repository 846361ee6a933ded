// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "runtime/protected_root.h"

#include "base/no_throw.h"
#include "file_store/snapshot_image.h"
#include "runtime/protection.h"

#include <memory>
#include <new>
#include <string_view>
#include <utility>

namespace cd {
namespace {

// While other ranks are waited for. Without, a fork waits, too.
void lend(FamilyLock &lock, std::optional<FamilyLock::Lending> &lending) noexcept {
    best_effort([&] { lending.emplace(lock); });
}

} // namespace

ProtectedCreate::~ProtectedCreate() {
    if (owed_ && !met) {
        const SavedMessage keeper;
        const Status status =
            fail(CD_ERROR_NO_MEMORY,
                 "there is no memory to create the root CD \"%s\"; free some and create it again",
                 name_);
        (void)Protection::decline(name_, status).is_ok();
    }
}

Status ProtectedCreate::outcome(Status own) noexcept {
    const bool tells = !own && owed_ && !met;
    owed_ = false;
    return tells ? Protection::decline(name_, own) : own;
}

ProtectedAdvance::~ProtectedAdvance() {
    if (owed_ == Owed::nothing) {
        return;
    }
    const SavedMessage keeper;
    if (owed_ == Owed::word) {
        const Status status = fail(
            CD_ERROR_NO_MEMORY,
            "CD %s: there is no memory to advance it; free some and repeat that", domain_.name());
        (void)say(status).is_ok();
    }
    if (owed_ == Owed::point) {
        domain_.missed_epochs += advanced_ ? 0 : 1; // it is one of theirs
        std::optional<FamilyLock::Lending> lending;
        lend(lock_, lending);
        domain_.protection->skip(domain_.epoch + domain_.missed_epochs,
                                 why_.is_ok() ? "there is no memory to hold the point in time"
                                              : without_repeating(why_.text()));
    }
}

uint64_t ProtectedAdvance::next_epoch() const { return domain_.epoch + 1 + domain_.missed_epochs; }

Status ProtectedAdvance::say(Status own) noexcept {
    std::optional<FamilyLock::Lending> lending;
    lend(lock_, lending);
    Status status = domain_.protection->may_advance(next_epoch(), own);
    owed_ = status ? Owed::point : Owed::nothing;
    return status;
}

Status ProtectedAdvance::refused(Status own) noexcept {
    if (owed_ == Owed::word) {
        return say(own);
    }
    if (owed_ == Owed::nothing) {
        return own;
    }
    why_ = SavedStatus(own);
    const std::string_view why = without_repeating(why_.text());
    return fail(own.code(),
                "%.*s. The other ranks have advanced to epoch %llu all the same: do not repeat "
                "this call alone, and restore nothing before the next advance of all ranks, which "
                "is protected",
                static_cast<int>(why.size()), why.data(),
                static_cast<unsigned long long>(next_epoch()));
}

cd_error ProtectedAdvance::offer() noexcept {
    advanced_ = true;
    Status status;
    try {
        auto store = std::static_pointer_cast<FileStore>(domain_.ledger);
        auto held = std::make_unique<HeldPoint>(std::move(store), data_of(domain_));
        const FamilyLock::Lending lending(lock_);
        owed_ = Owed::nothing;
        status = domain_.protection->protect(domain_.epoch, std::move(held));
    } catch (const std::bad_alloc &) {
        status = fail(CD_ERROR_NO_MEMORY,
                      "CD %s: there is no memory to hold the point in time while it is protected; "
                      "free some before the next advance",
                      domain_.name());
    }
    return status.code();
}

ProtectedCommit::~ProtectedCommit() {
    if (owed_) {
        const SavedMessage keeper;
        const Status status = fail(
            CD_ERROR_NO_MEMORY, "CD %s: there is no memory to commit it; free some and repeat that",
            domain_.name());
        (void)say(status).is_ok();
    }
}

Status ProtectedCommit::say(Status own) noexcept {
    std::optional<FamilyLock::Lending> lending;
    lend(lock_, lending);
    owed_ = false;
    return domain_.protection->forget(own);
}

} // namespace cd
