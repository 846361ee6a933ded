// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "domains/element_order.h"

#include "base/radix_sort.h"
#include "memory/allocation_plan.h"

#include <algorithm>
#include <cstddef>
#include <utility>

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

// Takes in those behind the element that are like it and follow each other in memory. They stay
// shorter than what has a block of memory of its own, which would not be freed in parts.
void extend(Element &element, const cd_addrspec *list, size_t count) {
    const cd_addrspec &first = list[element.index];
    const uintptr_t begin = element.range.begin;
    const size_t longest = std::min<size_t>(AllocationPlan::own_block - 1, UINTPTR_MAX - begin);
    if (first.length > longest) {
        return;
    }
    const uintptr_t last_begin = begin + (longest - first.length);
    uintptr_t end = element.range.end;
    size_t next = element.index + size_t{1};
    for (; next < count && end <= last_begin && range_of(list[next]).begin == end &&
           list[next].length == first.length && list[next].addr_tp == first.addr_tp &&
           list[next].addr_scope == first.addr_scope;
         ++next) {
        end += first.length;
    }
    element.range.end = end;
    element.count = static_cast<uint32_t>(next - element.index);
}

struct Walked {
    std::vector<Element> elements; // not the empty ones
    bool in_order = true;          // of address
    bool legal = true;
};

template <typename IsLegal>
Walked walk(const cd_addrspec *list, size_t count, Neighbours neighbours, const IsLegal &is_legal) {
    Walked walked;
    uintptr_t before = 0;
    for (size_t i = 0; i < count;) {
        Element element = element_of(list, i);
        walked.legal = walked.legal && is_legal(list[i]);
        if (neighbours == Neighbours::together && i + 1 < count &&
            range_of(list[i + 1]).begin == element.range.end) {
            extend(element, list, count);
        }
        i += element.count;
        if (!element.range.empty()) {
            walked.in_order = walked.in_order && element.range.begin >= before;
            before = element.range.begin;
            if (walked.elements.empty()) {
                walked.elements.reserve(1 + count - i); // what may still come
            }
            walked.elements.push_back(element);
        }
    }
    return walked;
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

std::vector<Element> best_order(Walked walked, const cd_addrspec *list, size_t count) {
    if (walked.in_order) {
        return std::move(walked.elements);
    }
    std::vector<Element> sorted = sorted_by_address(list, count);
    return overlap(sorted) ? std::move(walked.elements) : sorted;
}

} // namespace

std::vector<Element> ordered_elements(const cd_addrspec *list, int count) {
    const auto size = static_cast<size_t>(count);
    return best_order(
        walk(list, size, Neighbours::apart, [](const cd_addrspec & /*checked*/) { return true; }),
        list, size);
}

std::optional<std::vector<Element>> legal_elements(const AddRequest &request,
                                                   Neighbours neighbours) {
    const auto size = static_cast<size_t>(request.count);
    Walked walked = walk(request.list, size, neighbours, [&](const cd_addrspec &element) {
        return has_legal_labels(element, request.restoration) && is_range(element);
    });
    if (!walked.legal) {
        return std::nullopt;
    }
    return best_order(std::move(walked), request.list, size);
}

} // namespace cd
