// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "damages.h"

#include "scratch_set.h"

#include <algorithm>
#include <bit>

namespace cd::redset {
namespace {

namespace fs = std::filesystem;

// Of data: members whose chunk in the row is a checksum have lost none there.
int most_lost_in_a_row(const Coding &coding, unsigned lost) {
    int most = 0;
    for (int row = 0; row < coding.members; ++row) {
        unsigned here = lost;
        for (int check = 0; check < coding.checks; ++check) {
            here &= ~(1U << coding.left(row, check));
        }
        most = std::max(most, std::popcount(here));
    }
    return most;
}

} // namespace

std::string name_of(Damage damage) {
    constexpr const char *names[] = {"erase", "cut", "change", "change header", "swap"};
    return names[static_cast<size_t>(damage)];
}

std::string name_of(Target target) {
    constexpr const char *names[] = {"data", "scheme", "descriptor", "checksums"};
    return names[static_cast<size_t>(target)];
}

void damage_file(const fs::path &path, Damage damage) {
    auto bytes = bytes_of(path);
    switch (damage) {
    case Damage::erase:
        fs::remove(path);
        return;
    case Damage::cut:
        bytes.resize(bytes.size() - 10);
        break;
    case Damage::change:
        bytes[bytes.size() - 20] ^= std::byte{1};
        break;
    case Damage::change_header:
        bytes[30] ^= std::byte{1};
        break;
    case Damage::swap:
        break;
    }
    write_file(path, bytes);
}

void rotate_files(const std::vector<fs::path> &paths) {
    const auto first = bytes_of(paths.front());
    for (size_t i = 0; i + 1 < paths.size(); ++i) {
        write_file(paths[i], bytes_of(paths[i + 1]));
    }
    write_file(paths.back(), first);
}

// Data and payload are lost one without the other: scheme files alone can all be made again from
// data, as long as some header still tells of each member's files.
bool comes_back(const Coding &coding, Target target, Damage damage, unsigned lost) {
    switch (target) {
    case Target::data:
        return coding.scheme == Scheme::partner ||
               most_lost_in_a_row(coding, lost) <= coding.checks;
    case Target::scheme:
        return damage == Damage::cut || damage == Damage::change ||
               longest_run(coding, lost) <= coding.checks;
    case Target::descriptor:
    case Target::checksums:
        break;
    }
    return true;
}

std::vector<int> chosen_members(const Coding &coding, int count, bool beside) {
    std::vector<int> members;
    for (int i = 0; i < count; ++i) {
        members.push_back((beside ? 1 + i : 2 * i) % coding.members);
    }
    return members;
}

} // namespace cd::redset
