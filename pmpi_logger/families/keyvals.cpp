// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "families/keyvals.h"

#include <dlfcn.h>

#include <climits>
#include <cstring>
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

// Else MPI's library does, or one that MPI has loaded; or this one, by which MPI makes some of
// them.
bool Keyvals::is_of_program(const void *site) {
    static const char here = 0;
    Dl_info caller = {};
    Dl_info own = {};
    Dl_info mpi = {};
    if (dladdr(site, &caller) == 0 || dladdr(&here, &own) == 0 ||
        dladdr(dlsym(RTLD_NEXT, "PMPI_Init"), &mpi) == 0) {
        return true;
    }
    return caller.dli_fbase != own.dli_fbase && caller.dli_fbase != mpi.dli_fbase &&
           std::strstr(caller.dli_fname, "/mca_") == nullptr;
}

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
