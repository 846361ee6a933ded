// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

// Reads DIE, HOLD, HOLDING and MEETING; the rank that DIE names dies when that is due.
void prepare_to_die(int rank, int ranks);
void die_if_due(int step);

// What HOLD names is written when this was called, and the thread that did then waits for it. With
// HOLDING=RANK that is so in this rank alone, and when the others wait, too, which tell each other
// in the directory MEETING.
void calls_finalize();
