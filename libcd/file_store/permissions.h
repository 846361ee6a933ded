// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/status.h"
#include "file_store/file.h"
#include "os/system.h"

#include <sys/stat.h>

#include <string>

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

// Of the names of directories with points in time that survive nodes, beside the stores.
constexpr char end_of_points[] = ".points";

// The directory for this user's files where people name one: itself, or, where all may write to it
// and remove only what is theirs, as to /tmp and /dev/shm, one in it with the user's number.
// Whoever makes that one first has it; Directory refuses it if that was somebody else. What is
// stored does not get out of sight when the modes change: an own one that is there already is taken
// in any case, and what was the user's alone, and has stores, stays the one, which Directory
// refuses while all may write to it. What cannot be looked at now is an error: it must not be taken
// for another one, without the stores that are there. May throw std::bad_alloc.
Status own_directory(const std::string &named, std::string &own);

} // namespace cd
