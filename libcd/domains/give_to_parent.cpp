// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "domains/give_to_parent.h"

#include "domains/ancestors.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace cd {
namespace {

// True if the parent's next advance has to copy these bytes, since the child changes them.
bool promotes(const Entry &childs, const Entry &parents) {
    return childs.read_write() && !parents.read_write() &&
           parents.restoration != Restoration::regen;
}

// True if an operation has named exactly these bytes of the child.
bool is_named(const Entry &childs, Range part) {
    return (childs.whole || childs.reused) && childs.range.length() == part.length();
}

// Makes the entries of range READ_WRITE. Both ends of range are borders between entries.
void promote(RangeIndex &entries, Range range) noexcept {
    auto near = entries.find(range.begin);
    for (; near != entries.end() && near->second->range.begin < range.end; ++near) {
        entries.set_access(*near->second, CD_READ_WRITE);
        near = entries.merge_before(near);
    }
    entries.merge_before(near);
}

} // namespace

bool GiveToParent::prepare(Locked locked) {
    if (gives_files()) {
        prepare_files();
    }
    auto near = parent_.entries.begin();
    for (auto at = child_.entries.begin(); at != child_.entries.end(); ++at) {
        prepare_entry(at, near);
    }
    if (passed_on_.empty()) {
        return true;
    }
    if (locked == Locked::ancestors) {
        prepare_above_parent();
    }
    return locked == Locked::ancestors;
}

// Adds the child's files to those of the parent, whose positions are older and stay.
void GiveToParent::prepare_files() {
    files_ = parent_.files;
    pending_files_ = parent_.pending_files;
    for (FilePosition file : child_.files) {
        if (files_.holds(file.descriptor)) {
            continue;
        }
        if (const auto older = find_same_file(pending_files_, file);
            older != pending_files_.end()) {
            file.position = older->position;
            pending_files_.erase(older);
        }
        files_.add(file);
    }
    for (const FilePosition &file : child_.pending_files) {
        const auto is_same = [&](const FilePosition &other) {
            return sameness(file, other) != Sameness::none;
        };
        if (std::ranges::none_of(parent_.files, is_same) &&
            std::ranges::none_of(parent_.pending_files, is_same)) {
            pending_files_.push_back(file);
        }
    }
}

// Walks along one entry of the child and the parent's entries there. Splits the parent's entry
// where only part of it is promoted, and the child's where only part of it is given. `near`: a
// position in the parent's index close to the entry. `at`: the child's entry; afterwards its last
// part.
void GiveToParent::prepare_entry(RangeIndex::Position &at, RangeIndex::Position &near) {
    RangeIndex &parents = parent_.entries;
    const Range range = at->second->range;
    prefetch_behind(*at->second);
    for (uintptr_t done = range.begin; done < range.end;) {
        near = parents.find_near(near, done);
        const uintptr_t held_from =
            near == parents.end() ? range.end : std::min(range.end, near->second->range.begin);
        if (done < held_from) {
            if (at->second->scope == CD_GLOBAL) {
                at = child_.entries.make_borders(at, {done, held_from});
                give(*at->second, near);
                while (at->second->range.end < held_from) { // elements that were one entry
                    give(*(++at)->second, near);
                }
            } else if (at->second->read_write()) {
                pass_on({done, held_from});
            }
            done = held_from;
            continue;
        }
        const Range shared = {done, std::min(range.end, near->second->range.end)};
        if (promotes(*at->second, *near->second)) {
            near = parents.make_borders(near, shared, is_named(*at->second, shared));
        } else if (at->second->read_write() && near->second->restoration == Restoration::regen) {
            pass_on(shared);
        }
        done = shared.end;
    }
}

void GiveToParent::give(Entry &entry, RangeIndex::Position &near) {
    if (kind_ == Kind::move) {
        near = std::next(parent_.entries.insert(near, &entry));
        entry.stage = Stage::leaving;
        return;
    }
    auto copy = parent_.entries.make_entry();
    entry.copy_labels(entry.range, *copy);
    given_.push_back({&entry, copy.get()});
    try {
        near = std::next(parent_.entries.insert_arriving(near, copy.get()));
    } catch (...) {
        given_.pop_back();
        throw;
    }
    copy.release();
    entry.stage = Stage::leaving;
}

