// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <string>

namespace cd {

// The path of what is called name in a folder.
inline std::string path_in(const std::string &folder, const std::string &name) {
    return folder + "/" + name;
}

} // namespace cd
