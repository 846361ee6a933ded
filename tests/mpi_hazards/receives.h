// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "hazard.h"

// What is in a buffer before a message comes.
constexpr int before_anything = 99;

MPI_Request post_receive(Numbers &buffer, int from, int tag);

// Whether it is of a message with so many numbers.
bool tells(const MPI_Status &status, int source, int tag, size_t count);

bool was_cancelled(const MPI_Status &status);
