// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Windows over memory that CDs preserve.
#include "steps.h"

void make_window(Part &part) {
    State &state = part.state;
    fill(state.exposed, exposed, part.common.next() + static_cast<uint64_t>(part.rank), state);
    MPI_Win_create(state.exposed, sizeof state.exposed, sizeof(int), MPI_INFO_NULL, part.comm,
                   &state.window);
}

// Every rank writes a part of its neighbour's memory that is its own, and reads another one's.
void use_window(Part &part) {
    State &state = part.state;
    const int share = exposed / 2 / part.size;
    const int shift = part.common.below(part.size);
    const int to = (part.rank + shift) % part.size;
    const int way = part.common.below(3);
    std::vector<int> out(static_cast<size_t>(share));
    std::vector<int> in(static_cast<size_t>(share), -1);
    fill(out.data(), share, part.common.next() + static_cast<uint64_t>(part.rank), state);
    const int at = part.rank * share;
    const int from = exposed / 2;
    MPI_Request reading = MPI_REQUEST_NULL;
    const auto access = [&] {
        MPI_Put(out.data(), share, MPI_INT, to, at, share, MPI_INT, state.window);
        part.pause();
        if (way == 0) {
            MPI_Get(in.data(), share, MPI_INT, to, from, share, MPI_INT, state.window);
        } else {
            MPI_Rget(in.data(), share, MPI_INT, to, from, share, MPI_INT, state.window, &reading);
        }
        part.pause();
    };
    if (way == 0) {
        MPI_Win_fence(0, state.window);
        part.pause();
        access();
        MPI_Win_fence(0, state.window);
    } else {
        MPI_Win_lock(MPI_LOCK_SHARED, to, 0, state.window);
        access();
        MPI_Wait(&reading, MPI_STATUS_IGNORE);
        part.pause();
        MPI_Win_unlock(to, state.window);
        part.pause();
        MPI_Barrier(part.comm);
        MPI_Win_lock(MPI_LOCK_SHARED, part.rank, 0, state.window);
        MPI_Win_unlock(part.rank, state.window);
    }
    part.received.in_any_order = mix(hash_of(in.data(), share), hash_of(state.exposed, exposed));
    part.pause();
    // The second half is its owner's, who changes it while nobody reads.
    MPI_Barrier(part.comm);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, part.rank, 0, state.window);
    fill(state.exposed + from, exposed - from, part.common.next(), state);
    MPI_Win_unlock(part.rank, state.window);
    part.pause();
    MPI_Barrier(part.comm);
}

void free_window(Part &part) {
    MPI_Win_free(&part.state.window);
    part.received.in_any_order = hash_of(part.state.exposed, exposed);
}
