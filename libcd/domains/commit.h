// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "domains/domain.h"
#include "domains/give_to_parent.h"

#include <optional>

namespace cd {

// Gives the parent what the CD holds, as GiveToParent says; the CD holds nothing afterwards. A root
// only gives everything up, and last_vote is asked whether it may, if it is given and nothing else
// is in the way. Refused while there are children. The caller then ends the CD. Nothing is
// returned, and nothing has changed, if all ancestors have to be locked. May throw std::bad_alloc;
// then nothing has changed.
std::optional<Status> commit(Domain &domain, Locked locked, CommitVote *last_vote = nullptr);

// Fails if the CD has children.
Status check_no_children(const Domain &domain, const char *operation);

// Fails if a range is pending that the operation would change or give to the parent: every range of
// a child, and READ_WRITE copies of a root.
Status check_bound(const Domain &domain, const char *operation);

} // namespace cd
