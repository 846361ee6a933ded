// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/kvtree.h"

#include <algorithm>
#include <charconv>

namespace cd::redset {

bool KvTree::operator==(const KvTree &other) const {
    return std::equal(
        elements_.begin(), elements_.end(), other.elements_.begin(), other.elements_.end(),
        [](const Element &a, const Element &b) { return a.key == b.key && a.below == b.below; });
}

const KvTree *KvTree::find(std::string_view key) const {
    const auto found = std::find_if(elements_.begin(), elements_.end(),
                                    [key](const Element &element) { return element.key == key; });
    return found == elements_.end() ? nullptr : &found->below;
}

KvTree &KvTree::add(std::string_view key) {
    return elements_.emplace_back(Element{std::string(key), {}}).below;
}

void KvTree::add_value(std::string_view key, std::string_view value) { add(key).add(value); }

void KvTree::add_number(std::string_view key, uint64_t value) {
    add_value(key, std::to_string(value));
}

std::optional<std::string_view> KvTree::value(std::string_view key) const {
    const KvTree *below = find(key);
    if (below == nullptr || below->elements_.size() != 1) {
        return std::nullopt;
    }
    return below->elements_.front().key;
}

std::optional<uint64_t> KvTree::number(std::string_view key) const {
    const auto text = value(key);
    return text ? to_number(*text) : std::nullopt;
}

void KvTree::sort() {
    std::stable_sort(elements_.begin(), elements_.end(),
                     [](const Element &a, const Element &b) { return a.key < b.key; });
    for (Element &element : elements_) {
        element.below.sort();
    }
}

std::optional<uint64_t> to_number(std::string_view text) {
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) {
        return std::nullopt;
    }
    return value;
}

} // namespace cd::redset
