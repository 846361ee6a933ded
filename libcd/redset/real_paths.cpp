// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/real_paths.h"

#include "redset/real_directory.h"

namespace cd::redset {

namespace fs = std::filesystem;

std::string RealPaths::of(const std::string &path) {
    const fs::path given(path);
    const auto [known, is_new] = directories_.try_emplace(given.parent_path());
    if (is_new && !real_directory(given.parent_path(), known->second)) {
        known->second = fs::absolute(given.parent_path()).lexically_normal();
    }
    return (known->second / given.filename()).string();
}

} // namespace cd::redset
