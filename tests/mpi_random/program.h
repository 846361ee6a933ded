// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "plan.h"
#include "state.h"

#include "cd/cd.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

// Says which program it was, and ends the job.
[[noreturn]] void fail(const char *what, int where);

struct Outcome {
    std::vector<uint64_t> hashes; // of the steps
    uint64_t hash = 0;            // of the state at the end
    uint64_t order = 0;           // of what the steps received, in this order
};

// One rank's part of a program, on a communicator of its own.
class Program {
public:
    // The state has to live as long as CDs do that its own are in.
    Program(std::vector<Step> steps, std::vector<Operation> operations, MPI_Comm comm, State &state)
        : steps_(std::move(steps)), operations_(std::move(operations)), comm_(comm), state_(state) {
    }

    Outcome undisturbed();

    // With CDs and failures, inside a CD that it ends, if there is one. Has to come to what is
    // expected, if anything is.
    Outcome disturbed(const Outcome *expected, cd_handle inside = nullptr);

    // Tells people what it does.
    int prints_as_rank = -1;

private:
    struct Domain {
        cd_handle handle;
        int begin; // where a restore goes on
    };

    const char *name_of(const Operation &operation) const;
    void begin();
    void end();
    Received step(int number, const Between &between);
    std::optional<Received> try_step(const Operation &operation, bool fails);
    void keep(cd_handle cd);
    void open(int next);
    void enter(cd_handle cd, int next);
    void close(int here);
    void advance(int next);
    void restore(int level);
    void destroy();

    std::vector<Step> steps_;
    std::vector<Operation> operations_;
    MPI_Comm comm_;
    State &state_;
    std::vector<Domain> cds_;
    std::vector<std::vector<uint64_t>> received_between_; // by step, at each point
};
