// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "file_store/codec.h"
#include "file_store/state.h"

#include <optional>
#include <unordered_map>

namespace cd {

// Writes changes of a State in the format of records. A snapshot consists of the changes that make
// a state out of an empty one. May throw std::bad_alloc.
class ChangeWriter {
public:
    // The place of a COPY entry's data; made by run().
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
    };

    void space(uint64_t space);
    void name(uint64_t number, const StoredName &name);
    void cd(const StoredCd &cd);
    Data run(uint64_t offset, uint64_t length, const Checksums &checksums);

    // Gives the CD bytes that it does not hold. data: for COPY.
    void hold(uint64_t cd, Range range, Labels labels, const StoredKey &key, Data data);
    // Gives held bytes new data.
    void data(uint64_t cd, Range range, Data data);
    // Gives the held bytes of the range these labels; only COPY keeps data.
    void relabel(uint64_t cd, Range range, addr_type access, Restoration restoration);
    // Makes the held bytes of the range READ_WRITE unless they are regenerated.
    void promote(uint64_t cd, Range range);
    // Makes everything READ_ONLY.
    void demote(uint64_t cd);
    void erase(uint64_t cd, Range range);
    // Gives `to` what `from` holds of the range; from keeps it or not.
    void give(uint64_t from, uint64_t to, Range range, bool keeps);
    void files(uint64_t cd, const std::vector<FilePosition> &files);
    void epoch(uint64_t cd, uint64_t epoch);
    // Keeps what the root holds as an older point in time, and the newest `count` of these.
    void retain(uint64_t count);
    void drop(uint64_t cd);
    // Moves entries that another process added to an address of this process.
    void bind(uint64_t cd, uint64_t space, Range range, uint64_t begin);
    void clear(uint64_t cd);

    bool empty() const { return bytes_.empty(); }
    ByteWriter &bytes() { return bytes_; }
    // Appends changes that refer to no data.
    void add(ChangeWriter &more) {
        const auto bytes = more.bytes_.bytes();
        bytes_.raw(bytes.data(), bytes.size());
    }

private:
    void begin(format::Change kind, uint64_t cd);
    void begin(format::Change kind, uint64_t cd, Range range);

    ByteWriter bytes_;
    uint64_t runs_ = 0;
};

// Writes the changes that make `state` out of an empty one, without unused names.
void write_snapshot(const State &state, ChangeWriter &into);

// Applies the changes of a record or a snapshot. Returns what is wrong with them, or nullptr; after
// an error the state is useless. May throw std::bad_alloc.
const char *apply_changes(std::span<const std::byte> bytes, State &state);

} // namespace cd
