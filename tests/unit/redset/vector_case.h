// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "redset/scheme.h"

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace cd::redset {

// A case of tests/redset_vectors.
struct VectorCase {
    struct Set {
        Coding coding;
        int group = 0;
        std::vector<int> ranks; // of the members
    };

    std::filesystem::path folder;
    int groups = 0;
    std::vector<std::vector<uint64_t>> sizes; // of each rank's files
    std::vector<Set> sets;
};

// Byte j of file f of rank r.
inline std::byte input_byte(int rank, size_t file, uint64_t j) {
    const auto r = static_cast<uint64_t>(rank);
    return static_cast<std::byte>(r * 131 + file * 17 + j * 7 + (j >> 8));
}

std::vector<VectorCase> vector_cases();

std::vector<std::filesystem::path> files_below(const std::filesystem::path &folder);
std::vector<std::byte> bytes_of(const std::filesystem::path &path);

} // namespace cd::redset
