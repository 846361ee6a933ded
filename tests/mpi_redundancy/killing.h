// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

// Reads DIE, HOLD and HOLDING; the rank that DIE names dies when that is due.
void prepare_to_die(int rank);
void die_if_due(int step);

// What HOLD names is written when this was called, and the thread that did then waits for it; in
// the rank HOLDING alone, if there is such a name.
void calls_finalize();
