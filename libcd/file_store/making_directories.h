// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "file_store/access.h"
#include "file_store/file.h"

#include <string>
#include <vector>

namespace cd {

// The directories that an operation has made. They go again at its end unless it keeps them: those
// in which nothing is, since others may have put something into them meanwhile.
class MadeDirectories {
public:
    MadeDirectories() = default;
    MadeDirectories(const MadeDirectories &) = delete;
    MadeDirectories &operator=(const MadeDirectories &) = delete;
    ~MadeDirectories();

    // False: it has not been made, and errno says why. May throw.
    bool make(const std::string &path);
    void keep() noexcept { paths_.clear(); }

private:
    std::vector<std::string> paths_; // those above first
};

// Behind a slash, or a dot behind one, a link would be followed.
std::string without_slashes_and_dots(std::string path);

// Makes a directory and those above it that are not there. forced: they are there after a crash of
// the machine, too, also if a process that was killed has made them. key: what named it.
Status make_directories(const std::string &path, bool forced, MadeDirectories &made,
                        const char *key = key_of_stores);

// Forces to the disk that a directory is in the one above it.
Status force_name(const File &directory);

} // namespace cd
