// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "domains/waiting_files.h"

#include <algorithm>

namespace cd {
namespace {

// Whether both are of one descriptor of one file in the process that left them.
bool are_of_one(const FilePosition &waiting, const FilePosition &other) {
    return waiting.descriptor == other.descriptor && sameness(waiting, other) == Sameness::all;
}

bool is_held_now(const FilePosition &waiting, const FilePosition &held) {
    const int number = held.came_as >= 0 ? held.came_as : held.descriptor;
    return waiting.descriptor == number && sameness(waiting, held) != Sameness::none;
}

void give_held(FilePosition file, CdFiles &to) {
    if (to.held.holds(file.descriptor)) {
        return;
    }
    if (const auto older = find_waiting(to.waiting, file); older != to.waiting.end()) {
        file.position = older->position;
        file.came_as = older->descriptor;
        to.waiting.erase(older);
    }
    to.held.add(file);
}

void give_waiting(const FilePosition &file, CdFiles &to) {
    const auto holds = [&](const FilePosition &held) { return is_held_now(file, held); };
    const auto waits = [&](const FilePosition &older) { return are_of_one(file, older); };
    if (std::ranges::none_of(to.held, holds) && std::ranges::none_of(to.waiting, waits)) {
        to.waiting.push_back(file);
    }
}

} // namespace

std::vector<FilePosition>::iterator find_waiting(std::vector<FilePosition> &waiting,
                                                 const FilePosition &now) {
    const auto best = std::ranges::max_element(
        waiting, {}, [&](const FilePosition &file) { return sameness(file, now); });
    const bool found = best != waiting.end() && sameness(*best, now) != Sameness::none;
    return found ? best : waiting.end();
}

CdFiles files_with_those_of(const Domain &child, const Domain &parent) {
    CdFiles all = {parent.files, parent.unbound_files};
    for (const FilePosition &file : child.files) {
        give_held(file, all);
    }
    for (const FilePosition &file : child.unbound_files) {
        give_waiting(file, all);
    }
    return all;
}

} // namespace cd
