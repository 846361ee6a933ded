// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "redset/scheme.h"

#include <filesystem>
#include <string>
#include <vector>

namespace cd::redset {

// What happens to a set's files one at a time, and what a rebuild has to make of it.
enum class Damage { erase, cut, change, change_header, swap };
enum class Target { data, scheme, descriptor, checksums };

constexpr Damage damages[] = {Damage::erase, Damage::cut, Damage::change, Damage::change_header,
                              Damage::swap};
constexpr Target targets[] = {Target::data, Target::scheme, Target::descriptor, Target::checksums};

std::string name_of(Damage damage);
std::string name_of(Target target);

// All but swapping.
void damage_file(const std::filesystem::path &path, Damage damage);

// Each gets what the next one had.
void rotate_files(const std::vector<std::filesystem::path> &paths);

// Whether all comes back when these members' files of the kind are damaged.
bool comes_back(const Coding &coding, Target target, Damage damage, unsigned members);

// As many as count, beside each other or not.
std::vector<int> chosen_members(const Coding &coding, int count, bool beside);

} // namespace cd::redset
