// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// Any text as the name of a file or directory: what is taken for one of ours is written so.
#include "checkpoint/checkpoint.h"
#include "input.h"
#include "redset/scan.h"

#include <cstdint>
#include <string>
#include <string_view>

using namespace cd;
using fuzz::require;

// NOLINTNEXTLINE(readability-identifier-naming): the name that libFuzzer calls
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const std::string_view name(reinterpret_cast<const char *>(data), size);
    if (const auto point = checkpoint::id_of_directory(name)) {
        require(checkpoint::directory_name(*point) == name && point->level >= 0,
                "a point in time has one name");
    }
    if (const auto rank = checkpoint::rank_of_file(name)) {
        require(*rank >= 0 && name.find('.') != std::string_view::npos, "a rank is one");
    }
    if (const auto number = checkpoint::number_of_commit_marker(name)) {
        const std::string again = checkpoint::commit_marker_name(*number);
        require(checkpoint::number_of_commit_marker(again) == *number, "a marker has its number");
    }
    if (const auto scheme = redset::scheme_name_of(name)) {
        require(name.starts_with(scheme->prefix_and_rank) &&
                    scheme->prefix_and_rank.size() < name.size(),
                "a scheme file begins with its prefix");
    }
    return 0;
}
