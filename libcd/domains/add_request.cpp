// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "domains/add_request.h"

#include "base/radix_sort.h"
#include "memory/allocation_plan.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace cd {
namespace {

Status check_range(const cd_addrspec &element, int index, const char *cd) {
    if (is_range(element)) {
        return Status::ok();
    }
    if (element.address == nullptr) {
        return fail(CD_ERROR_NULL_ADDRESS,
                    "CD %s: element %d of the list is %zu bytes at address NULL; give the address",
                    cd, index, element.length);
    }
    return fail(CD_ERROR_RANGE_WRAPS,
                "CD %s: element %d of the list, %zu bytes at %p, runs past the end of the address "
                "space; check the length",
                cd, index, element.length, element.address);
}

Status check_count(const cd_addrspec *list, int count, const char *cd) {
    if (count < 0) {
        return fail(CD_ERROR_COUNT, "CD %s: the list has %d elements; the count cannot be negative",
                    cd, count);
    }
    if (list == nullptr && count > 0) {
        return fail(
            CD_ERROR_NULL_LIST,
            "CD %s: the list is NULL or shorter than its count of %d; pass a list of that many "
            "elements",
            cd, count);
    }
    return Status::ok();
}

Status check_labels(const cd_addrspec &element, int index, Restoration restoration,
                    const char *cd) {
    if (has_legal_labels(element, restoration)) {
        return Status::ok();
    }
    const int access = element.addr_tp;
    const int scope = element.addr_scope;
    if (access != CD_READ_ONLY && access != CD_READ_WRITE) {
        return fail(CD_ERROR_ADDR_TYPE,
                    "CD %s: element %d of the list has addr_tp %d; allowed are READ_ONLY (0) and "
                    "READ_WRITE (1)",
                    cd, index, access);
    }
    if (scope != CD_GLOBAL && scope != CD_CONSTRAINED) {
        return fail(CD_ERROR_ADDR_SCOPE,
                    "CD %s: element %d of the list has addr_scope %d; allowed are GLOBAL (0) and "
                    "CONSTRAINED (1)",
                    cd, index, scope);
    }
    return fail(CD_ERROR_REGEN_READ_WRITE,
                "CD %s: element %d of the list, %zu bytes at %p, is READ_WRITE; what a function "
                "regenerates is READ_ONLY, or add it via copy",
                cd, index, element.length, element.address);
}

// A small item to sort, since sorting moves it often.
struct Key {
    uintptr_t begin;
    size_t element;
};

Element element_of(const cd_addrspec *list, size_t index) {
    const cd_addrspec &spec = list[index];
    return {range_of(spec), spec.addr_tp, spec.addr_scope, static_cast<uint32_t>(index), 1};
}

// Takes in the elements behind this one that are like it and follow each other in memory. The
// result stays too short for a block of its own, which could not be freed in parts.
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

Status check_list(const cd_addrspec *list, int count, const char *cd) {
    Status status = check_count(list, count, cd);
    for (int i = 0; status.is_ok() && i < count; ++i) {
        status = check_range(list[i], i, cd);
    }
    return status;
}

Status check_call(const AddRequest &request) {
    Status status = check_count(request.list, request.count, request.cd);
    if (status.is_ok() && request.restoration == Restoration::regen && request.regen == nullptr) {
        return fail(
            CD_ERROR_REGEN_NULL,
            "CD %s: the regen function is NULL; pass the function that writes the data of these "
            "ranges",
            request.cd);
    }
    return status;
}

Status check_request(const AddRequest &request) {
    Status status = check_call(request);
    for (int i = 0; status.is_ok() && i < request.count; ++i) {
        status = check_labels(request.list[i], i, request.restoration, request.cd);
        if (status.is_ok()) {
            status = check_range(request.list[i], i, request.cd);
        }
    }
    return status;
}

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
