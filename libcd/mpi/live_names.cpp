// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "mpi/live_names.h"

#include <mutex>
#include <set>
#include <utility>

namespace cd::mpi {
namespace {

struct Names {
    std::mutex mutex;
    std::set<std::string> all;
};

// As long as the process: roots may end after main().
Names &names() {
    static Names *const all = new Names;
    return *all;
}

} // namespace

LiveName::LiveName(std::string name) : name_(std::move(name)) {
    const std::lock_guard lock(names().mutex);
    names().all.insert(name_);
}

void LiveName::give_up() noexcept {
    if (!name_.empty()) {
        const std::lock_guard lock(names().mutex);
        names().all.erase(name_);
        name_.clear();
    }
}

std::vector<std::string> LiveName::all() {
    const std::lock_guard lock(names().mutex);
    return {names().all.begin(), names().all.end()};
}

} // namespace cd::mpi
