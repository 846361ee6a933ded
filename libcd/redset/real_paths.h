// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace cd::redset {

// One path for each file, whatever links lead to its directory. May throw.
class RealPaths {
public:
    std::string of(const std::string &path);

private:
    std::map<std::filesystem::path, std::filesystem::path> directories_; // that were asked for
};

} // namespace cd::redset
