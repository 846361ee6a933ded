// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "runtime/protected_root.h"

#include "file_store/held_point.h"
#include "os/system.h"
#include "runtime/protection.h"

#include <array>
#include <cstdio>
#include <memory>
#include <new>
#include <utility>

namespace cd {
namespace {

using Line = std::array<char, 2048>; // there may be no memory for more

void warn_that_it_is_not_protected(const Resident &root) {
    const uint64_t older = root.protection->protected_epoch();
    std::array<char, 64> what_is = {"no epoch is protected"};
    if (older > 0) {
        std::snprintf(what_is.data(), what_is.size(), "epoch %llu still is",
                      static_cast<unsigned long long>(older));
    }
    Line line;
    std::snprintf(line.data(), line.size(),
                  "CD %s: epoch %llu is in the local store, but is not protected from the loss of "
                  "the node; %s: %s",
                  root.name(), static_cast<unsigned long long>(root.epoch), what_is.data(),
                  message());
    os::system().warn(line.data());
}

} // namespace

ProtectedAdvance::~ProtectedAdvance() {
    if (owed_) {
        const MessageKeeper keeper;
        domain_.protection->skip();
        domain_.missed_epochs += advanced_ ? 0 : 1; // it is one of theirs
    }
}

cd_error ProtectedAdvance::offer() noexcept {
    advanced_ = true;
    Status status;
    try {
        auto store = std::static_pointer_cast<FileStore>(domain_.ledger);
        auto held = std::make_unique<HeldPoint>(std::move(store), data_of(domain_));
        owed_ = false;
        status = domain_.protection->protect(domain_.epoch, std::move(held));
    } catch (const std::bad_alloc &) {
        status = fail(CD_ERROR_NO_MEMORY, "there is no memory to hold the point in time");
    }
    if (!status) {
        warn_that_it_is_not_protected(domain_);
    }
    return status.code();
}

ProtectedCommit::~ProtectedCommit() {
    if (owed_) {
        const MessageKeeper keeper;
        (void)say(fail(CD_ERROR_NO_MEMORY, "there is no memory to commit the CD")).is_ok();
    }
}

Status ProtectedCommit::say(Status own) noexcept {
    owed_ = false;
    return domain_.protection->forget(own);
}

} // namespace cd
