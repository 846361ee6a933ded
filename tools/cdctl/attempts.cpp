// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "attempts.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace cdctl {
namespace {

namespace fs = std::filesystem;

std::optional<cd::protection::Point> attempt_with(const fs::path &file) {
    return cd::protection::point_of(fs::weakly_canonical(file).parent_path().filename().string());
}

} // namespace

// What cannot be listed has been complained about.
Attempts::Attempts(const std::vector<std::string> &directories) {
    for (const std::string &directory : directories) {
        std::error_code error;
        fs::recursive_directory_iterator entry(directory, error);
        for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
            const std::string name = entry->path().filename().string();
            const auto rank = cd::protection::rank_of(name);
            if (!rank || name != cd::protection::agreed_name(*rank)) {
                continue;
            }
            if (const auto point = attempt_with(entry->path())) {
                counted_.insert(*point);
            }
        }
    }
}

bool Attempts::never_counted(const cd::redset::FoundSet &found) const {
    return std::ranges::all_of(found.found, [this](const std::string &path) {
        const auto point = attempt_with(path);
        return point && !counted_.contains(*point);
    });
}

} // namespace cdctl
