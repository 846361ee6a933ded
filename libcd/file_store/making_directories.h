// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "file_store/access.h"
#include "file_store/file.h"

#include <string>

namespace cd {

// Behind a slash, or a dot behind one, a link would be followed.
std::string without_slashes_and_dots(std::string path);

// Makes a directory and those above it that are not there. forced: they are there after a crash of
// the machine, too, also if a process that was killed has made them. key: what named it.
Status make_directories(const std::string &path, bool forced, const char *key = key_of_stores);

// Forces to the disk that a directory is in the one above it.
Status force_name(const File &directory);

} // namespace cd
