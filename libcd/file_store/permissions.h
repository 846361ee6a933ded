// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/status.h"
#include "file_store/file.h"
#include "os/system.h"

#include <sys/stat.h>

#include <string>

namespace cd {

constexpr mode_t others_may_write = S_IWGRP | S_IWOTH;

// The setting that names a directory, for messages.
constexpr const char *key_of_stores = "dir= in storage_info";

Status refuse_path(const char *path, const char *reason, const char *remedy);
// Returns the error for errno.
Status refuse_path_for_error(const char *path, const char *operation,
                             const char *key = key_of_stores);

// True if errno `error` means that the file system lacks the operation; the error for that.
bool is_not_supported(int error);
Status refuse_file_system(const char *path, const char *operation);

// Fails if another user owns the file.
Status check_owner(const char *path, const os::FileStatus &status, const char *key = key_of_stores);

// Locks a store for writing until its file is closed.
Status lock_store(const File &file);

// Suffix of the directories with checkpoints, beside the stores.
constexpr char end_of_points[] = ".points";

// Finds the directory of this user where `named` is given: `named` itself, or `named`/cd-stores-UID
// if all users may write to it, as to /tmp. Fails if it cannot look. May throw std::bad_alloc.
Status own_directory(const std::string &named, std::string &own);

} // namespace cd
