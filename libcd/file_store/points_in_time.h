// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "file_store/file.h"
#include "file_store/state.h"

#include <string>

namespace cd {

// Makes the newest of the root's older points in time the newest; the CDs that are not in it are
// gone. There has to be one.
void go_back(State &state);

// The epochs of the root that state has, oldest first, with a space before each.
std::string known_epochs(const State &state);

// Reads all data of the newest point in time, and goes back to an older one until they match their
// checksums. doubt: gets what was wrong, with a reason before it if there is one already. Fails
// with what was wrong with the newest if none is whole; a disk that cannot read fails too, since it
// may be able to the next time. May throw std::bad_alloc.
Status take_newest_whole(const File &file, State &state, std::string &doubt, bool &went_back);

} // namespace cd
