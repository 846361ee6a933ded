// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "harness/buffer.h"
#include "harness/outputs.h"

#include "mpi_has.inc"

#include <functional>
#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif
#include <string>
#include <vector>

// Open MPI 5.0.7 crashes in MPI_Session_get_errhandler, cannot compare a session's communicator,
// and says that parts have arrived before they are there.
#if defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION == 5
#define CD_OPEN_MPI_5 1
#endif

namespace cd::scenarios {

// One execution of a scenario.
struct Run {
    Outputs &out;
    int rank;
    int size;
    std::string file; // that the scenario may create, and removes; the same for all ranks

    int next() const { return (rank + 1) % size; }
    int previous() const { return (rank + size - 1) % size; }
};

// MPI calls of which each execution brings the same outputs. All ranks take part.
struct Scenario {
    std::string family; // the file it stands in
    std::string name;
    std::vector<std::string> proves; // functions of MPI, recorded and replayed
    std::vector<std::string> refuses;
    bool buffers_stay; // in a re-execution, they have the addresses that they had
    void (*run)(Run &);
};

std::vector<Scenario> &all_scenarios();

struct Registration {
    Registration(const char *file, const char *name, const char *proves, const char *refuses,
                 bool buffers_stay, void (*run)(Run &));
};

// A call that a CD that logs does not do, and says so.
void expect_refusal(const char *function, const std::function<int()> &call);

} // namespace cd::scenarios

// The sources of scenarios are compiled once more for the functions with large counts.
#ifdef CD_LARGE_COUNTS
#define SIZED(function) function##_c
#define CD_SCENARIO_SUFFIX "_c"
namespace cd::scenarios {
using Count = MPI_Count;
using Displacement = MPI_Aint;
using ByteDisplacement = MPI_Aint;
} // namespace cd::scenarios
#else
#define SIZED(function) function
#define CD_SCENARIO_SUFFIX ""
namespace cd::scenarios {
using Count = int;
using Displacement = int;
using ByteDisplacement = int;
} // namespace cd::scenarios
#endif

#define CD_SCENARIO_TEXT(...) #__VA_ARGS__
#define CD_SCENARIO_NAMES(...) CD_SCENARIO_TEXT(__VA_ARGS__)
#define CD_SCENARIO(name, proves, refuses, buffers_stay)                                           \
    static void name(cd::scenarios::Run &);                                                        \
    static const cd::scenarios::Registration name##_registration(                                  \
        __FILE__, #name CD_SCENARIO_SUFFIX, proves, refuses, buffers_stay, name);                  \
    static void name([[maybe_unused]] cd::scenarios::Run &run)

// SCENARIO(name, functions that it proves...) { calls with run }
#define SCENARIO(name, ...) CD_SCENARIO(name, CD_SCENARIO_NAMES(__VA_ARGS__), "", false)

// The same, if a re-execution may not have its buffers elsewhere.
#define SCENARIO_WITH_FIXED_BUFFERS(name, ...)                                                     \
    CD_SCENARIO(name, CD_SCENARIO_NAMES(__VA_ARGS__), "", true)

// REFUSAL(name, function, arguments...)
#define REFUSAL(name, function, ...)                                                               \
    CD_SCENARIO(name, "", CD_SCENARIO_NAMES(function), false) {                                    \
        expect_refusal(CD_SCENARIO_NAMES(function), [] { return function(__VA_ARGS__); });         \
    }

// Calls whose results are outputs: any, and success without which the rest makes no sense.
#define RESULT(...) run.out.result(#__VA_ARGS__, __VA_ARGS__)
#define CALL(...) run.out.succeed(#__VA_ARGS__, __VA_ARGS__)
