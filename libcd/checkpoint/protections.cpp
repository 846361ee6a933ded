// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "checkpoint/protections.h"

namespace cd::checkpoint {

void Protections::add(Protection &protection) {
    const std::lock_guard lock(mutex_);
    by_root_[protection.root()] = &protection;
}

void Protections::remove(const Protection &protection) noexcept {
    const std::lock_guard lock(mutex_);
    std::erase_if(by_root_, [&](const auto &each) { return each.second == &protection; });
}

void Protections::begin_to_leave() noexcept {
    const std::lock_guard lock(mutex_);
    for (const auto &[root, protection] : by_root_) {
        protection->begin_to_leave();
    }
}

void Protections::leave() noexcept {
    const std::lock_guard lock(mutex_);
    for (const auto &[root, protection] : by_root_) {
        protection->leave();
    }
}

} // namespace cd::checkpoint
