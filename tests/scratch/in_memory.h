// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <system_error>

namespace scratch {

// Where Linux has files in memory: programs that write thousands of small files, and sync each,
// wait there for nothing. Containers often have hardly any room there; then where temporary files
// are.
inline std::filesystem::path in_memory() {
    constexpr const char *memory = "/dev/shm";
    constexpr std::uintmax_t enough = std::uintmax_t{1} << 30;
    std::error_code none;
    const auto room = std::filesystem::space(memory, none);
    const bool usable = !none && room.available >= enough && ::access(memory, W_OK | X_OK) == 0;
    return usable ? memory : std::filesystem::temp_directory_path();
}

} // namespace scratch
