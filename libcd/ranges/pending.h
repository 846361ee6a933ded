// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "ranges/entry.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace cd {

// Identifies a range in another process.
struct PendingName {
    enum class Kind : uint8_t { add_index, object, region };

    Kind kind = Kind::add_index;
    std::shared_ptr<const std::string> text; // the path of the CD that added it, object or region
    uint64_t add_index = 0;                  // its place among the unnamed ranges of that CD

    bool operator<(const PendingName &other) const {
        if (kind != other.kind) {
            return kind < other.kind;
        }
        const int order = text == other.text ? 0 : text->compare(*other.text);
        return order != 0 ? order < 0 : add_index < other.add_index;
    }
};

// Part of a CD that came from its store and that no add of this process has bound to memory yet.
// Uses its data, as an Entry does.
struct PendingRange {
    uint64_t space = 0; // of the process that added it
    Range old;          // its addresses in that process
    addr_type access = CD_READ_ONLY;
    addr_scope scope = CD_GLOBAL;
    Restoration restoration = Restoration::copy;
    bool owed = false;       // its CD was restored since: an add that binds it writes memory
    bool added_anew = false; // by a restarted process, while ranges of later adds were pending
    uint64_t offset = 0;     // in the range of the add call, in the object, or in the region
    uint64_t length = 0;     // of the range of the add call, or of the region
    Piece data;

    PendingRange() = default;
    PendingRange(PendingRange &&) noexcept = default;
    ~PendingRange() { data.give_up(old.length()); }

    // Returns where the range of the add call, the object or the region began.
    std::pair<uint64_t, uint64_t> base() const { return {space, old.begin - offset}; }
};

// The pending ranges of one CD, ordered by name.
class PendingRanges {
    using Map = std::multimap<PendingName, PendingRange>;

public:
    using Kind = PendingName::Kind;
    using Position = Map::iterator;
    using Found = std::pair<Position, Position>; // a half-open interval

    bool empty() const { return ranges_.empty(); }
    size_t size() const { return ranges_.size(); }
    auto begin() { return ranges_.begin(); }
    auto end() { return ranges_.end(); }
    auto begin() const { return ranges_.begin(); }
    auto end() const { return ranges_.end(); }

    // May throw std::bad_alloc.
    void insert(PendingName name, PendingRange range) {
        ranges_.emplace_hint(ranges_.end(), std::move(name), std::move(range));
    }
    void erase(Position where) noexcept { ranges_.erase(where); }

    // Finds the parts of the range that the CD with this path added as its add_index-th.
    Found added_as(const std::string &path, uint64_t add_index) {
        return ranges_.equal_range(name(Kind::add_index, path, add_index));
    }

    // Finds the first range that this CD added later. end(): there is none.
    Position added_after(const std::string &path, uint64_t add_index) {
        const auto at = ranges_.upper_bound(name(Kind::add_index, path, add_index));
        const bool is_its =
            at != ranges_.end() && at->first.kind == Kind::add_index && *at->first.text == path;
        return is_its ? at : ranges_.end();
    }

    // Finds what lies in an object or a region.
    Found in(Kind kind, const std::string &text) {
        return {ranges_.lower_bound(name(kind, text, 0)),
                ranges_.upper_bound(name(kind, text, UINT64_MAX))};
    }

    // Calls visit with the name of each object that something lies in.
    template <typename Visit> void for_each_object(const Visit &visit) {
        auto at = ranges_.lower_bound(name(Kind::object, std::string(), 0));
        while (at != ranges_.end() && at->first.kind == Kind::object) {
            const std::shared_ptr<const std::string> object = at->first.text;
            visit(*object);
            at = in(Kind::object, *object).second;
        }
    }

private:
    // Does not own text.
    static PendingName name(Kind kind, const std::string &text, uint64_t add_index) {
        return {kind, {std::shared_ptr<void>(), &text}, add_index};
    }

    Map ranges_;
};

} // namespace cd
