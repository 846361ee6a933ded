// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "file_store/state.h"

namespace cd {

// Whether a program gives memory values anew before it adds it to a CD that is not the first one to
// hold it, as far as checksums tell: where the nearest CD above has the bytes in its point in time,
// and this CD is the first to have added them since, what it had then is compared with that.

// A CD ends, by a commit or a restore.
void note_first_values(State &state, const StoredCd &ending);
// What it has of range, in the space of the state, goes or is replaced.
void note_first_values(State &state, const StoredCd &cd, Range range);

} // namespace cd
