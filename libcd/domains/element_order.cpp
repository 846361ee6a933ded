// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "domains/element_order.h"

#include "base/radix_sort.h"
#include "domains/arguments.h"
#include "store/placement.h"

#include <algorithm>
#include <cstddef>

namespace cd {
namespace {

// What is sorted is small, because sorting moves it often.
struct Key {
    uintptr_t begin;
    size_t element;
};

Element element_of(const cd_addrspec *list, size_t index) {
    const cd_addrspec &spec = list[index];
    return {range_of(spec), spec.addr_tp, spec.addr_scope, static_cast<uint32_t>(index), 1};
}

// Whether the element of the list that comes behind others can be one with them. They stay shorter
// than what has a block of memory of its own, which would not be freed in parts.
bool continues(const Element &others, const cd_addrspec *list, size_t index) {
    const cd_addrspec &spec = list[index];
    const cd_addrspec &last = list[index - 1];
    return range_of(spec).begin == others.range.end && spec.length == last.length &&
           spec.addr_tp == others.access && spec.addr_scope == others.scope &&
           others.range.length() + spec.length < Placement::own_block;
}

// What is not empty, in the given order.
std::vector<Element> as_given(const cd_addrspec *list, size_t count, Neighbours neighbours) {
    std::vector<Element> elements;
    elements.reserve(count);
    for (size_t i = 0; i < count;) {
        Element element = element_of(list, i++);
        while (neighbours == Neighbours::together && i < count && continues(element, list, i)) {
            element.range.end += list[i++].length;
            ++element.count;
        }
        if (!element.range.empty()) {
            elements.push_back(element);
        }
    }
    return elements;
}

bool in_order(const cd_addrspec *list, size_t count) {
    return std::is_sorted(list, list + count, [](const cd_addrspec &a, const cd_addrspec &b) {
        return range_of(a).begin < range_of(b).begin;
    });
}

bool overlap(const std::vector<Element> &sorted) {
    return std::ranges::adjacent_find(sorted, [](const Element &a, const Element &b) {
               return a.range.end > b.range.begin;
           }) != sorted.end();
}

std::vector<Element> sorted_by_address(const cd_addrspec *list, size_t count) {
    std::vector<Key> keys;
    keys.reserve(count);
    for (size_t i = 0; i < count; ++i) {
        if (list[i].length > 0) {
            keys.push_back({range_of(list[i]).begin, i});
        }
    }
    radix_sort(keys, [](const Key &key) { return key.begin; });
    constexpr size_t ahead = 16; // enough to hide the latency of memory behind the copies
    std::vector<Element> sorted;
    sorted.reserve(keys.size());
    for (size_t i = 0; i < keys.size(); ++i) {
        __builtin_prefetch(&list[keys[std::min(i + ahead, keys.size() - 1)].element]);
        sorted.push_back(element_of(list, keys[i].element));
    }
    return sorted;
}

} // namespace

std::vector<Element> ordered_elements(const cd_addrspec *list, int count, Neighbours neighbours) {
    const auto size = static_cast<size_t>(count);
    if (in_order(list, size)) {
        return as_given(list, size, neighbours);
    }
    std::vector<Element> sorted = sorted_by_address(list, size);
    return overlap(sorted) ? as_given(list, size, neighbours) : sorted;
}

} // namespace cd
