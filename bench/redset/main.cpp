// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// What encoding and rebuilding cost when the members are threads of one process.
#include "members.h"

#include "redset/thread_exchange.h"

#include <cstdio>
#include <cstdlib>

int main(int argc, char **argv) {
    Workplace workplace{"/dev/shm", size_t{256} << 20, CLOCK_THREAD_CPUTIME_ID};
    if (!read_arguments(argc, argv, workplace)) {
        return 2;
    }
    Costs costs = Costs::measure(workplace.folder, workplace.bytes);
    for (const int members : {4, 8}) {
        const cd::Status status =
            cd::redset::run_members(members, [&](cd::redset::Exchange &exchange) {
                run_cases(exchange, workplace, costs);
                return cd::Status::ok();
            });
        if (!status) {
            std::fprintf(stderr, "cd_bench_redset: %s\n", cd::message());
            return EXIT_FAILURE;
        }
    }
    return 0;
}
