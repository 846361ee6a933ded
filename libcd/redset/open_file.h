// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/status.h"
#include "file_store/file.h"
#include "os/system.h"
#include "redset/kvtree.h"
#include "redset/set.h"

#include <cstdint>
#include <string>

namespace cd::redset {

// Opens a regular file, and leaves its time of access alone where that is allowed.
Status open_to_read(const std::string &path, File &file, os::FileAttributes &attributes);

// The same for what we have written ourselves, where a symbolic link is somebody else's doing.
Status open_own_to_read(const std::string &path, File &file, os::FileAttributes &attributes);

// The tree at the beginning of such a file; size is that of its image.
Status read_own_image(const std::string &path, KvTree &tree, uint64_t &size);

// A file that a member entrusted to a set.
Status open_stored(const Place &place, const std::string &name, File &file,
                   os::FileAttributes &attributes);

// Whether the path still names the file: another process may have removed it meanwhile.
bool leads_to(const std::string &path, const File &file);

} // namespace cd::redset
