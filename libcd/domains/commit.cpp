// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "domains/commit.h"

namespace cd {

Status check_no_children(const Domain &domain, const char *operation) {
    if (domain.children.empty()) {
        return Status::ok();
    }
    return fail(CD_ERROR_HAS_CHILDREN,
                "CD %s cannot %s while it has %zu uncommitted children, the first being %s; commit "
                "them first",
                domain.name(), operation, domain.children.size(), domain.children.front()->name());
}

std::optional<Status> commit(Domain &domain, Locked locked) {
    if (Status status = check_no_children(domain, "commit"); !status) {
        return status;
    }
    if (!domain.is_root()) {
        Handover handover(domain, Handover::Kind::move);
        if (!handover.prepare(locked)) {
            return std::nullopt;
        }
        handover.publish();
    }
    domain.entries.clear();
    return Status::ok();
}

} // namespace cd
