// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "domains/domain.h"
#include "domains/give_to_parent.h"

#include <optional>

namespace cd {

// Performs commit_cd: gives the parent what the CD holds, as GiveToParent describes. The CD is
// empty afterwards, and the caller ends it. A root gives up everything and removes its store, if
// `last_vote` agrees; nullptr: nobody else decides. Refused while the CD has children.
//
// Returns nothing, with nothing changed, if all ancestors have to be locked. May throw
// std::bad_alloc; then nothing has changed.
std::optional<Status> commit(Domain &domain, Locked locked, CommitVote *last_vote = nullptr);

// Fails if the CD has children.
Status check_no_children(const Domain &domain, const char *operation);

// Fails if the operation would change or give to the parent a range that is still pending: any
// range of a child, or a READ_WRITE copy of a root.
Status check_bound(const Domain &domain, const char *operation);

} // namespace cd
