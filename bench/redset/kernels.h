// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <cstddef>
#include <ctime>

// What the machine can do with data in the cache, and with files: seconds of processor time per
// byte.

inline double processor_seconds(clockid_t clock = CLOCK_PROCESS_CPUTIME_ID) {
    timespec now = {};
    clock_gettime(clock, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double copy_cost();
double checksum_cost();
// Of a byte of sources, when as many outputs are made of as many sources; sum: by exclusive or.
double coding_cost(size_t sources, size_t outputs, bool sum);
double write_cost(const char *folder, size_t bytes);
double read_cost(const char *folder, size_t bytes);
