// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "mpi/calls.h"

#include <cstddef>
#include <string>
#include <vector>

// What one sample does. A rank does its part; those of all ranks belong together.
class Case {
public:
    Case(std::string its_name, std::string its_unit, int units_of_sample, int rounds_of_run)
        : name(std::move(its_name)), unit(std::move(its_unit)), units(units_of_sample),
          rounds(rounds_of_run) {}
    Case(const Case &) = delete;
    Case &operator=(const Case &) = delete;
    virtual ~Case() = default;

    // measured: whose cost this is about; others: for what has to go on beside it. Calls in
    // others are not logged, so they are left out when replaying.
    virtual void sample(const Calls &measured, const Calls &others, bool replaying) = 0;

    // What a re-execution has to find as it was; nothing for most.
    virtual void *state() { return nullptr; }
    virtual size_t state_size() { return 0; }

    const std::string name;
    const std::string unit; // what a time is the time of
    const int units;        // in a sample
    const int rounds;
};

// All are for two ranks.
class CommRank : public Case {
public:
    CommRank() : Case("MPI_Comm_rank", "call", 10000, 401) {}
    void sample(const Calls &measured, const Calls &others, bool replaying) override;
};

class PingPong : public Case {
public:
    PingPong(const std::string &its_name, size_t bytes, int round_trips, int rounds_of_run)
        : Case(its_name, "one way", 2 * round_trips, rounds_of_run), message_(bytes) {}
    void sample(const Calls &measured, const Calls &others, bool replaying) override;

private:
    std::vector<char> message_;
};

// One direction, of which only the receive is measured; an empty message comes back.
class Receive : public Case {
public:
    Receive(const std::string &its_name, size_t bytes, int messages, int rounds_of_run)
        : Case(its_name, "message", messages, rounds_of_run), message_(bytes) {}
    void sample(const Calls &measured, const Calls &others, bool replaying) override;

private:
    std::vector<char> message_;
};

// Irecv, Isend and Waitall.
class Exchange : public Case {
public:
    Exchange() : Case("8-byte exchange", "exchange", 500, 401) {}
    void sample(const Calls &measured, const Calls &others, bool replaying) override;
};

class Allreduce : public Case {
public:
    Allreduce() : Case("8-byte Allreduce", "call", 1000, 401) {}
    void sample(const Calls &measured, const Calls &others, bool replaying) override;
};

// A plate cut in two, with a halo exchange and a reduction in each step.
class Stencil : public Case {
public:
    Stencil() : Case("stencil of 512 x 512", "step", 4, 101), cells_(rows * pitch) {}
    void sample(const Calls &measured, const Calls &others, bool replaying) override;
    void *state() override { return cells_.data(); }
    size_t state_size() override { return cells_.size() * sizeof cells_[0]; }

private:
    static constexpr size_t rows = 514;
    static constexpr size_t columns = 512;
    // Of a row, with a cache line more: rows that are 4 KiB apart compete for the same places.
    static constexpr size_t pitch = columns + 8;
    std::vector<double> cells_;
};
