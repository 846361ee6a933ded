// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "domains/commit.h"

#include "domains/compaction.h"

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

Status check_bound(const Domain &domain, const char *operation) {
    for (const auto &[name, range] : domain.pending) {
        const bool is_ordered = name.kind == PendingName::Kind::add_index;
        const bool changes =
            range.access == CD_READ_WRITE && range.restoration == Restoration::copy;
        if (domain.is_root() && !changes &&
            !(is_ordered && domain.skips_pending && *name.text == domain.path)) {
            continue;
        }
        return fail(CD_ERROR_RESTART_UNBOUND,
                    "CD %s cannot %s: its store %s holds %zu bytes of %s \"%s\" (range %llu) that "
                    "this program has not added yet; add them first, or start with CD_RESTART=no",
                    domain.name(), operation, domain.store->path(), range.old.length(),
                    is_ordered ? "CD path" : "region or object", name.text->c_str(),
                    static_cast<unsigned long long>(name.add_index));
    }
    return Status::ok();
}

std::optional<Status> commit(Domain &domain, Locked locked, CommitVote *last_vote) {
    if (Status status = check_no_children(domain, "commit"); !status) {
        return status;
    }
    if (Status status = domain.is_root() ? Status::ok() : check_bound(domain, "commit"); !status) {
        return status;
    }
    if (!domain.is_root()) {
        GiveToParent handover(domain, GiveToParent::Kind::move);
        if (!handover.prepare(locked)) {
            return std::nullopt;
        }
        if (domain.store != nullptr) {
            const std::unique_ptr<Transaction> transaction = domain.store->begin();
            handover.write_down(*transaction);
            transaction->drop(domain.number);
            if (Status status = transaction->commit(); !status) {
                return status;
            }
        }
        handover.publish();
        domain.log.leave(domain.parent->log, domain.depth);
        join_fragments(*domain.parent);
        free_sparse_places(*domain.parent);
    } else if (domain.store != nullptr) {
        if (Status status = domain.store->remove(last_vote); !status) {
            return status;
        }
    }
    domain.entries.clear();
    return Status::ok();
}

} // namespace cd
