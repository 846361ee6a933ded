// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/call.h"
#include "call/typed_block.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace cd::logger {

// Memory of the logger that is laid out like blocks of the program.
class Copy {
public:
    // Allocates memory for the blocks, without their data. False if they spread too widely, or if
    // there is no memory.
    [[nodiscard]] bool reserve_room(const Blocks &blocks);

    bool empty() const { return memory_ == nullptr; }

    // Translates an address in, or near, the program's blocks to this memory.
    void *place_of(const void *address) const;
    Blocks places_of(const Blocks &blocks) const;

private:
    std::unique_ptr<std::byte[]> memory_;
    uintptr_t begin_ = 0; // of the blocks in the program's memory
};

// Buffers that a non-blocking call works on instead of the program's. A restore changes those, and
// cannot wait for the call, since other ranks may want something else first. Data that arrive are
// copied to the program when the request completes.
class Staging { // NOLINT(bugprone-exception-escape): moving Blocks throws nothing
public:
    // Copies what the call sends. `made` is an object that the call makes, apart from data. If MPI
    // does not report how much arrives (`knows_size` is false), copies the receive buffer, too.
    // Empty if the call has to work on the program's buffers.
    static Staging of(const Call &call, bool has_send_buf, const Block &made,
                      bool knows_size = true);

    // For requests that are started more than once: refill() copies what is sent now, and follow()
    // notes that the program's buffers have moved.
    void refill() const;
    void refill(int part, int partitions) const;
    void follow(const Call &call, bool has_send_buf);

    bool empty() const { return !complete_; }

    // Makes it empty. Fast if it already is.
    void clear() {
        if (complete_ || !(landed.empty() && sources.empty() && places.empty()) ||
            !(sent_.empty() && received_.empty())) {
            *this = {};
        }
    }

    // Returns a copy that lives as long as this; the array itself if it is empty or memory lacks.
    template <typename T> const T *keep(const T *array, int length) {
        const size_t size = sizeof(T) * static_cast<size_t>(length);
        return static_cast<const T *>(keep_bytes(array, array != nullptr ? size : 0));
    }

    // Return the arguments to pass to MPI.
    const void *send_buf(const void *programs) const;
    void *recv_buf(void *programs) const;

    // Copies what has arrived to the program's memory: at most `most` bytes of the first block.
    void deliver(const Blocks &arrivals, size_t most) const;
    void deliver(const Block &whole, int part, int partitions) const;

    // The blocks in which data arrive, in the order of the call's arrivals.
    Blocks landed;
    // The program's data that are sent, and their copies.
    Blocks sources;
    Blocks places;

private:
    // `in_place` is data that the call sends from its receive buffers.
    static Staging of(const Blocks &sent, const Blocks &in_place, const Blocks &arrivals);
    static void add_sources(const Call &call, bool has_send_buf, Blocks &sent, Blocks &in_place);

    const void *keep_bytes(const void *array, size_t size);

    bool complete_ = false;
    Copy sent_;
    Copy received_;
    std::vector<std::unique_ptr<std::byte[]>> arrays_;
};

} // namespace cd::logger
