// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "file_store/first_values.h"

#include <algorithm>
#include <iterator>
#include <optional>

namespace cd {
namespace {

// Some of a run: for each part that it has a checksum of, how much of that it is.
class CheckedBytes {
public:
    CheckedBytes(const StoredEntry &entry, uint64_t offset, uint64_t length)
        : run_(*entry.run), begin_(entry.run_offset + offset), end_(begin_ + length) {}

    bool is_checked() const { return !run_.checksums.empty(); }
    uint64_t first_part() const { return begin_ / format::checked_part; }
    uint64_t parts() const { return (end_ - 1) / format::checked_part + 1 - first_part(); }
    uint64_t offset_in_part() const { return begin_ % format::checked_part; }
    uint32_t checksum(uint64_t part) const { return run_.checksums[first_part() + part]; }

    uint64_t length_of(uint64_t part) const {
        const uint64_t begin = (first_part() + part) * format::checked_part;
        return std::min(begin + format::checked_part, run_.length) - begin;
    }
    bool has_all_of(uint64_t part) const {
        const uint64_t begin = (first_part() + part) * format::checked_part;
        return begin >= begin_ && begin + length_of(part) <= end_;
    }

private:
    const StoredRun &run_;
    uint64_t begin_;
    uint64_t end_;
};

// Nothing where the checksums do not tell, or some parts are the same: all of it is taken for one.
std::optional<bool> are_the_same(const CheckedBytes &one, const CheckedBytes &other) {
    if (!one.is_checked() || !other.is_checked() ||
        one.offset_in_part() != other.offset_in_part()) {
        return std::nullopt;
    }
    bool any_is = false;
    bool all_are = true;
    bool any_is_not = false;
    for (uint64_t part = 0; part < one.parts(); ++part) {
        const bool is_same = one.length_of(part) == other.length_of(part) &&
                             one.checksum(part) == other.checksum(part);
        any_is |= is_same;
        all_are &= is_same;
        any_is_not |= !is_same && one.has_all_of(part) && other.has_all_of(part);
    }
    if (all_are) {
        return true;
    }
    return any_is_not && !any_is ? std::optional(false) : std::nullopt;
}

// Others a later process restores before descendants add them: what the CD has added itself, and
// what has a name.
bool was_added_by_a_descendant(const StoredCd &holder, const StoredEntry &entry,
                               const State &state) {
    return entry.key.name != holder.path &&
           state.names.at(entry.key.name).kind == format::NameKind::path;
}

// The entry that has the place, else the first one behind it.
template <typename Entries> auto first_behind(Entries &entries, const StoredPlace &place) {
    auto at = entries.upper_bound(place);
    if (at != entries.begin() && std::prev(at)->first.space == place.space &&
        std::prev(at)->second.end > place.begin) {
        --at;
    }
    return at;
}

// Nothing where it cannot be told: also where only some of what is held was added.
std::optional<bool> are_the_same(const StoredPlace &held_at, const StoredEntry &held,
                                 const StoredPlace &added_at, const StoredEntry &added) {
    if (added.run == nullptr || added_at.begin > held_at.begin || added.end < held.end) {
        return std::nullopt;
    }
    const uint64_t length = held.end - held_at.begin;
    return are_the_same(CheckedBytes(held, 0, length),
                        CheckedBytes(added, held_at.begin - added_at.begin, length));
}

// Returns whether the holder has any of the bytes.
bool note_in(StoredCd &holder, const StoredPlace &place, const StoredEntry &added,
             const State &state) {
    bool is_there = false;
    for (auto at = first_behind(holder.entries, place);
         at != holder.entries.end() && at->first < StoredPlace{place.space, added.end}; ++at) {
        is_there = true;
        StoredEntry &held = at->second;
        if (held.run == nullptr || held.recent || held.compared ||
            !was_added_by_a_descendant(holder, held, state)) {
            continue;
        }
        held.compared = true;
        held.filled_anew = are_the_same(at->first, held, place, added) == false;
    }
    return is_there;
}

} // namespace

void note_first_values(State &state, const StoredCd &cd, const StoredPlace &place,
                       const StoredEntry &added) {
    bool is_there = false;
    for (const StoredCd *below = &cd; below->number != State::root && !is_there;) {
        const auto above = state.cds.find(below->parent);
        if (above == state.cds.end()) {
            return;
        }
        is_there = note_in(above->second, place, added, state);
        below = &above->second;
    }
}

} // namespace cd
