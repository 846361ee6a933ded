// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cd::redset {

// The tree in redset's headers: an ordered list of keys, each with a tree below it. A value is a
// key with nothing below it; numbers are written in decimal. Members may throw std::bad_alloc.
class KvTree {
public:
    struct Element;

    const std::vector<Element> &elements() const { return elements_; }
    bool empty() const { return elements_.empty(); }
    bool operator==(const KvTree &other) const;

    // Returns the tree below the first element with this key, or nullptr.
    const KvTree *find(std::string_view key) const;

    // Appends an element, and returns the tree below it. The key should not be there yet.
    KvTree &add(std::string_view key);
    void add_value(std::string_view key, std::string_view value);
    void add_number(std::string_view key, uint64_t value);

    // Returns the value of a key that has exactly one.
    std::optional<std::string_view> value(std::string_view key) const;
    std::optional<uint64_t> number(std::string_view key) const;

    // Sorts every level by the bytes of its keys, as in all of redset's files.
    void sort();

private:
    std::vector<Element> elements_;
};

struct KvTree::Element {
    std::string key;
    KvTree below;
};

// Parses a whole decimal number without sign.
std::optional<uint64_t> to_number(std::string_view text);

} // namespace cd::redset
