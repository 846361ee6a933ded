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
        if (any_in_place_) {
            overwrite_in_place();
        }
        return Status::ok();
    }

    size_t publish() noexcept {
        CopyRun run(CopyRun::Direction::to_store);
        undo_.keep();
        if (handover_) {
            for (Entry *entry = domain_.entries.read_write().first(); entry != nullptr;
                 entry = entry->next) {
                fill_shadow(*entry, run);
            }
            handover_->publish();
        }
        auto near = domain_.entries.begin();
        for (Entry *entry = domain_.entries.read_write().detach(); entry != nullptr;) {
            Entry *following = entry->next; // it is not joined with this one before its turn
            if (!handover_) {
                fill_shadow(*entry, run); // here, because walking many entries once more takes time
            }
            flip(*entry);
            entry->listed = false;
            entry->access = CD_READ_ONLY;
            near = rejoin(near, *entry);
            entry = following;
        }
        run.flush();
        domain_.log.begin_now();
        ++domain_.epoch;
        return run.copied() + undo_.overwritten();
    }

private:
    // The data of these entries may be written over: nobody else needs the old ones.
    static bool overwritten_in_place(const Entry &entry) {
        return entry.in_place && !entry.data_shared && !Handover::gives_data(entry);
    }

    Placement &placement_for(const Entry &entry) {
        return entry.data.block().checksummed() ? checksummed_ : plain_;
    }

    // In the steady state every entry has its shadow from the last advance.
    Status prepare_shadows() {
        for (const Entry *entry = domain_.entries.read_write().first(); entry != nullptr;
             entry = entry->next) {
            if (entry->restoration != Restoration::copy) {
                continue;
            }
            if (overwritten_in_place(*entry)) {
                any_in_place_ = true;
            } else if (!entry->shadow) {
                placement_for(*entry).plan(entry->range.begin, entry->range.length());
            }
        }
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

    // Before the handover, which takes the data and says which entries give them.
    void fill_shadow(Entry &entry, CopyRun &run) noexcept {
        if (entry.restoration != Restoration::copy || overwritten_in_place(entry)) {
            return;
        }
        if (!entry.shadow) {
            entry.shadow = placement_for(entry).next(entry.range.begin, entry.range.length());
        }
        run.add(entry.range.begin, entry.shadow.block(), entry.shadow.at(), entry.range.length());
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
    bool any_in_place_ = false;
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
