// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "memory/large_allocator.h"
#include "ranges/unbound.h"

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace cd {

// What a CD holds unbound, each by a number from 0 to size() that it keeps until others are
// removed. An index, which the first question makes, answers in the time that a tree takes, however
// many wait: about 130 bytes for each, and as much for each name. It goes when none is left.
class UnboundRanges {
public:
    using Known = Unbound::Known;

    bool empty() const { return all_.empty(); }
    size_t size() const { return all_.size(); }
    auto begin() const { return all_.begin(); }
    auto end() const { return all_.end(); }
    const Unbound &operator[](size_t number) const { return all_[number]; }
    // What it is found by stays: where it was, and what is known of that. Its end may move.
    auto begin() { return all_.begin(); }
    auto end() { return all_.end(); }
    Unbound &operator[](size_t number) { return all_[number]; }

    void reserve(size_t count) { all_.reserve(count); }

    // Lies beside all others where it was. May throw std::bad_alloc if there is no room; found is
    // as before then.
    void push_back(Unbound &&found);

    // numbers: ascending. The last ones get the numbers of those that go.
    void remove(std::span<const size_t> numbers) noexcept;

    // Questions. All answer in ascending order, and may throw std::bad_alloc.
    using Numbers = std::vector<size_t>;

    // What of the CD that is known by path had this place in the order of its ranges.
    Numbers of_order(const std::string &path, uint64_t ordinal);

    // Something of that CD that came later; size() if there is nothing.
    size_t later(const std::string &path, uint64_t ordinal);
    bool has_later(const std::string &path, uint64_t ordinal) {
        return later(path, ordinal) < size();
    }

    // What was in these bytes of the process that is known as space.
    Numbers in(uint64_t space, Range bytes);

    // What was in so many bytes from offset on of an object or a region.
    Numbers in_named(Known known, const std::string &name, uint64_t offset, uint64_t length);

    // One of what was in an object or a region; size() if there is nothing.
    size_t one_of(Known known, const std::string &name);

    // visit gets the name of each object that something was in.
    template <typename Visit> void each_object(const Visit &visit) {
        for (const auto &[name, keys] : index().names[place_of(Known::in_object)]) {
            visit(name);
        }
    }

private:
    struct Place {
        uint64_t space;
        uint64_t begin;
        auto operator<=>(const Place &) const = default;
    };
    // What is alike in what comes first is one range that was added in order, or bytes of one
    // object or region, which are as far apart here as in there.
    struct Key {
        uint64_t first; // ordinal; or where the object or region began
        Place place;
        auto operator<=>(const Key &) const = default;
    };
    using Keys = std::set<Key>;
    struct Index {
        std::map<Place, size_t> places;
        std::array<std::map<std::string, Keys>, 3> names; // by what is known
    };

    static size_t place_of(Known known) { return static_cast<size_t>(known); }
    static Key key_of(const Unbound &found);
    static void insert(Index &index, const Unbound &found, size_t number);

    Index &index();
    const Keys &keys_of(Known known, const std::string &name);
    void forget(const Unbound &found) noexcept;
    void replace_by_last(size_t number) noexcept;

    std::vector<Unbound, LargeAllocator<Unbound>> all_;
    std::unique_ptr<Index> index_; // none: until somebody asks
};

} // namespace cd
