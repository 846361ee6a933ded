// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/block.h"
#include "call/call.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace cd::logger {

// Memory of our own, laid out like blocks of the program's.
class Copy {
public:
    // Room for the blocks, without their data. False if they spread too widely, or there is no
    // memory.
    [[nodiscard]] bool reserve_room(const Blocks &blocks);

    bool empty() const { return memory_ == nullptr; }

    // Where in here something is that lies in the program's blocks, or would lie at their distance.
    void *place_of(const void *address) const;
    Blocks places_of(const Blocks &blocks) const;

private:
    std::unique_ptr<std::byte[]> memory_;
    uintptr_t begin_ = 0; // of the blocks in the program's memory
};

// What a call that goes on after it has returned works on instead of the program's buffers: a
// restore changes those, and cannot wait, since other ranks may first want something else. What
// arrives is brought to the program when the request completes.
class Staging { // NOLINT(bugprone-exception-escape): moving Blocks throws nothing
public:
    // Holds what the call sends. made: what the call makes, apart from data. Empty if the call has
    // to work on the program's buffers.
    static Staging of(const Call &call, bool has_send_buf, const Block &made);

    // The same for one of which MPI does not tell how much arrives: holds what is there before.
    static Staging of_unknown_size(const Call &call, bool has_send_buf);

    // The same for a send.
    static Staging of(const Blocks &sent);

    // For requests that are started more than once: holds what is to be sent now; and the program
    // has its buffers somewhere else.
    void refill() const;
    void refill(int part, int partitions) const;
    void follow(const Call &call, bool has_send_buf);

    bool empty() const { return !complete_; }

    // Makes it empty, and what holds nothing yet in an instant.
    void clear() {
        if (complete_ || !(landed.empty() && sources.empty() && places.empty()) ||
            !(sent_.empty() && received_.empty())) {
            *this = {};
        }
    }

    // A copy that lives as long as this; the array itself, if that is empty, or there is no memory.
    template <typename T> const T *keep(const T *array, int length) {
        const size_t size = sizeof(T) * static_cast<size_t>(length);
        return static_cast<const T *>(keep_bytes(array, array != nullptr ? size : 0));
    }

    // The arguments to give to MPI.
    const void *send_buf(const void *programs) const;
    void *recv_buf(void *programs) const;

    // The program's memory gets what has arrived; of the first block at most most bytes.
    void deliver(const Blocks &arrivals, size_t most) const;
    void deliver(const Block &whole, int part, int partitions) const;

    // Where data arrive, in the order of the call's arrivals.
    Blocks landed;
    // The program's data that are sent, and where they go.
    Blocks sources;
    Blocks places;

private:
    // What is sent from buffers of its own, what is in the receive buffers before, what arrives.
    static Staging of(const Blocks &sent, const Blocks &in_place, const Blocks &arrivals);
    static void add_sources(const Call &call, bool has_send_buf, Blocks &sent, Blocks &in_place);

    // Whether the program sends from where it receives, which MPICH refuses where it sees it.
    bool hides_error(const Call &call) const;

    const void *keep_bytes(const void *array, size_t size);

    bool complete_ = false;
    Copy sent_;
    Copy received_;
    std::vector<std::unique_ptr<std::byte[]>> arrays_;
};

} // namespace cd::logger
