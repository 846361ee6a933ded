// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// An iterative solver that restarts: solver STEPS STORAGE. A rank's directory and failure group
// come from NODES="n0 n1 ...", names by rank below DIRECTORY; without NODES the directory is
// DIRECTORY itself. DIE=RANK:STEP kills a rank before it ends that step; DIE=RANK:CALL:COUNT before
// its so-manieth CALL (pwrite, code, held) of a file that protects, and DIE=RANK:STEP:CALL:COUNT
// counts from that step on. With LOST=FILE it writes its process's number
// there instead, and waits to be killed. With LOGGED=yes MPI is logged. FINALIZE names MPI's
// library for Fortran, by which MPI ends then, or is LIBRARY:FUNCTION, which ends it. The answer
// does not depend on any of that.

#include "killing.h"

#include "cd/cd.hpp"

#include <dlfcn.h>
#include <mpi.h>

#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr int cells = 60'000; // a point in time is coded in several pieces

int rank = 0;
int ranks = 1;

[[noreturn]] void give_up(const char *call) {
    std::printf("rank %d: %s: code %d: %s\n", rank, call, cd_last_error(), cd_last_error_message());
    std::fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD); // all say what they have been told
    MPI_Finalize();
    std::_Exit(3);
}

void must(bool good, const char *call) {
    if (!good) {
        give_up(call);
    }
}

std::string setting(const char *name) {
    const char *value = std::getenv(name);
    return value != nullptr ? value : "";
}

std::string storage_of(const std::string &wanted) {
    std::istringstream nodes(setting("NODES"));
    std::string node;
    for (int i = 0; i <= rank && nodes >> node; ++i) {
    }
    const std::string directory = setting("DIRECTORY");
    return node.empty()
               ? "store=file,dir=" + directory + "," + wanted
               : "store=file,dir=" + directory + "/" + node + ",group=" + node + "," + wanted;
}

struct State {
    int step = 0;
    double values[cells] = {};
};

// One step of a diffusion with a source that is not linear, around the ring of ranks.
void iterate(State &state) {
    const int left = (rank + ranks - 1) % ranks;
    const int right = (rank + 1) % ranks;
    double from_left = 0;
    double from_right = 0;
    MPI_Sendrecv(&state.values[cells - 1], 1, MPI_DOUBLE, right, 0, &from_left, 1, MPI_DOUBLE, left,
                 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&state.values[0], 1, MPI_DOUBLE, left, 1, &from_right, 1, MPI_DOUBLE, right, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    double before = from_left;
    for (int i = 0; i < cells; ++i) {
        const double after = i + 1 < cells ? state.values[i + 1] : from_right;
        const double here = state.values[i];
        state.values[i] = 0.25 * before + 0.5 * here + 0.25 * after + 0.01 * std::sin(here + i);
        before = here;
    }
}

void print_answer(const State &state) {
    uint64_t hash = 1469598103934665603U;
    for (const double value : state.values) {
        uint64_t bits = 0;
        std::memcpy(&bits, &value, sizeof bits);
        hash = (hash ^ bits) * 1099511628211U;
    }
    std::vector<uint64_t> all(static_cast<size_t>(ranks));
    MPI_Gather(&hash, 1, MPI_UINT64_T, all.data(), 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    for (int each = 0; rank == 0 && each < ranks; ++each) {
        std::printf("answer of rank %d: %016" PRIx64 "\n", each, all[static_cast<size_t>(each)]);
    }
}

void *open_library(const std::string &name) {
    void *library = dlopen(name.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (library == nullptr) {
        std::printf("rank %d: %s\n", rank, dlerror());
        std::_Exit(4);
    }
    return library;
}

// As a program does that finds MPI before what takes over its functions; or as one in Fortran, and
// the function may be another library's that has it, too.
void finalize_by(const std::string &way) {
    if (const size_t colon = way.find(':'); colon != std::string::npos) {
        void *library = open_library(way.substr(0, colon));
        reinterpret_cast<int (*)()>(dlsym(library, way.c_str() + colon + 1))();
        return;
    }
    open_library(way);
    int error = MPI_SUCCESS;
    reinterpret_cast<void (*)(int *)>(dlsym(RTLD_DEFAULT, "mpi_finalize_"))(&error);
}

} // namespace

int main(int argc, char **argv) {
    if (argc != 3) {
        return 2;
    }
    const int steps = std::atoi(argv[1]);
    const std::string wanted = argv[2];
    const bool threads = wanted.find("async") != std::string::npos && setting("THREADS") != "no";
    int provided = 0;
    MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    prepare_to_die(rank, ranks);

    static State state;
    for (int i = 0; i < cells; ++i) {
        state.values[i] = std::cos(rank + 0.001 * i);
    }
    const bool logged = setting("LOGGED") == "yes";
    cd_addrspec keep = {&state, sizeof state, READ_WRITE, GLOBAL};
    cd_handle cd =
        create_cd(nullptr, storage_of(wanted).c_str(),
                  logged ? COMM_LOGGING_ENABLED : COMM_LOGGING_DISABLED, "solver", nullptr);
    must(cd != nullptr, "create_cd");
    cd_info info;
    must(cd_query(cd, &info) == SUCCESS, "cd_query");
    must(add_to_cd_via_copy(cd, &keep, 1) == SUCCESS, "add_to_cd_via_copy");
    if (info.restarted) {
        must(restore_cd(cd) == SUCCESS, "restore_cd");
        std::printf("rank %d starts from step %d\n", rank, state.step);
        std::fflush(stdout);
    }
    while (state.step < steps) {
        iterate(state);
        die_if_due(state.step);
        ++state.step;
        must(advance_cd_point_in_time(cd) == SUCCESS, "advance_cd_point_in_time");
        must(add_to_cd_via_copy(cd, &keep, 1) == SUCCESS, "add_to_cd_via_copy");
    }
    print_answer(state);
    if (setting("COMMIT") != "no") {
        must(commit_cd(cd) == SUCCESS, "commit_cd");
    }
    calls_finalize();
    if (const std::string way = setting("FINALIZE"); !way.empty()) {
        finalize_by(way);
    } else {
        MPI_Finalize();
    }
    return 0;
}
