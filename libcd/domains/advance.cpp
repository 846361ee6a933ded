// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "domains/advance.h"

#include "domains/commit.h"
#include "domains/compaction.h"
#include "domains/give_to_parent.h"
#include "memory/allocation_plan.h"
#include "memory/copy.h"
#include "memory/undo_log.h"

#include <iterator>
#include <memory>
#include <optional>
#include <utility>

namespace cd {
namespace {

// prepare() does all that can fail, publish() the rest; without publish() the destructors of the
// members take everything back.
class Advance {
public:
    // positions: where the CD's files stand now.
    Advance(Domain &domain, const std::vector<FilePosition> &positions, CommitVote *last_vote)
        : domain_(domain), positions_(positions), last_vote_(last_vote) {}

    // Returns nothing if all ancestors have to be locked.
    std::optional<Status> prepare(Locked locked) {
        if (!domain_.is_root()) {
            handover_.emplace(domain_, GiveToParent::Kind::share);
            if (!handover_->prepare(locked)) {
                return std::nullopt;
            }
        }
        domain_.log.prepare_begin_now(domain_.depth);
        if (domain_.store != nullptr) {
            return write_down();
        }
        if (Status status = prepare_next_data(); !status) {
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
                fill_next_data(*entry, run);
            }
            handover_->publish();
        }
        auto near = domain_.entries.begin();
        for (Entry *entry = domain_.entries.read_write().detach(); entry != nullptr;) {
            Entry *following = entry->next; // it is not joined with this one before its turn
            prefetch_behind(*entry);
            if (!handover_) {
                fill_next_data(*entry, run); // here: walking many entries once more takes time
            }
            flip(*entry);
            entry->listed = false;
            entry->access = CD_READ_ONLY;
            if (!entry->whole) {
                near = rejoin(near, *entry);
            }
            entry = following;
        }
        run.flush();
        domain_.log.begin_now();
        domain_.epoch = next_epoch();
        domain_.missed_epochs = 0;
        domain_.children_created = 0;
        domain_.restarted = false;
        return run.copied() + undo_.overwritten() + written_;
    }

private:
    // True if the entry's data may be written over, since no other CD needs the old ones.
    static bool overwritten_in_place(const Entry &entry) {
        return entry.in_place && !entry.data_shared && !GiveToParent::gives_data(entry);
    }

    uint64_t next_epoch() const { return domain_.epoch + 1 + domain_.missed_epochs; }

    AllocationPlan &placement_for(const Entry &entry) {
        return entry.data.block().checksummed() ? checksummed_ : plain_;
    }

    // Writes the new data to the store, beside the old ones, and the change of the point in time.
    Status write_down() {
        const std::unique_ptr<Transaction> transaction = domain_.store->begin();
        if (domain_.is_root() && transaction->retains()) {
            transaction->retain(data_of(domain_));
        }
        const auto for_each_changed = [&](const auto &visit) {
            Status status;
            for (Entry *entry = domain_.entries.read_write().first();
                 entry != nullptr && status.is_ok(); entry = entry->next) {
                if (entry->restoration == Restoration::copy) {
                    status = visit(*entry);
                }
            }
            return status;
        };
        Status status = for_each_changed([&](Entry &entry) {
            written_ += entry.range.length();
            return transaction->keep(entry.range, entry.next_data);
        });
        if (!status) {
            return status;
        }
        if (handover_) {
            handover_->write_down(*transaction);
        }
        status = for_each_changed([&](Entry &entry) {
            transaction->replace_data(domain_.number, entry.range, entry.next_data);
            return Status::ok();
        });
        transaction->demote(domain_.number);
        if (!positions_.empty()) {
            std::vector<FilePosition> files = positions_;
            files.insert(files.end(), domain_.pending_files.begin(), domain_.pending_files.end());
            transaction->files(domain_.number, files);
        }
        transaction->epoch(domain_.number, next_epoch());
        return transaction->commit(last_vote_);
    }

    // In the steady state every entry has room for its next data from the last advance.
    Status prepare_next_data() {
        for (const Entry *entry = domain_.entries.read_write().first(); entry != nullptr;
             entry = entry->next) {
            prefetch_behind(*entry);
            if (entry->restoration != Restoration::copy) {
                continue;
            }
            if (overwritten_in_place(*entry)) {
                any_in_place_ = true;
            } else if (!entry->next_data) {
                placement_for(*entry).plan(entry->range.begin, entry->range.length());
            }
        }
        if (!plain_.allocate() || !checksummed_.allocate()) {
            return fail(CD_ERROR_NO_MEMORY,
                        "CD %s: no memory for the %zu bytes of new data of the advance; free some, "
                        "or give the "
                        "CD shadow=none. The CD still has its old point in time",
                        domain_.name(), plain_.planned() + checksummed_.planned());
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

    // Call it before the handover, which takes the data and changes which entries give them.
    void fill_next_data(Entry &entry, CopyRun &run) noexcept {
        if (entry.restoration != Restoration::copy || overwritten_in_place(entry) ||
            domain_.store != nullptr) {
            return;
        }
        if (!entry.next_data) {
            entry.next_data = placement_for(entry).next(entry.range.begin, entry.range.length());
        }
        run.add(entry.range.begin, entry.next_data.block(), entry.next_data.offset(),
                entry.range.length());
    }

    // True if the entry has only part of a place, since the store writes places as a whole. Entries
    // that were never split have whole places, and are not looked at, which would take time.
    bool is_part_of_a_place(const Entry &entry) const {
        return !entry.whole && domain_.store != nullptr && entry.data &&
               !entry.data.is_whole(entry.range.length());
    }

    // The next data become the data; the old data become room for the next ones unless somebody
    // else has them.
    void flip(Entry &entry) const noexcept {
        if (entry.restoration != Restoration::copy || (entry.in_place && !entry.next_data)) {
            return;
        }
        if (entry.data_shared || entry.in_place || is_part_of_a_place(entry)) {
            entry.data.give_up(entry.range.length());
        }
        std::swap(entry.data, entry.next_data);
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
    const std::vector<FilePosition> &positions_;
    CommitVote *last_vote_;
    std::optional<GiveToParent> handover_;
    AllocationPlan plain_{false};
    AllocationPlan checksummed_{true};
    bool any_in_place_ = false;
    size_t written_ = 0; // bytes that went to the store
    UndoLog undo_;       // last, so that data are undone before anything else
};

} // namespace

std::optional<Status> advance(Domain &domain, Locked locked, std::vector<FilePosition> &positions,
                              size_t &copied, CommitVote *last_vote) {
    if (Status status = check_no_children(domain, "advance"); !status) {
        return status;
    }
    if (Status status = domain.log.check_begin_now(domain.depth, domain.name()); !status) {
        return status;
    }
    if (Status status = check_bound(domain, "advance"); !status) {
        return status;
    }
    Advance operation(domain, positions, last_vote);
    if (std::optional<Status> status = operation.prepare(locked); !status || !*status) {
        return status;
    }
    copied = operation.publish();
    domain.files.replace(positions);
    if (domain.is_root() && domain.store != nullptr) {
        domain.store->forget_aside();
    }
    join_fragments(domain);
    free_sparse_places(domain);
    if (!domain.is_root()) {
        join_fragments(*domain.parent);
        free_sparse_places(*domain.parent);
    }
    return Status::ok();
}

} // namespace cd
