// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/call.h"
#include "log_entry/entry_header.h"
#include "log_entry/writer.h"
#include "record_all/record_all.h"

#include "cd/mpi_log.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

namespace cd::logger {

// Writes the same entries as EntryWriter, for short ones whose length is known before. close() must
// follow if has_room().
//
// Keeps values in registers: what is written here waits for what MPI has written before, which may
// be memory of another process.
class FastEntry {
public:
    static constexpr size_t most_data = 256;

    // `more`: bytes beyond the header and the words.
    FastEntry(int words, size_t more)
        : words_(words),
          length_(sizeof(EntryHeader) + static_cast<size_t>(words) * sizeof(uint64_t) + more) {
        const cd_log_entry entry = cd_log_enter(length_);
        begin_ = at_ = static_cast<std::byte *>(entry.at);
        being_written_ = entry.being_written;
    }

    // False also if only an EntryWriter can make room.
    bool has_room() const { return begin_ != nullptr; }

    // Comes first. Writes whole words, which takes the fewest steps.
    [[gnu::always_inline]] void begin(Fn fn, int result, const void *site) {
        add(EntryHeader::first_word(fn, static_cast<uint8_t>(words_), result));
        add(reinterpret_cast<uint64_t>(site));
        add(0);
    }
    [[gnu::always_inline]] void add(uint64_t word) {
        std::memcpy(at_, &word, sizeof word);
        at_ += sizeof word;
    }
    [[gnu::always_inline]] void add(const MPI_Status &status) {
        EntryWriter::copy_parts(at_, status);
        at_ += sizeof status;
    }
    // Adds the size and the data, at most most_data.
    [[gnu::always_inline]] void add_data(const std::byte *data, size_t size) {
        add(size);
        if (size == sizeof(uint64_t)) { // a number, as often as not
            std::memcpy(at_, data, sizeof(uint64_t));
        } else if (size > 0) {
            std::memcpy(at_, data, size);
        }
    }
    [[gnu::always_inline]] void close() {
        cd_log_written({begin_, being_written_});
        auto *const written = reinterpret_cast<EntryHeader *>(begin_);
        EntryWriter::last_ = written;
        if (RecordAll::records()) [[unlikely]] {
            RecordAll::written(written, length_);
        }
    }

private:
    int words_;
    size_t length_;
    std::byte *begin_;
    std::byte *at_;
    char *being_written_;
};

} // namespace cd::logger
