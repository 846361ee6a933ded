// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "file_store/state.h"

namespace cd {

// A CD adds something at place. Whether the program has given it values anew before, as far as
// checksums tell: where the nearest CD above has the bytes in its point in time, and this CD is the
// first to add them since, the labels of what that has say whether it is the same.
void note_first_values(State &state, const StoredCd &cd, const StoredPlace &place,
                       const StoredEntry &added);

} // namespace cd
