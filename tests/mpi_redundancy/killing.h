// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

// Reads DIE; the rank that it names dies when that is due.
void prepare_to_die(int rank);
void die_if_due(int step);
