// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "domains/compaction.h"

#include "base/no_throw.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace cd {
namespace {

// Joining looks at all entries, which pays for many cuts only.
constexpr size_t fewest_cuts = 1000;
constexpr size_t share_of_cuts = 4;

// A program that uses the same parts in each step names them again within so many steps.
constexpr int fewest_steps = 8;

// Neighbouring entries that become one, or one entry that gets another place.
struct Group {
    Range range;
    std::vector<StoredPart> parts;
    Piece data; // empty: the entries stay as they are
};

bool is_fragment(const Entry &entry) {
    return !entry.whole && !entry.reused && entry.stage == Stage::held &&
           entry.restoration == Restoration::copy && entry.range.length() < longest_joined;
}

bool may_follow(const Entry &left, const Entry &right) {
    return left.range.end == right.range.begin && left.alike(right) &&
           left.in_place == right.in_place &&
           left.data.block().checksummed() == right.data.block().checksummed();
}

// Joins entries whose data lie side by side, which copies nothing.
void join_adjacent(RangeIndex &entries) noexcept {
    const Entry *previous = nullptr;
    for (auto at = entries.begin(); at != entries.end(); ++at) {
        if (previous != nullptr && !previous->reused && !at->second->reused) {
            at = entries.merge_before(at);
        }
        previous = at->second;
    }
}

std::vector<Group> groups_of_fragments(const RangeIndex &entries) {
    std::vector<Group> groups;
    Group group;
    const auto close = [&] {
        if (group.parts.size() > 1) {
            groups.push_back(std::move(group));
        }
        group = {};
    };
    const Entry *last = nullptr;
    for (const auto &[address, entry] : entries) {
        const bool fits = is_fragment(*entry);
        if (!fits || last == nullptr || !may_follow(*last, *entry) ||
            entry->range.end - group.range.begin > longest_joined) {
            close();
            group.range.begin = address;
        }
        if (fits) {
            group.range.end = entry->range.end;
            group.parts.push_back({&entry->data, entry->range.length()});
        }
        last = fits ? entry : nullptr;
    }
    close();
    return groups;
}

std::vector<Group> entries_in_sparse_places(const RangeIndex &entries) {
    std::vector<Group> groups;
    for (const auto &[address, entry] : entries) {
        if (entry->data && entry->data.block().backing() != nullptr &&
            entry->data.block().backing()->is_sparse()) {
            groups.push_back({entry->range, {{&entry->data, entry->range.length()}}, {}});
        }
    }
    return groups;
}

// Frees room for the copies, which need no more than that.
void give_up_next_data(RangeIndex &entries, const std::vector<Group> &groups) noexcept {
    auto near = entries.begin();
    for (const Group &group : groups) {
        near = entries.find_near(near, group.range.begin);
        for (; near != entries.end() && near->second->range.begin < group.range.end; ++near) {
            near->second->next_data.give_up(near->second->range.length());
        }
    }
}

Status copy_in_store(Domain &domain, std::vector<Group> &groups) {
    give_up_next_data(domain.entries, groups);
    const std::unique_ptr<Transaction> transaction = domain.store->begin();
    for (Group &group : groups) {
        if (Status status = transaction->copy(group.parts, group.data); !status) {
            return status;
        }
    }
    for (const Group &group : groups) {
        if (group.data) {
            transaction->replace_data(domain.number, group.range, group.data);
        }
    }
    return transaction->commit();
}

// Gives each group a block of its own: one that outlives the others would keep a common block.
void copy_in_memory(std::vector<Group> &groups) {
    for (Group &group : groups) {
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
}

Status replace_by_copies(Domain &domain, std::vector<Group> groups) {
    if (groups.empty()) {
        return Status::ok();
    }
    if (domain.store == nullptr) {
        copy_in_memory(groups);
    } else if (Status status = copy_in_store(domain, groups); !status) {
        return status;
    }
    auto near = domain.entries.begin();
    for (Group &group : groups) {
        if (group.data) {
            near = domain.entries.find_near(near, group.range.begin);
            near = domain.entries.join(near, group.range.end, std::move(group.data));
        }
    }
    return Status::ok();
}

} // namespace

void join_fragments(Domain &domain) noexcept {
    RangeIndex &entries = domain.entries;
    domain.steps_since_joined = std::min(domain.steps_since_joined + 1, fewest_steps);
    if (domain.steps_since_joined < fewest_steps ||
        entries.cuts() < std::max(fewest_cuts, entries.size() / share_of_cuts)) {
        return;
    }
    best_effort([&] {
        join_adjacent(entries);
        return replace_by_copies(domain, groups_of_fragments(entries));
    });
    for (const auto &[address, entry] : entries) {
        entry->reused = false;
    }
    entries.forget_cuts();
    domain.steps_since_joined = 0;
}

void free_sparse_places(Domain &domain) noexcept {
    if (domain.store != nullptr && domain.store->wastes_room(domain.accepted_waste)) {
        best_effort(
            [&] { return replace_by_copies(domain, entries_in_sparse_places(domain.entries)); });
        domain.accepted_waste = domain.store->wasted_room();
    }
}

} // namespace cd
