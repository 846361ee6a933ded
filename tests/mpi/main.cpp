// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "harness/check.h"
#include "harness/coverage.h"
#include "harness/processes.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mpi.h>
#include <unistd.h>

namespace {

using namespace cd::scenarios;

// Returns a path that is the same on all ranks and differs between runs.
std::string file_for_all() {
    const char *folder = std::getenv("TMPDIR");
    char path[256] = {};
    std::snprintf(path, sizeof path, "%s/cd_scenarios.%d", folder != nullptr ? folder : "/tmp",
                  static_cast<int>(getpid()));
    MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
    return path;
}

int check_all(const std::string &wanted) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    const std::string file = file_for_all();
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int checked = 0;
    int failures = 0;
    for (const Scenario &scenario : all_scenarios()) {
        if (wanted == scenario.family || wanted == scenario.family + "." + scenario.name) {
            const double begin = MPI_Wtime();
            const int here = check(scenario, file, checked++);
            int everywhere = 0;
            MPI_Allreduce(&here, &everywhere, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
            failures += everywhere;
            if (rank == 0) {
                std::printf("%-7s %s.%s (%.0f ms)\n", everywhere == 0 ? "ok" : "FAILED",
                            scenario.family.c_str(), scenario.name.c_str(),
                            1e3 * (MPI_Wtime() - begin));
                std::fflush(stdout);
            }
        }
    }
    if (checked == 0) {
        std::fprintf(stderr, "there is no scenario %s\n", wanted.c_str());
    }
    return checked > 0 ? failures : 1;
}

} // namespace

int main(int argc, char **argv) {
    if (argc == 6 && std::strcmp(argv[1], "--coverage") == 0) {
        return report_coverage({argv[2], argv[3], argv[4], argv[5]}) == 0 ? 0 : 1;
    }
    if (argc != 2) {
        std::fprintf(stderr,
                     "use: %s FAMILY | FAMILY.SCENARIO | --coverage DECLARED UNPROVEN "
                     "FORTRAN_REPORTS NOT_IN_FORTRAN\n",
                     argv[0]);
        return 2;
    }
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (std::strcmp(argv[1], child_option) == 0) {
        return be_a_child();
    }
    this_program = argv[0];
    const int failures = check_all(argv[1]);
    MPI_Finalize();
    return failures == 0 ? 0 : 1;
}
