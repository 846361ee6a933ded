// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/call.h"
#include "entry/entry.h"
#include "payload/block.h"

#include "cd/mpi_log.h"

#include <cstddef>
#include <cstring>
#include <type_traits>

namespace cd::logger {

// Writes an entry into the log of the calling thread's active CD, piece by piece, where it will
// stay. One at a time in a thread; nobody else uses the log meanwhile. What is added when there is
// no memory, or nothing to write into, goes nowhere.
class EntryWriter {
public:
    EntryWriter(const Call &call, int result);
    EntryWriter(const EntryWriter &) = delete;
    EntryWriter &operator=(const EntryWriter &) = delete;
    ~EntryWriter() { // without write(), there was no memory
        if (begin_ != nullptr) {
            cd_log_drop();
        }
    }

    void set(EntryHeader::Flags flag) {
        if (begin_ != nullptr) {
            header().flags |= flag;
        }
    }
    void repeats(uint64_t times) {
        if (begin_ != nullptr) {
            header().repeats = times;
        }
    }

    void add(const void *data, size_t size) {
        if (std::byte *to = take(size); to != nullptr && size > 0) {
            if (size == sizeof(uint64_t)) { // a number, as often as not
                std::memcpy(to, data, sizeof(uint64_t));
            } else {
                std::memcpy(to, data, size);
            }
        }
    }
    template <typename T> void add(const T &value) {
        static_assert(std::is_trivially_copyable_v<T>);
        add(&value, sizeof value);
    }

    // What the call wrote.
    void add_outputs(const Call &call);

    // The data in the blocks, each with its size; of the first one at most most bytes.
    void add_data(const Blocks &blocks, size_t most);

    // Ends the entry. Returns it, or nullptr if there is no memory, which has been said.
    EntryHeader *write();

private:
    // Room for the next size bytes of the entry, or nullptr.
    std::byte *take(size_t size) {
        if (size > static_cast<size_t>(end_ - at_) && !widen(size)) {
            return nullptr;
        }
        std::byte *piece = at_;
        at_ += size;
        return piece;
    }
    bool widen(size_t size);
    void use(const cd_log_room &room, size_t used);
    EntryHeader &header() { return *reinterpret_cast<EntryHeader *>(begin_); }

    Fn fn_;
    std::byte *begin_ = nullptr;
    std::byte *at_ = nullptr;
    std::byte *end_ = nullptr;
};

constexpr size_t everything = SIZE_MAX;

// The entry that this thread has written last, as long as nothing can have come behind it.
EntryHeader *last_written();
void forget_last_written();

} // namespace cd::logger
