// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "hazard.h"

constexpr size_t large = 1 << 16;

MPI_Win window_over(Numbers &memory);

void put(const Numbers &data, int to, size_t at, MPI_Win window);
void get(Numbers &data, int from, size_t at, MPI_Win window);

Numbers part(const Numbers &memory, size_t first, size_t count);
