// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "file_store/codec.h"
#include "file_store/state.h"

#include <optional>
#include <unordered_map>

namespace cd {

// Writes changes of a State in the format of records. A snapshot is nothing but the changes that
// make a state out of an empty one. May throw std::bad_alloc.
class ChangeWriter {
public:
    // Where a COPY entry's data are; made by run().
    struct Data {
        uint64_t run = 0; // number within the record
        uint64_t offset = 0;
    };
    struct Labels {
        addr_type access;
        addr_scope scope;
        Restoration restoration;
        bool recent = false;
        bool added_anew = false;
        StoredLeft left = {};
        bool compared = false;
        bool filled_anew = false;
    };

    void space(uint64_t space);
    void name(uint64_t number, const StoredName &name);
    void cd(const StoredCd &cd);
    Data run(uint64_t offset, uint64_t length, const Checksums &checksums);

    // The CD gets bytes that it does not hold. data: for COPY.
    void hold(uint64_t cd, Range range, Labels labels, const StoredKey &key, Data data);
    // Held bytes get new data.
    void data(uint64_t cd, Range range, Data data);
    // What is held of range gets these labels; what is not COPY then has no data.
    void relabel(uint64_t cd, Range range, addr_type access, Restoration restoration);
    // What is held of range, and not regenerated, becomes READ_WRITE.
    void promote(uint64_t cd, Range range);
    // Everything becomes READ_ONLY.
    void demote(uint64_t cd);
    void erase(uint64_t cd, Range range);
    // What from holds of range, to holds too; from keeps it or not.
    void give(uint64_t from, uint64_t to, Range range, bool keeps);
    // What from has not been left itself is left by it, in this interval.
    void leave(uint64_t from, uint64_t to, Range range, uint64_t interval);
    void files(uint64_t cd, const std::vector<FilePosition> &files);
    void epoch(uint64_t cd, uint64_t epoch);
    // What the root holds stays beside what it will hold; only the newest count of these stay.
    void retain(uint64_t count);
    void drop(uint64_t cd);
    // Entries that another process added are at this address of this process.
    void bind(uint64_t cd, uint64_t space, Range range, uint64_t begin);
    void clear(uint64_t cd);

    bool empty() const { return bytes_.empty(); }
    ByteWriter &bytes() { return bytes_; }

private:
    void begin(format::Change kind, uint64_t cd);
    void begin(format::Change kind, uint64_t cd, Range range);

    ByteWriter bytes_;
    uint64_t runs_ = 0;
};

// Entries that are bound, which is not written down yet.
struct Binds {
    ChangeWriter changes;
    size_t entries = 0;

    void add(Binds &more) {
        const auto bytes = more.changes.bytes().bytes();
        changes.bytes().raw(bytes.data(), bytes.size());
        entries += more.entries;
    }
};

// The changes that make state out of an empty one, without names that nothing has.
void write_snapshot(const State &state, ChangeWriter &into);

// Makes the changes in bytes, which are of a record. Returns what is wrong with them, or nullptr;
// state is useless then. May throw std::bad_alloc.
const char *apply_changes(std::span<const std::byte> bytes, State &state);
// The same for those of a snapshot, into an empty state.
const char *apply_snapshot(std::span<const std::byte> bytes, State &state);

} // namespace cd
