// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/call.h"
#include "entry/entry.h"
#include "payload/block.h"

#include "cd/mpi_log.h"

namespace cd::logger {

// Puts an entry together from pieces that stay where they are until write(), and writes it into the
// log of the calling thread's active CD. One at a time in a thread.
class EntryWriter {
public:
    EntryWriter(const Call &call, int result);
    EntryWriter(const EntryWriter &) = delete;
    EntryWriter &operator=(const EntryWriter &) = delete;

    void set(EntryHeader::Flags flag) { header_.flags |= flag; }
    void repeats(uint64_t times) { header_.repeats = times; }

    void add(const void *data, size_t size);
    template <typename T> void add(const T &value) { add(&value, sizeof value); }
    template <typename T> void add(const T &&value) = delete;

    // What the call wrote.
    void add_outputs(const Call &call);

    // The data in the blocks, each with its size; of the first one at most most bytes.
    void add_data(const Blocks &blocks, size_t most);

    // A number, kept for as long as the writer lives.
    void add_kept(uint64_t number);

    // Returns the entry, or nullptr if there is no memory, which has been said.
    EntryHeader *write();

private:
    struct Workspace;

    static Workspace &workspace();

    EntryHeader header_;

    Workspace &space_;
};

constexpr size_t everything = SIZE_MAX;

// The entry that this thread has written last, as long as nothing can have come behind it.
EntryHeader *last_written();
void forget_last_written();

} // namespace cd::logger
