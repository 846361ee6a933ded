// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace scratch {

// Of a whole file, "" if there is none. At once: an iterator that nobody optimises takes longer
// than what tests do to files.
inline std::string content(const std::filesystem::path &path) {
    std::error_code none;
    const auto size = std::filesystem::file_size(path, none);
    std::string bytes(none ? 0 : size, '\0');
    std::ifstream(path, std::ios::binary)
        .read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return bytes;
}

} // namespace scratch
