// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/typed_block.h"

#include <cstdint>
#include <memory>

namespace cd::logger {

// How far apart data may lie that are copied with the gaps between them. Gaps cost address space
// only, but types of absolute addresses may spread without limit.
constexpr int64_t widest_spread = int64_t{64} << 20;

// A copy of the data of a non-blocking send, with the same layout. MPI may read the buffer of a
// send after a restore has changed it. A restore cannot wait for the send, since the receiver may
// wait for another message of this rank first.
class SendCopy {
public:
    SendCopy() = default;

    // Copies the block. Empty if the block spreads too widely to be copied, or if
    // there is no memory.
    static SendCopy of(const Block &block);

    bool empty() const { return memory_ == nullptr; }

    // Returns the buffer to send instead of the block.
    void *address() const { return address_; }

private:
    std::unique_ptr<std::byte[]> memory_;
    void *address_ = nullptr;
};

// Returns false for CD_SEND_SHADOW=off: sends go out from the program's buffers.
bool send_copies_wanted();

} // namespace cd::logger
