// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "domains/domain.h"
#include "domains/give_to_parent.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace cd {

// Moves the CD's point in time to now, all or nothing: a child first gives its parent what a commit
// would; then READ_WRITE copies are taken anew and every READ_WRITE byte becomes READ_ONLY.
// positions: where the CD's files stand now, in its table's order; taken over on success.
// copied: bytes that went into the store. last_vote: of a root that is written down, asked when all
// is done that is likely to fail, unless it is nullptr. Nothing is returned, and nothing has
// changed, if all ancestors have to be locked. May throw std::bad_alloc; then nothing has changed.
std::optional<Status> advance(Domain &domain, Locked locked, std::vector<FilePosition> &positions,
                              size_t &copied, CommitVote *last_vote = nullptr);

} // namespace cd
