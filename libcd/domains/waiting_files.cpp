// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "domains/waiting_files.h"

#include <algorithm>

namespace cd {
namespace {

// Of the same descriptor of the same file, in one process.
bool is_same_place(const FilePosition &one, const FilePosition &other) {
    return one.descriptor == other.descriptor && sameness(one, other) == Sameness::all;
}

void give_held(FilePosition file, CdFiles &to) {
    if (to.held.holds(file.descriptor)) {
        return;
    }
    if (const auto older = find_waiting(to.waiting, file); older != to.waiting.end()) {
        file.position = older->position;
        to.waiting.erase(older);
    }
    to.held.add(file);
}

void give_waiting(const FilePosition &file, CdFiles &to) {
    const auto is_older = [&](const FilePosition &older) { return is_same_place(file, older); };
    if (std::ranges::none_of(to.held, is_older) && std::ranges::none_of(to.waiting, is_older)) {
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
