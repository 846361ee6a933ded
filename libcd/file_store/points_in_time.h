// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "file_store/file.h"
#include "file_store/loading.h"

#include <string>
#include <vector>

namespace cd {

// Makes the newest of the root's older points in time the newest; the CDs that are not in it are
// gone. There has to be one. given_up: gets where the data are that nothing refers to any more,
// but the file still does. May throw std::bad_alloc.
void go_back(State &state, std::vector<Extent> &given_up);
void go_back(Loaded &loaded);

// What to think of data that have no checksums: they are as they were, or newer operations may have
// written over them.
enum class Unchecked { counts_as_whole, counts_as_damaged };

// Reads all data of the newest point in time. May throw std::bad_alloc.
Status check_newest(const File &file, const State &state, Unchecked unchecked);

// The epochs of the root that state has, oldest first, with a space before each.
std::string known_epochs(const State &state);

// Reads all data of the newest point in time, and goes back to an older one until they match their
// checksums; what was wrong is added to the doubt. Fails with what was wrong with the newest if
// none is whole, and when the system could not read for a reason that will pass. May throw
// std::bad_alloc.
Status take_newest_whole(const File &file, Loaded &loaded, Unchecked unchecked);

} // namespace cd
