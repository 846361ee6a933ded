// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "checkpoint/folder.h"

#include <string>
#include <vector>

namespace cd::checkpoint {

// The directories in which a root's points in time are besides that of dir=: those of flush= and of
// levels, of this program and of earlier ones. They are written down in the folder of dir=, so that
// a program with another configuration looks there, too.
struct StoreList {
    std::vector<std::string> directories;
    bool there = false; // whether there is a list, be it empty
};

// Where there is none that is no failure. CD_ERROR_STORE_DAMAGED names the file, and says what to
// do.
Status read_store_list(const CheckpointDir &folder, StoreList &list);

// An empty one is not written, and the one before goes.
Status write_store_list(const CheckpointDir &folder, int writer, bool sync,
                        const std::vector<std::string> &directories);

// Of a directory that somebody has only listed: what fails there, and why it was looked at. first:
// the folder with the list.
Status because_it_is_listed(Status failure, const std::string &listed, const CheckpointDir &first);

} // namespace cd::checkpoint
