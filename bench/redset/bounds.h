// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "redset/scheme.h"

#include <cstddef>
#include <string>

// The least that encoding and rebuilding have to do.

// How often each byte of application data, or as much, goes through a step.
struct Passes {
    double read;
    double checked;
    double sent;
    double coded;
    double written;
};

// Reads, sends and codes each byte, gives away all but one of the outputs of a row, writes the
// payload, and takes checksums of what was read and written.
Passes encoding_passes(const cd::redset::Coding &coding);

// As many members are lost as may be, with all they had. What is left is read, and what is made of
// it written; all of it has checksums.
Passes rebuilding_passes(const cd::redset::Coding &coding);

// What these cost for a byte, by measurements of this run: seconds of processor time.
struct Costs {
    double copy = 0;
    double checksum = 0;
    double write = 0;
    double read = 0;
    double sending = 0; // by the members' transport alone; 0: it is a copy

    // Measures, and prints what it has found.
    static Costs measure(const std::string &folder, size_t bytes);
    void print_sending(int members) const;
    double of(const Passes &passes, const cd::redset::Coding &coding) const;
};

struct Measured {
    double seconds;
    double processor_seconds; // of all members together
};

// Bytes are those of the application.
void print_result(const char *what, const cd::redset::Coding &coding, double bytes,
                  const Measured &measured, const Passes &passes, const Costs &costs);
