// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

struct Workplace {
    std::string folder;
    size_t bytes;    // that each member has
    clockid_t clock; // that counts a member's processor time
};

// [--mib N] [--folder DIR]; tells what is wrong otherwise.
inline bool read_arguments(int argc, char **argv, Workplace &workplace) {
    for (int i = 1; i < argc; i += 2) {
        const bool has_value = i + 1 < argc;
        if (has_value && std::strcmp(argv[i], "--mib") == 0) {
            workplace.bytes = std::strtoul(argv[i + 1], nullptr, 10) << 20;
        } else if (has_value && std::strcmp(argv[i], "--folder") == 0) {
            workplace.folder = argv[i + 1];
        } else {
            workplace.bytes = 0;
        }
    }
    if (workplace.bytes == 0) {
        std::fprintf(stderr, "usage: %s [--mib N] [--folder DIR]\n", argv[0]);
    }
    return workplace.bytes != 0;
}
