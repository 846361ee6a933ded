// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "domains/advance.h"

#include "domains/commit.h"
#include "domains/handover.h"
#include "store/copy_run.h"
#include "store/placement.h"
#include "store/undo_log.h"

#include <optional>
#include <utility>

namespace cd {
namespace {

// prepare() does all that can fail, publish() the rest; without publish() the destructors of the
// members take everything back.
class Advance {
public:
    explicit Advance(Domain &domain) : domain_(domain) {}

    // Nothing: all ancestors have to be locked.
    std::optional<Status> prepare(Locked locked) {
        if (!domain_.is_root()) {
            handover_.emplace(domain_, Handover::Kind::share);
            if (!handover_->prepare(locked)) {
                return std::nullopt;
            }
        }
        domain_.log.prepare_begin_now(domain_.depth);
        if (Status status = prepare_shadows(); !status) {
            return status;
        }
        overwrite_in_place();
        return Status::ok();
    }

    size_t publish() noexcept {
        const size_t copied = fill_shadows() + undo_.overwritten();
        undo_.keep();
        if (handover_) {
            handover_->publish();
        }
        auto near = domain_.entries.begin();
        while (Entry *entry = domain_.entries.read_write().first()) {
            flip(*entry);
            domain_.entries.set_access(*entry, CD_READ_ONLY);
            near = rejoin(near, *entry);
        }
        domain_.log.begin_now();
        ++domain_.epoch;
        return copied;
    }

private:
    // The data of these entries may be written over: nobody else needs the old ones.
    static bool overwritten_in_place(const Entry &entry) {
        return entry.in_place && !entry.data_shared && !Handover::gives_data(entry);
    }

    template <typename Visit> void for_each_shadowed(const Visit &visit) {
        for (Entry *entry = domain_.entries.read_write().first(); entry != nullptr;
             entry = entry->next) {
            if (entry->restoration == Restoration::copy && !overwritten_in_place(*entry)) {
                visit(*entry);
            }
        }
    }

    Placement &placement_for(const Entry &entry) {
        return entry.data.block().checksummed() ? checksummed_ : plain_;
    }

    // In the steady state every entry has its shadow from the last advance.
    Status prepare_shadows() {
        for_each_shadowed([&](const Entry &entry) {
            if (!entry.shadow) {
                placement_for(entry).plan(entry.range.begin, entry.range.length());
            }
        });
        if (!plain_.allocate() || !checksummed_.allocate()) {
            return fail(
                CD_ERROR_NO_MEMORY,
                "CD %s: no memory for the new data of the advance; free some, or give the CD "
                "shadow=none. The CD still has its old point in time",
                domain_.name());
        }
        return Status::ok();
    }

    void overwrite_in_place() {
        for (Entry *entry = domain_.entries.read_write().first(); entry != nullptr;
             entry = entry->next) {
            if (entry->restoration == Restoration::copy && overwritten_in_place(*entry)) {
                undo_.overwrite(entry->data, entry->range.address(), entry->range.length());
            }
        }
    }

    size_t fill_shadows() noexcept {
        CopyRun run(CopyRun::Direction::to_store);
        for_each_shadowed([&](Entry &entry) {
            if (!entry.shadow) {
                entry.shadow = placement_for(entry).next(entry.range.begin, entry.range.length());
            }
            run.add(entry.range.begin, entry.shadow.block(), entry.shadow.at(),
                    entry.range.length());
        });
        run.flush();
        return run.copied();
    }

    // The shadow becomes the data; the old data become the shadow unless somebody else has them.
    static void flip(Entry &entry) noexcept {
        if (entry.restoration != Restoration::copy || (entry.in_place && !entry.shadow)) {
            return;
        }
        if (entry.data_shared || entry.in_place) {
            entry.data.reset();
        }
        std::swap(entry.data, entry.shadow);
        entry.data_shared = false;
    }

    // Parts of one entry that were advanced at different times are one again if they are alike.
    RangeIndex::Position rejoin(RangeIndex::Position near, const Entry &entry) noexcept {
        near = domain_.entries.merge_before(domain_.entries.find_near(near, entry.range.begin));
        if (const auto following = std::next(near); following != domain_.entries.end()) {
            near = domain_.entries.merge_before(following);
        }
        return near;
    }

    Domain &domain_;
    std::optional<Handover> handover_;
    Placement plain_{false};
    Placement checksummed_{true};
    UndoLog undo_; // last, so that data are undone before anything else
};

} // namespace

std::optional<Status> advance(Domain &domain, Locked locked, std::vector<FilePosition> &positions,
                              size_t &copied) {
    if (Status status = check_no_children(domain, "advance"); !status) {
        return status;
    }
    if (Status status = domain.log.check_begin_now(domain.depth); !status) {
        return status;
    }
    Advance operation(domain);
    if (std::optional<Status> status = operation.prepare(locked); !status || !*status) {
        return status;
    }
    copied = operation.publish();
    domain.files.replace(positions);
    return Status::ok();
}

} // namespace cd
