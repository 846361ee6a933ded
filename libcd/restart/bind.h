// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "domains/add_request.h"
#include "domains/domain.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace cd {

// Performs an add call of a CD in whose family ranges are pending. First the pending ranges that
// the call names become entries at its addresses, in the CD and in its ancestors; whole regions and
// objects do so in all CDs of the family. A range that its CD's restore did not write is written to
// memory now, and `regenerate` is called for the regenerated ones.
//
// Fails if the call adds another range than the store holds. On failure nothing has changed but
// memory that a restore would have written. Needs the locks of all CDs of the family. May throw
// std::bad_alloc. copied: as for add().
using Regenerate = std::function<Status(std::vector<cd_addrspec> &specs)>;
Status bind_and_add(Domain &domain, const AddRequest &request, size_t &copied,
                    const Regenerate &regenerate);

// Fails if the CD came back from its store and has added a range that the store does not hold,
// while ranges of later adds are pending: that memory may belong to one of them. Call before a
// restore.
Status check_add_order(Domain &domain);

// Warns once per store about file positions that no add has taken when the CD advances.
void warn_of_pending_files(const Domain &domain) noexcept;

// Returns whether the CD has no entry in these bytes.
bool is_free(const Domain &domain, Range range);

// Makes a pending range an arriving entry at address, where the CD has none. Both use the data
// then. May throw std::bad_alloc.
Entry &place_arriving(Domain &domain, const PendingRange &range, uintptr_t address);

// The errors of a named region of another length than it has in the store, and of an object in
// whose place this process has another one.
Status other_region_length(const Domain &domain, const std::string &name, const PendingRange &range,
                           uint64_t length);
Status other_object(const Domain &domain, const std::string &name, const PendingRange &range,
                    const std::string &instead);

} // namespace cd
