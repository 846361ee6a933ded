// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "handlers/keyvals.h"

#include <climits>
#include <mutex>
#include <set>
#include <utility>

namespace cd::logger {
namespace {

std::mutex keys_mutex;

// Never destroyed: MPI may be used while the process ends.
std::set<std::pair<KeyvalsOf, int>> &keys() {
    static auto &all = *new std::set<std::pair<KeyvalsOf, int>>;
    return all;
}

} // namespace

void Keyvals::add(KeyvalsOf kind, int key) {
    const std::scoped_lock lock(keys_mutex);
    keys().emplace(kind, key);
}

bool Keyvals::has(KeyvalsOf kind, int key) {
    const std::scoped_lock lock(keys_mutex);
    return keys().contains({kind, key});
}

void Keyvals::remove(KeyvalsOf kind, int key) {
    const std::scoped_lock lock(keys_mutex);
    keys().erase({kind, key});
}

std::vector<int> Keyvals::all(KeyvalsOf kind) {
    const std::scoped_lock lock(keys_mutex);
    std::vector<int> found;
    for (auto at = keys().lower_bound({kind, INT_MIN}); at != keys().end() && at->first == kind;
         ++at) {
        found.push_back(at->second);
    }
    return found;
}

} // namespace cd::logger
