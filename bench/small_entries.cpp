// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// Many entries of 8 bytes that do not touch each other: what an entry costs beside its data.
#include "domains.h"
#include "measure.h"

#include <algorithm>
#include <random>
#include <string>
#include <utility>

namespace {

constexpr size_t length = 8;
constexpr size_t stride = 16;
constexpr size_t most = 1'000'000;
constexpr double target_ns = 200;

// Ranges with room for as many others between them.
constexpr size_t wide_stride = 2 * stride;

Memory &memory() {
    static Memory all(most * wide_stride);
    return all;
}

List list_of(size_t count, size_t every = stride, size_t first = 0) {
    List list;
    list.reserve(count);
    for (size_t i = 0; i < count; ++i) {
        list.push_back({memory().at(first + i * every), length, READ_WRITE, GLOBAL});
    }
    return list;
}

List shuffled(List list) {
    std::shuffle(list.begin(), list.end(), std::mt19937_64(1));
    return list;
}

// The store and the heap are warm: what the round before gave back is used again.
void add_list(benchmark::State &state, const List &list) {
    cd_handle root = nullptr;
    measure_each(
        state, list.size(),
        [&] {
            root = create_cd(nullptr, nullptr, COMM_LOGGING_DISABLED, "bench", nullptr);
            must(root != nullptr);
        },
        [&] { add(root, list); }, [&] { must(commit_cd(root)); });
}

void add_sorted(benchmark::State &state, size_t count) { add_list(state, list_of(count)); }

void add_shuffled(benchmark::State &state, size_t count) {
    add_list(state, shuffled(list_of(count)));
}

void promote(benchmark::State &state, size_t count) {
    const List writes = list_of(count);
    const List reads = labelled(writes, READ_ONLY);
    const Root root;
    add(root.handle(), reads);
    measure_each(
        state, count, nothing, [&] { add(root.handle(), writes); },
        [&] { add(root.handle(), reads); });
}

void advance(benchmark::State &state, size_t count) {
    const List list = list_of(count);
    const Root root;
    const auto promote = [&] { add(root.handle(), list); };
    const auto advance = [&] { must(advance_cd_point_in_time(root.handle())); };
    promote();
    advance();
    measure_each(state, count, promote, advance, nothing);
}

// others: what the parent holds already.
void commit_beside(benchmark::State &state, const List &list, const List &others) {
    const Root root;
    cd_handle child = nullptr;
    add(root.handle(), others);
    measure_each(
        state, list.size(),
        [&] {
            child = create_child(root.handle());
            add(child, list);
        },
        [&] { must(commit_cd(child)); }, [&] { remove(root.handle(), list); });
}

void commit_into_empty(benchmark::State &state, size_t count) {
    commit_beside(state, list_of(count), {});
}

// The hardest case: entries of parent and child alternate.
void commit_between(benchmark::State &state, size_t count) {
    commit_beside(state, list_of(count, wide_stride), list_of(count, wide_stride, stride));
}

void restore(benchmark::State &state, size_t count) {
    const Root root;
    add(root.handle(), list_of(count));
    measure_each(
        state, count, nothing, [&] { must(restore_cd(root.handle())); }, nothing);
}

void remove_list(benchmark::State &state, size_t count) {
    const List list = list_of(count);
    const Root root;
    measure_each(
        state, count, [&] { add(root.handle(), list); }, [&] { remove(root.handle(), list); },
        nothing);
}

// Calls for one entry each, at random places among many.
template <typename Call, typename TakeBack>
void one_by_one(benchmark::State &state, List list, const Call &call, const TakeBack &take_back) {
    constexpr size_t calls = 10'000;
    list = shuffled(std::move(list));
    list.resize(std::min(calls, list.size()));
    measure_each(
        state, list.size(), nothing,
        [&] {
            for (const cd_addrspec &range : list) {
                must(call(&range));
            }
        },
        [&] { take_back(list); });
}

void add_one_by_one(benchmark::State &state, size_t present) {
    const Root root;
    add(root.handle(), list_of(present, wide_stride));
    one_by_one(
        state, list_of(present, wide_stride, stride),
        [&](const cd_addrspec *range) {
            return add_to_cd_via_copy(root.handle(), range, 1, nullptr);
        },
        [&](const List &added) { remove(root.handle(), added); });
}

void promote_one_by_one(benchmark::State &state, size_t present) {
    const Root root;
    add(root.handle(), labelled(list_of(present), READ_ONLY));
    one_by_one(
        state, list_of(present),
        [&](const cd_addrspec *range) {
            return add_to_cd_via_copy(root.handle(), range, 1, nullptr);
        },
        [&](const List &promoted) { add(root.handle(), labelled(promoted, READ_ONLY)); });
}

void remove_one_by_one(benchmark::State &state, size_t present) {
    const Root root;
    add(root.handle(), list_of(present));
    one_by_one(
        state, list_of(present),
        [&](const cd_addrspec *range) { return delete_from_cd(root.handle(), range, 1); },
        [&](const List &removed) { add(root.handle(), removed); });
}

using Operation = void (*)(benchmark::State &, size_t);

void register_counts(const std::string &name, Operation operation, bool has_target) {
    for (size_t count = 100; count <= most; count *= 10) {
        const size_t rounds = std::clamp<size_t>(2'000'000 / count, 7, 1001);
        register_case("small " + name + "/" + std::to_string(count), static_cast<int64_t>(rounds),
                      [=](benchmark::State &state) {
                          operation(state, count);
                          if (has_target && count == most) {
                              set_target(state, target_ns);
                          }
                      });
    }
}

} // namespace

void register_small_entries() {
    register_counts("add", add_sorted, true);
    register_counts("add, shuffled", add_shuffled, true);
    register_counts("re-add (promotion)", promote, true);
    register_counts("advance", advance, true);
    register_counts("commit into an empty parent", commit_into_empty, true);
    register_counts("commit between the parent's", commit_between, true);
    register_counts("restore", restore, true);
    register_counts("delete", remove_list, true);
    register_counts("add, one per call", add_one_by_one, false);
    register_counts("re-add, one per call", promote_one_by_one, false);
    register_counts("delete, one per call", remove_one_by_one, false);
}
