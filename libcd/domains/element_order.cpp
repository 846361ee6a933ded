// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "domains/element_order.h"

#include "domains/arguments.h"

#include <boost/sort/spreadsort/integer_sort.hpp>

#include <algorithm>
#include <cstddef>

namespace cd {
namespace {

// What is sorted is small, because sorting moves it often.
struct Key {
    uintptr_t begin;
    size_t element;
};

bool in_order(const std::vector<Element> &elements) {
    return std::ranges::is_sorted(elements, {}, [](const Element &e) { return e.range.begin; });
}

bool overlap(const std::vector<Element> &sorted) {
    return std::ranges::adjacent_find(sorted, [](const Element &a, const Element &b) {
               return a.range.end > b.range.begin;
           }) != sorted.end();
}

std::vector<Element> sorted_by_address(const std::vector<Element> &elements) {
    std::vector<Key> keys(elements.size());
    for (size_t i = 0; i < keys.size(); ++i) {
        keys[i] = {elements[i].range.begin, i};
    }
    boost::sort::spreadsort::integer_sort(
        keys.begin(), keys.end(),
        [](const Key &key, unsigned offset) { return key.begin >> offset; },
        [](const Key &a, const Key &b) { return a.begin < b.begin; });
    constexpr size_t ahead = 8; // enough to hide the latency of memory behind the copies
    std::vector<Element> sorted;
    sorted.reserve(keys.size());
    for (size_t i = 0; i < keys.size(); ++i) {
        __builtin_prefetch(&elements[keys[std::min(i + ahead, keys.size() - 1)].element]);
        sorted.push_back(elements[keys[i].element]);
    }
    return sorted;
}

} // namespace

std::vector<Element> ordered_elements(const cd_addrspec *list, int count) {
    std::vector<Element> elements;
    elements.reserve(static_cast<size_t>(count));
    for (int i = 0; i < count; ++i) {
        if (const Range range = range_of(list[i]); !range.empty()) {
            elements.push_back(
                {range, list[i].addr_tp, list[i].addr_scope, static_cast<uint32_t>(i)});
        }
    }
    if (in_order(elements)) {
        return elements;
    }
    std::vector<Element> sorted = sorted_by_address(elements);
    return overlap(sorted) ? elements : sorted;
}

} // namespace cd
