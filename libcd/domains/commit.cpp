// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "domains/commit.h"

#include "domains/handover.h"

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

Status commit(Domain &domain) {
    if (Status status = check_no_children(domain, "commit"); !status) {
        return status;
    }
    if (!domain.is_root()) {
        Handover handover(domain, Handover::Kind::move);
        handover.prepare();
        handover.publish();
    }
    domain.entries.clear();
    return Status::ok();
}

} // namespace cd
