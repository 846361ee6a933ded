// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "domains/rejoin.h"

#include "base/no_throw.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

namespace cd {
namespace {

// Fewer cost too little to be looked at, and a share of the entries, since all are looked at then.
constexpr size_t fewest_cuts = 1000;
constexpr size_t share_of_cuts = 4;

// A program that uses the same parts in each step shows it in the second one. What this joins
// before that would be cut again.
constexpr int fewest_steps = 8;

bool is_due(const Domain &domain) {
    const RangeIndex &entries = domain.entries;
    return domain.steps_since_joined >= fewest_steps &&
           entries.cuts() >= std::max(fewest_cuts, entries.size() / share_of_cuts);
}

bool is_short_part(const Entry &entry) {
    return !entry.whole && !entry.reused && entry.stage == Stage::held &&
           entry.restoration == Restoration::copy && entry.range.length() < longest_joined;
}

bool may_follow(const Entry &left, const Entry &right) {
    return left.range.end == right.range.begin && left.alike(right) &&
           left.in_place == right.in_place &&
           left.data.block().checksummed() == right.data.block().checksummed();
}

// Neighbours that become one entry.
struct Group {
    Range range;
    std::vector<StoredPart> parts;
    Piece data;
};

class Rejoining {
public:
    explicit Rejoining(Domain &domain) : domain_(domain) {}

    Status run() {
        join_what_continues();
        find_groups();
        if (Status status = domain_.ledger != nullptr ? copy_in_ledger() : copy_in_memory();
            !status) {
            return status;
        }
        auto near = domain_.entries.begin();
        for (Group &group : groups_) {
            if (group.data) {
                near = domain_.entries.find_near(near, group.range.begin);
                near = domain_.entries.join(near, group.range.end, std::move(group.data));
            }
        }
        return Status::ok();
    }

private:
    // Nothing has to be copied for that.
    void join_what_continues() noexcept {
        RangeIndex &entries = domain_.entries;
        const Entry *previous = nullptr;
        for (auto at = entries.begin(); at != entries.end(); ++at) {
            if (previous != nullptr && !previous->reused && !at->second->reused) {
                at = entries.merge_before(at);
            }
            previous = at->second;
        }
    }

    void find_groups() {
        Group group;
        const Entry *last = nullptr;
        for (const auto &[address, entry] : domain_.entries) {
            const bool fits = is_short_part(*entry);
            if (!fits || last == nullptr || !may_follow(*last, *entry) ||
                entry->range.end - group.range.begin > longest_joined) {
                close(group);
                group.range.begin = address;
            }
            if (fits) {
                group.range.end = entry->range.end;
                group.parts.push_back({&entry->data, entry->range.length()});
            }
            last = fits ? entry : nullptr;
        }
        close(group);
    }

    void close(Group &group) {
        if (group.parts.size() > 1) {
            groups_.push_back(std::move(group));
        }
        group = {};
    }

    // So much has to be free for the copies, which are no more than that.
    void give_up_next_places() noexcept {
        auto near = domain_.entries.begin();
        for (const Group &group : groups_) {
            near = domain_.entries.find_near(near, group.range.begin);
            for (; near != domain_.entries.end() && near->second->range.begin < group.range.end;
                 ++near) {
                near->second->shadow.give_up(near->second->range.length());
            }
        }
    }

    Status copy_in_ledger() {
        if (groups_.empty()) {
            return Status::ok();
        }
        give_up_next_places();
        const std::unique_ptr<Transaction> transaction = domain_.ledger->begin();
        for (Group &group : groups_) {
            if (Status status = transaction->copy(group.parts, group.data); !status) {
                return status;
            }
        }
        for (const Group &group : groups_) {
            if (group.data) {
                transaction->replace_data(domain_.number, group.range, group.data);
            }
        }
        return transaction->commit();
    }

    // A block for each: what outlives the others would keep a common one.
    Status copy_in_memory() {
        for (Group &group : groups_) {
            const bool checksummed = group.parts.front().data->block().checksummed();
            const bool intact = std::ranges::all_of(group.parts, [](const StoredPart &part) {
                return part.data->block().intact(part.data->offset(), part.length);
            });
            Block *block = intact ? Block::create(group.range.length(), checksummed) : nullptr;
            if (block == nullptr) {
                continue;
            }
            group.data = Piece::adopt(*block, 0);
            size_t done = 0;
            for (const StoredPart &part : group.parts) {
                block->write(done, part.data->at(), part.length);
                done += part.length;
            }
        }
        return Status::ok();
    }

    Domain &domain_;
    std::vector<Group> groups_;
};

} // namespace

void rejoin(Domain &domain) noexcept {
    if (domain.steps_since_joined < fewest_steps) {
        ++domain.steps_since_joined;
    }
    if (!is_due(domain)) {
        return;
    }
    best_effort([&] { return Rejoining(domain).run(); });
    for (const auto &[address, entry] : domain.entries) {
        entry->reused = false;
    }
    domain.entries.forget_cuts();
    domain.steps_since_joined = 0;
}

} // namespace cd