void GiveToParent::pass_on(Range range) {
    if (parent_.is_root()) {
        return;
    }
    if (!passed_on_.empty() && passed_on_.back().end == range.begin) {
        passed_on_.back().end = range.end;
    } else {
        passed_on_.push_back(range);
    }
}

void GiveToParent::prepare_above_parent() {
    const auto holds = [](const Domain & /*holder*/, const Entry &entry) {
        return entry.restoration != Restoration::regen;
    };
    const auto found = [&](Domain &holder, const Entry &entry, Range part) {
        if (!entry.read_write()) {
            above_parent_.push_back({&holder, part});
        }
        return true;
    };
    const auto missing = [](Range /*part*/) { return true; };
    for (const Range &range : passed_on_) {
        for_each_first_holder(Upwards(parent_.parent), range, holds, found, missing);
    }
    for (const auto &[holder, range] : above_parent_) {
        holder->entries.make_borders(holder->entries.end(), range);
    }
}

void GiveToParent::write_down(Transaction &transaction) const {
    for (const auto &[address, entry] : child_.entries) {
        if (entry->stage == Stage::leaving) {
            transaction.give(child_.number, parent_.number, entry->range, kind_ == Kind::share);
        } else if (entry->read_write()) {
            transaction.promote(parent_.number, entry->range);
        }
    }
    for (const auto &[holder, range] : above_parent_) {
        transaction.promote(holder->number, range);
    }
    if (gives_files()) {
        std::vector<FilePosition> all(files_.begin(), files_.end());
        all.insert(all.end(), pending_files_.begin(), pending_files_.end());
        transaction.files(parent_.number, all);
    }
}

void GiveToParent::publish() noexcept {
    parent_.restore_may_fail |= child_.restore_may_fail;
    promote_in_parent();
    promote_above_parent();
    if (gives_files()) {
        std::swap(parent_.files, files_);
        parent_.pending_files.swap(pending_files_);
    }
    if (kind_ == Kind::move) {
        move_entries();
    } else {
        hand_data_over();
    }
    published_ = true;
}

void GiveToParent::promote_in_parent() noexcept {
    auto near = parent_.entries.begin();
    for (Entry *entry = child_.entries.read_write().first(); entry != nullptr;
         entry = entry->next) {
        prefetch_behind(*entry);
        if (entry->stage == Stage::leaving) {
            continue;
        }
        for (near = parent_.entries.find_near(near, entry->range.begin);
             near != parent_.entries.end() && near->second->range.begin < entry->range.end;
             ++near) {
            if (promotes(*entry, *near->second)) {
                parent_.entries.set_access(*near->second, CD_READ_WRITE);
            }
            near = parent_.entries.merge_before(near);
        }
        near = parent_.entries.merge_before(near);
    }
}

void GiveToParent::promote_above_parent() noexcept {
    for (const auto &[holder, range] : above_parent_) {
        promote(holder->entries, range);
    }
}

void GiveToParent::hand_data_over() noexcept {
    parent_.entries.accept_arriving();
    for (const auto &[childs, parents] : given_) {
        childs->stage = Stage::held;
        if (childs->restoration != Restoration::copy) {
            continue;
        }
        if (childs->read_write()) {
            parents->data = std::move(childs->data);
            parents->data_shared = childs->data_shared;
        } else {
            parents->data = childs->data.share_use(parents->range.length());
            parents->data_shared = childs->data_shared = true;
        }
    }
}

void GiveToParent::move_entries() noexcept {
    for (auto at = child_.entries.begin(); at != child_.entries.end(); ++at) {
        Entry *entry = at->second;
        prefetch_behind(*entry);
        if (entry->stage == Stage::leaving) {
            entry->stage = Stage::held;
            entry->listed = false;
            parent_.entries.set_access(*entry, entry->access);
        } else {
            EntryPool::destroy(entry);
        }
    }
    child_.entries.abandon_to(parent_.entries);
}

GiveToParent::~GiveToParent() {
    if (published_) {
        return;
    }
    parent_.entries.reject_arriving();
    for (const auto &[address, entry] : child_.entries) {
        if (entry->stage == Stage::leaving) {
            if (kind_ == Kind::move) {
                parent_.entries.release(parent_.entries.find(entry->range.begin));
            }
            entry->stage = Stage::held;
        }
    }
}

} // namespace cd
