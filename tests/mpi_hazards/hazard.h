// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "cd/cd.h"

#include <mpi.h>
#include <vector>

// main() runs those that it is told, one after the other in one job.
struct Hazard {
    Hazard(const char *name, int threads, void (*run)());
    const char *name;
    int threads; // what MPI has to support
    void (*run)();
    Hazard *next;
};

#define HAZARD(name) HAZARD_WITH(name, MPI_THREAD_SINGLE)
#define HAZARD_IN_THREADS(name) HAZARD_WITH(name, MPI_THREAD_MULTIPLE)
#define HAZARD_WITH(name, threads)                                                                 \
    static void run_##name();                                                                      \
    static Hazard hazard_##name(#name, threads, run_##name);                                       \
    static void run_##name()

// Ends the whole job if it does not hold.
#define CHECK(condition) check((condition), #condition, __FILE__, __LINE__)
void check(bool holds, const char *condition, const char *file, int line);

int world_rank();
int world_size();

using Numbers = std::vector<int>;

// Numbers that no other seed gives.
Numbers numbers(int seed, size_t count);

// Writes to where the memory is; an assignment might move it.
void set(Numbers &memory, const Numbers &values);

// What a failure leaves.
void destroy(Numbers &memory);

constexpr size_t eager = 16;
constexpr size_t rendezvous = 1 << 18; // a mebibyte of int

void send(const Numbers &data, int to, int tag);
Numbers receive(size_t count, int from, int tag, MPI_Status *status = MPI_STATUS_IGNORE);

// Tells a rank to go on, and waits for that. All that was sent to the waiting rank before has
// arrived then.
void signal(int to);
void await(int from);

// What the other rank does in many hazards: once rank 0 signals, it is sent the data.
void send_on_signal(const Numbers &data, int tag);

// A CD that logs.
class Domain {
public:
    explicit Domain(cd_handle parent = nullptr, const char *name = "hazard",
                    const char *storage_info = nullptr);
    Domain(const Domain &) = delete;
    Domain &operator=(const Domain &) = delete;
    ~Domain(); // commits, unless a restore of an ancestor has discarded it

    void keep(Numbers &memory);
    void restore();
    void advance();
    cd_handle handle() const { return handle_; }
    cd_info info() const;

private:
    cd_handle handle_;
};
