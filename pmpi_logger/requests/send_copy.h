// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/block.h"

#include <cstdint>
#include <memory>

namespace cd::logger {

// How far apart data may lie that are copied with the gaps between them. Those cost address space
// only, but not without end: absolute addresses may lie anywhere.
constexpr int64_t widest_spread = int64_t{64} << 20;

// A copy of what a non-blocking send sends, at the same place within its layout. MPI may read the
// buffer of a send late, when a restore has long given it other contents; a receiver may even wait
// for something else from this rank first, so a restore cannot wait for the send.
class SendCopy {
public:
    SendCopy() = default;

    // Copies the block. Empty if it spreads too widely to be copied, or there is no
    // memory.
    static SendCopy of(const Block &block);

    bool empty() const { return memory_ == nullptr; }

    // Nobody will know when MPI has done with it: the memory stays.
    void leave_to_mpi() { static_cast<void>(memory_.release()); }

    // What to send instead of the block.
    void *address() const { return address_; }

private:
    std::unique_ptr<std::byte[]> memory_;
    void *address_ = nullptr;
};

// CD_SEND_SHADOW=off: sends go out from the program's buffers.
bool shadows_wanted();

} // namespace cd::logger
