// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Random programs: each is run undisturbed, and once more with CDs and failures.
//   cd_mpi_random [--seed N] [--programs N] [--siblings 1] [--print 1]
#include "program.h"

#include "cd/cd.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <unistd.h>
#include <vector>

namespace {

int rank = 0;
uint64_t seed = 0;
const char *mode = "";

} // namespace

void fail(const char *what, int where) {
    std::fprintf(stderr, "rank %d: %s (at %d; %s)\nto repeat: --seed %llu --programs 1%s\n", rank,
                 what, where, cd_last_error_message(), static_cast<unsigned long long>(seed), mode);
    std::fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, 1);
    _exit(1);
}

namespace {

void fail_in_mpi(MPI_Comm *, int *error, ...) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(*error, text, &length);
    fail(text, -1);
}

void takes_too_long(int) {
    char text[128];
    const int length = std::snprintf(
        text, sizeof text, "rank %d: takes too long\nto repeat: --seed %llu --programs 1%s\n", rank,
        static_cast<unsigned long long>(seed), mode);
    if (write(STDERR_FILENO, text, static_cast<size_t>(length)) < 0) {
        _exit(2);
    }
    std::abort();
}

int argument(int argc, char **argv, const char *name, int otherwise) {
    for (int i = 1; i + 1 < argc; ++i) {
        if (std::strcmp(argv[i], name) == 0) {
            return std::atoi(argv[i + 1]);
        }
    }
    return otherwise;
}

} // namespace

int main(int argc, char **argv) {
    const int first = argument(argc, argv, "--seed", 1);
    const int programs = argument(argc, argv, "--programs", 100);
    const bool prints = argument(argc, argv, "--print", 0) != 0;
    const bool siblings = argument(argc, argv, "--siblings", 0) != 0;
    mode = siblings ? " --siblings 1" : "";

    int threads = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, siblings ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &threads);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Comm_create_errhandler(fail_in_mpi, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    std::vector<char> buffer(4 << 20);
    MPI_Buffer_attach(buffer.data(), static_cast<int>(buffer.size()));
    std::signal(SIGALRM, takes_too_long);

    const auto state = std::make_unique<State>();
    for (int i = 0; i < programs; ++i) {
        seed = static_cast<uint64_t>(first + i);
        alarm(30);
        const std::vector<Step> steps = plan_of(seed, siblings ? Plan::with_siblings : Plan::plain);
        Program program(steps, operations_of(seed, rank, static_cast<int>(steps.size()), 0),
                        MPI_COMM_WORLD, *state);
        program.prints_as_rank = prints ? rank : -1;
        // Nobody is in the run before any more, which has the same tags.
        MPI_Barrier(MPI_COMM_WORLD);
        const Outcome expected = program.undisturbed();
        MPI_Barrier(MPI_COMM_WORLD);
        program.disturbed(&expected);
    }
    alarm(0);
    if (rank == 0) {
        std::printf("%d programs from seed %d\n", programs, first);
    }
    void *detached = nullptr;
    int size = 0;
    MPI_Buffer_detach(&detached, &size);
    MPI_Errhandler_free(&handler);
    MPI_Finalize();
    return 0;
}
