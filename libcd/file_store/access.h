// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "file_store/file.h"
#include "os/system.h"

#include <sys/stat.h>

namespace cd {

// Who may have a directory or a file in it.

constexpr mode_t others_may_write = S_IWGRP | S_IWOTH;

// What named a directory, for messages: where another one can be given.
constexpr const char *key_of_stores = "dir= in storage_info";

Status refuse_path(const char *path, const char *reason, const char *remedy);
// The error for errno.
Status refuse_path_for_error(const char *path, const char *operation,
                             const char *key = key_of_stores);

// Whether it means that the file system cannot do that at all, and the error then.
bool is_not_supported(int error);
Status refuse_file_system(const char *path, const char *operation);

// That it is this user's.
Status check_owner(const char *path, const os::FileStatus &status, const char *key = key_of_stores);

// For writing, until it is closed.
Status lock_store(const File &file);

} // namespace cd
