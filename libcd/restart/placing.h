// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "domains/domain.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace cd {

// A named region has to be as long as it was. length: of the one of this process.
Status check_region(const Domain &domain, const Unbound &found, uint64_t length);

// The error of what belongs to an object, where another one is instead.
Status other_object(const Domain &domain, const Unbound &found, const std::string &instead);

// The error of what belongs to an object that is there, in a place to which nobody can write.
Status in_no_writable_part(const Domain &domain, const Unbound &found);

// What a CD added since it came back may be the memory of what still waits, if in the other process
// it was deleted, and added again: it would keep what it has. May throw std::bad_alloc.
Status check_order(Domain &domain);

// Says on standard error which libraries are not loaded whose bytes the CD holds: they may be
// loaded later, or be gone for good, which nothing tells.
void tell_what_waits_for_libraries(const Domain &domain) noexcept;

// When the CD has advanced: says there which files it has positions of that were not added again.
// They may come later, or be copies of those that were, which nothing tells. Once per store.
void tell_what_waits_for_files(const Domain &domain) noexcept;

// When a root has advanced: says there what nothing has bound, and the advance let pass, since it
// is READ_ONLY: ranges of the root's order, and regions whose names this process has not given. A
// program may add it yet; one that calls it otherwise never does. Once per store.
void tell_what_was_not_added(const Domain &domain) noexcept;

// When an add of the CD comes to memory of which an ancestor has data that its restore did not
// write, and the program had given it other values before: says there what has become of them. Once
// of each per store.
void tell_of_values(const Domain &domain, bool are_kept) noexcept;

// Whether the CD has no entry in these bytes.
bool is_free(const Domain &domain, uintptr_t address, size_t length);

// Makes what came from another process an entry at address, where the CD has none, as arriving. May
// throw std::bad_alloc.
Entry &place_arriving(Domain &domain, const Unbound &found, uintptr_t address);

} // namespace cd
