// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "hazard.h"

constexpr int columns = 4;
constexpr int rows = 1000;

// The first column of a matrix.
MPI_Datatype column_type();

// So that a freed type's memory has something else in it.
void make_other_types();
