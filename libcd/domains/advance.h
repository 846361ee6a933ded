// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "domains/domain.h"
#include "domains/give_to_parent.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace cd {

// Performs advance_cd_point_in_time: moves the CD's point in time to now, all or nothing. A child
// first gives its parent what a commit would give (the implicit commit). Then READ_WRITE copies are
// taken anew, and every READ_WRITE byte becomes READ_ONLY.
//
// `positions`: the present positions of the CD's files, in its table's order; taken over on
// success. `copied`: bytes that went into the store. `last_vote`: decides about a root with a
// store, after all that is likely to fail; nullptr: nobody else does.
//
// Returns nothing, with nothing changed, if all ancestors have to be locked. May throw
// std::bad_alloc; then nothing has changed.
std::optional<Status> advance(Domain &domain, Locked locked, std::vector<FilePosition> &positions,
                              size_t &copied, CommitVote *last_vote = nullptr);

} // namespace cd
