// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// Which structure should hold the ranges of a CD? This measures what libcd/ranges does with one:
// inserting next to a known place, walking, finding the entry that covers an address, erasing; and
// the same at random places. What is stored has the size of libcd's entries.
#include "measure.h"

#include <absl/container/btree_map.h>
#include <boost/intrusive/avl_set.hpp>
#include <boost/intrusive/set.hpp>

#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <string>

namespace {

namespace intrusive = boost::intrusive;
using Key = uintptr_t;

struct Entry {
    Key begin;
    Key end;
    std::byte labels[88];
};

constexpr size_t length = 8;
constexpr size_t stride = 16;

Entry entry_at(Key begin) { return {begin, begin + length, {}}; }

// A map from the beginning to the entry itself.
template <typename Map> class Inline {
public:
    using Place = typename Map::iterator;

    ~Inline() { clear(); }
    void append(Key key) { map_.insert(map_.end(), {key, entry_at(key)}); }
    void insert(Key key) { map_.insert({key, entry_at(key)}); }
    Place begin() { return map_.begin(); }
    Place end() { return map_.end(); }
    Place behind(Key key) { return map_.upper_bound(key); }
    Place erase(Place place) { return map_.erase(place); }
    static Key end_of(Place place) { return place->second.end; }
    void clear() { map_.clear(); }

private:
    Map map_;
};

// A map from the beginning to an entry on the heap, which keeps its address.
template <typename Map> class Pointing {
public:
    using Place = typename Map::iterator;

    ~Pointing() { clear(); }
    void append(Key key) { map_.insert(map_.end(), {key, new Entry(entry_at(key))}); }
    void insert(Key key) { map_.insert({key, new Entry(entry_at(key))}); }
    Place begin() { return map_.begin(); }
    Place end() { return map_.end(); }
    Place behind(Key key) { return map_.upper_bound(key); }
    Place erase(Place place) {
        delete place->second;
        return map_.erase(place);
    }
    static Key end_of(Place place) { return place->second->end; }
    void clear() {
        for (auto &[key, entry] : map_) {
            delete entry;
        }
        map_.clear();
    }

private:
    Map map_;
};

// A tree whose links are in the entries.
template <template <typename...> typename Set, typename Hook> class Linked {
    struct Node : Hook, Entry {};
    struct KeyOf {
        using type = Key;
        const Key &operator()(const Node &node) const { return node.begin; }
    };
    using Tree = Set<Node, intrusive::key_of_value<KeyOf>, intrusive::constant_time_size<false>>;

public:
    using Place = typename Tree::iterator;

    ~Linked() { clear(); }
    void append(Key key) { tree_.insert(tree_.end(), *make(key)); }
    void insert(Key key) { tree_.insert(*make(key)); }
    Place begin() { return tree_.begin(); }
    Place end() { return tree_.end(); }
    Place behind(Key key) { return tree_.upper_bound(key); }
    Place erase(Place place) { return tree_.erase_and_dispose(place, std::default_delete<Node>()); }
    static Key end_of(Place place) { return place->end; }
    void clear() { tree_.clear_and_dispose(std::default_delete<Node>()); }

private:
    static Node *make(Key key) {
        auto *node = new Node;
        static_cast<Entry &>(*node) = entry_at(key);
        return node;
    }

    Tree tree_;
};

// The links are as small as they can be, and nothing is checked.
using SetHook = intrusive::set_base_hook<intrusive::optimize_size<true>,
                                         intrusive::link_mode<intrusive::normal_link>>;
using AvlHook = intrusive::avl_set_base_hook<intrusive::optimize_size<true>,
                                             intrusive::link_mode<intrusive::normal_link>>;

std::vector<Key> make_keys(size_t count) {
    constexpr Key first = 0x7f0000000000;
    std::vector<Key> keys(count);
    for (size_t i = 0; i < count; ++i) {
        keys[i] = first + i * stride;
    }
    return keys;
}

// In rounds, so that the heap is warm.
template <typename Index> void in_order(benchmark::State &state, size_t count) {
    const std::vector<Key> keys = make_keys(count);
    Samples insert;
    Samples walk;
    Samples erase;
    for (auto _ : state) {
        Index index;
        insert.add(seconds([&] {
            for (const Key key : keys) {
                index.append(key);
            }
        }));
        walk.add(seconds([&] {
            Key sum = 0;
            for (auto at = index.begin(); at != index.end(); ++at) {
                sum += Index::end_of(at);
            }
            benchmark::DoNotOptimize(sum);
        }));
        erase.add(seconds([&] {
            for (auto at = index.begin(); at != index.end();) {
                at = index.erase(at);
            }
        }));
        state.SetIterationTime(1e-9);
    }
    const double each = 1e9 / static_cast<double>(count);
    state.counters["insert_ns"] = insert.best() * each;
    state.counters["walk_ns"] = walk.best() * each;
    state.counters["erase_ns"] = erase.best() * each;
}

template <typename Index> void at_random(benchmark::State &state, size_t count) {
    std::vector<Key> keys = make_keys(count);
    std::shuffle(keys.begin(), keys.end(), std::mt19937_64(1));
    Samples insert;
    Samples find;
    Samples erase;
    for (auto _ : state) {
        Index index;
        insert.add(seconds([&] {
            for (const Key key : keys) {
                index.insert(key);
            }
        }));
        find.add(seconds([&] {
            Key sum = 0;
            for (const Key key : keys) {
                sum += Index::end_of(std::prev(index.behind(key)));
            }
            benchmark::DoNotOptimize(sum);
        }));
        erase.add(seconds([&] {
            for (const Key key : keys) {
                index.erase(std::prev(index.behind(key)));
            }
        }));
        state.SetIterationTime(1e-9);
    }
    const double each = 1e9 / static_cast<double>(count);
    state.counters["random_insert_ns"] = insert.best() * each;
    state.counters["random_find_ns"] = find.best() * each;
    state.counters["random_erase_ns"] = erase.best() * each;
}

template <typename Index> void register_candidate(const std::string &name) {
    for (const size_t count : {size_t{1000}, size_t{1'000'000}}) {
        const int64_t rounds = count == 1000 ? 1001 : 5;
        const std::string suffix = "/" + name + "/" + std::to_string(count);
        register_case("in order" + suffix, rounds,
                      [=](benchmark::State &state) { in_order<Index>(state, count); });
        register_case("at random" + suffix, rounds == 5 ? 3 : rounds,
                      [=](benchmark::State &state) { at_random<Index>(state, count); });
    }
}

} // namespace

int main(int argc, char **argv) {
    register_candidate<Pointing<absl::btree_map<Key, Entry *>>>(
        "absl::btree_map, pointers to entries");
    register_candidate<Inline<absl::btree_map<Key, Entry>>>("absl::btree_map, entries inside");
    register_candidate<Inline<std::map<Key, Entry>>>("std::map, entries inside");
    register_candidate<Linked<intrusive::set, SetHook>>("boost::intrusive red-black tree");
    register_candidate<Linked<intrusive::avl_set, AvlHook>>("boost::intrusive AVL tree");
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
        return 1;
    }
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
