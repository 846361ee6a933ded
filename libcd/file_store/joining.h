// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "file_store/state.h"

namespace cd {

// The entry at a position becomes one with that before it where the two are alike and follow each
// other, in memory, in their key and in their data. Returns the one that has its bytes then.
StoredEntries::iterator join_before(StoredEntries &entries, StoredEntries::iterator at);

} // namespace cd
