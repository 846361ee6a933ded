// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "bounds.h"
#include "workplace.h"

#include "redset/exchange.h"

// What every member of a set does to measure it, be it a thread or a rank. All members do the same,
// and member 0 prints what was found.

// Seconds of processor time, of all members together, for each byte that they send each other as
// encoding does, with nothing else to do.
double sending_cost(cd::redset::Exchange &exchange, const Workplace &workplace);

// Encodes and rebuilds with each scheme.
void run_cases(cd::redset::Exchange &exchange, const Workplace &workplace, const Costs &costs);
