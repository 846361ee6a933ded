// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "domains.h"

#include <benchmark/benchmark.h>

int main(int argc, char **argv) {
    unsetenv("CD_STORAGE_INFO");
    register_first_adds();
    register_opening_stores();
    register_large_data();
    register_small_entries();
    register_threads();
    register_overheads();
    register_file_stores();
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
        return 1;
    }
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
