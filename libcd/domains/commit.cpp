// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "domains/commit.h"

#include "domains/inheriting.h"
#include "domains/rejoin.h"
#include "domains/tidy.h"

#include <memory>

namespace cd {

Status check_no_children(const Domain &domain, const char *operation) {
    if (domain.children.empty()) {
        return Status::ok();
    }
    if (domain.children.front()->dormant) {
        return fail(CD_ERROR_HAS_CHILDREN,
                    "CD %s cannot %s: its descendant %s is in the store and holds part of its "
                    "point in time; restore the CD, create the child again, or start with "
                    "CD_RESTART=no",
                    domain.name(), operation, domain.children.front()->name());
    }
    return fail(CD_ERROR_HAS_CHILDREN,
                "CD %s cannot %s while it has %zu uncommitted children, the first being %s; commit "
                "them first",
                domain.name(), operation, domain.children.size(), domain.children.front()->name());
}

std::optional<Status> commit(Domain &domain, Locked locked, CommitVote *last_word) {
    if (Status status = check_no_children(domain, "commit"); !status) {
        return status;
    }
    if (!domain.is_root()) {
        GiveToParent handover(domain, GiveToParent::Kind::move);
        if (!handover.prepare(locked)) {
            return std::nullopt;
        }
        Inheriting inheriting(*domain.parent, Inheriting::Kind::commit);
        inheriting.leave(domain);
        if (domain.ledger != nullptr) {
            const std::unique_ptr<Transaction> transaction = domain.ledger->begin();
            handover.write_down(*transaction);
            inheriting.write_down(*transaction);
            transaction->drop(domain.number);
            if (Status status = transaction->commit(); !status) {
                return status;
            }
        }
        handover.publish();
        inheriting.publish();
        domain.log.leave(domain.parent->log, domain.depth);
        rejoin(*domain.parent);
        tidy(*domain.parent);
    } else if (domain.ledger != nullptr) {
        if (Status status = domain.ledger->remove(last_word); !status) {
            return status;
        }
    }
    domain.entries.clear();
    return Status::ok();
}

} // namespace cd
