// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "redset/scheme_file.h"

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cd::redset {

// Whether directories of a name, wherever they are, have what is of one time.
using NamesATime = std::function<bool(std::string_view name)>;

// A scheme file that tells nothing of its member.
struct UnusableFile {
    FoundFolder folder;
    std::string name;
    std::string reason; // a sentence with its path
};

// What is below some directories, each once.
struct SchemeSearch {
    std::vector<SchemeFile> files;
    std::vector<UnusableFile> unusable;
    std::vector<std::string>
        descriptors;                // paths of what has the name of one, where none name times
    std::vector<FoundFolder> times; // directories whose names name one, whatever is in them
};

// Symbolic links are not followed, but for a directory that was given. Fails when a directory
// cannot be read.
Status find_scheme_files(std::span<const std::string> directories, const NamesATime &names_a_time,
                         SchemeSearch &search);

} // namespace cd::redset
