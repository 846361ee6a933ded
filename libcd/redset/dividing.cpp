// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/dividing.h"

#include <algorithm>
#include <map>

namespace cd::redset {
namespace {

bool name_one_time(const SchemeFile &a, const SchemeFile &b, const NamesATime &names_a_time) {
    return a.folder.name() == b.folder.name() && names_a_time(a.folder.name());
}

// Members of a set need not tell of each other, so that what is of different times may well agree.
// Where directories' names tell nothing, what is of one member in two of them is of two times, also
// where it tells the same; else it is a copy.
bool are_of_different_times(const SchemeFile &a, const SchemeFile &b,
                            const NamesATime &names_a_time) {
    const bool told = names_a_time(a.folder.name()) && names_a_time(b.folder.name());
    return told ? a.folder.name() != b.folder.name() : a.member == b.member;
}

bool differ_in_ranks(const std::map<int, int> &a, const std::map<int, int> &b) {
    return std::ranges::any_of(a, [&](const auto &entry) {
        const auto other = b.find(entry.first);
        return other != b.end() && other->second != entry.second;
    });
}

bool differ_in_members(const Header &a, const Header &b) {
    return a.chunk != b.chunk || a.ranks != b.ranks ||
           std::ranges::any_of(a.members, [&](const auto &entry) {
               const auto other = b.members.find(entry.first);
               return other != b.members.end() && !(other->second.tree == entry.second.tree);
           });
}

bool contradict(const SchemeFile &a, const SchemeFile &b, const NamesATime &names_a_time) {
    if (a.prefix != b.prefix || are_of_different_times(a, b, names_a_time) ||
        !same_set(a.own().descriptor, b.own().descriptor)) {
        return true;
    }
    return name_one_time(a, b, names_a_time) ? differ_in_ranks(a.ranks, b.ranks)
                                             : differ_in_members(a.header, b.header);
}

std::string_view last_name(const std::string &path) {
    return std::string_view(path).substr(path.rfind('/') + 1);
}

int nearness(const FoundFolder &a, const FoundFolder &b) {
    if (a.root == b.root && a.below == b.below) {
        return 2;
    }
    return last_name(a.below) == last_name(b.below) ? 1 : 0;
}

// Puts parts together that do not contradict, where any of their files are as near as that.
std::vector<Members> join(const std::vector<Members> &parts, int near,
                          const NamesATime &names_a_time) {
    const auto any_pair = [](const Members &a, const Members &b, const auto &is) {
        return std::ranges::any_of(a, [&](const SchemeFile *one) {
            return std::ranges::any_of(b,
                                       [&](const SchemeFile *other) { return is(*one, *other); });
        });
    };
    std::vector<Members> sets;
    for (const Members &part : parts) {
        const auto fitting = std::ranges::find_if(sets, [&](const Members &set) {
            return any_pair(set, part,
                            [&](const auto &a, const auto &b) {
                                return nearness(a.folder, b.folder) >= near;
                            }) &&
                   !any_pair(set, part, [&](const auto &a, const auto &b) {
                       return contradict(a, b, names_a_time);
                   });
        });
        Members &set = fitting == sets.end() ? sets.emplace_back() : *fitting;
        set.insert(set.end(), part.begin(), part.end());
    }
    return sets;
}

} // namespace

std::vector<Members> divide(const std::vector<SchemeFile> &files, const NamesATime &names_a_time) {
    std::vector<Members> sets;
    sets.reserve(files.size());
    for (const SchemeFile &file : files) {
        sets.push_back({&file});
    }
    for (const int near : {2, 1, 0}) {
        sets = join(sets, near, names_a_time);
    }
    return sets;
}

} // namespace cd::redset
