// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/call.h"
#include "log_entry/entry_header.h"
#include "memory/copy.h"
#include "mpi/record_failure.h"
#include "payload/pack.h"
#include "record_all/record_all.h"

#include "cd/mpi_log.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>
#include <type_traits>

namespace cd::logger {

// Writes an entry into the log of the thread's active CD, in place. One at a time in a thread,
// which holds the log meanwhile. Without memory, or without a log, it writes nothing.
class EntryWriter {
public:
    EntryWriter(Fn fn, const void *site, int result) : fn_(fn) {
        const cd_log_room room = cd_log_open(usual_size);
        if (room.at == nullptr) [[unlikely]] {
            return;
        }
        use(room, 0);
        // Field by field, here and below: reading a struct right after its parts were written is
        // slow.
        auto *header = new (at_) EntryHeader;
        header->fn = static_cast<uint16_t>(fn);
        header->result = result;
        header->site = reinterpret_cast<uint64_t>(site);
        at_ += sizeof(EntryHeader);
    }
    EntryWriter(const Call &call, int result) : EntryWriter(call.fn, call.site, result) {
        add_words(call);
    }
    EntryWriter(const EntryWriter &) = delete;
    EntryWriter &operator=(const EntryWriter &) = delete;
    // Drops the entry unless write() was called. Inlined: a call would force the writer into
    // memory.
    [[gnu::always_inline]] ~EntryWriter() {
        if (begin_ != nullptr) {
            cd_log_drop();
        }
    }

    // Adds the compared words: first of all, and once.
    void add_words(const Call &call) {
        for (int i = 0; i < call.word_count; ++i) {
            add(call.words[i]);
        }
        if (begin_ != nullptr) {
            header().words = static_cast<uint8_t>(call.word_count);
        }
    }

    void set(EntryHeader::Flags flag) {
        if (begin_ != nullptr) {
            header().flags |= flag;
        }
        is_optional_ =
            is_optional_ || flag == EntryHeader::negative || flag == EntryHeader::optional;
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
                copy_through_caches(to, data, size);
            }
        }
    }
    template <typename T> void add(const T &value) {
        static_assert(std::is_trivially_copyable_v<T>);
        add(&value, sizeof value);
    }

    void add(const MPI_Status &status) {
        static_assert(sizeof status % sizeof(int) == 0);
        if (std::byte *to = take(sizeof status)) {
            copy_parts(to, status);
        }
    }

    // Adds the outputs of the call.
    void add_outputs(const Call &call) {
        for (int i = 0; i < call.output_count; ++i) {
            add(call.outputs[i]);
        }
    }

    // Adds the block's data with their size, at most `most` bytes. Inlined as the destructor is.
    [[gnu::always_inline]] void add_data(const Block &block, size_t most) {
        const Contents contents = contents_of(block);
        const uint64_t size = std::min(contents.size, most);
        add(size);
        if (contents.in_order != nullptr && size == contents.size) {
            add(contents.in_order, size);
        } else if (size > 0) {
            if (std::byte *to = take(size)) {
                gather(block, size, to);
            }
        }
    }
    // Adds the data of several blocks; `most` limits the first one.
    void add_data(const Blocks &blocks, size_t most);

    // Ends the entry. Returns it, or nullptr if it was not written or may not be changed any more,
    // because it is in a file too.
    EntryHeader *write() {
        last_ = nullptr;
        if (begin_ == nullptr) [[unlikely]] {
            note_lost();
            return nullptr;
        }
        const auto length = static_cast<size_t>(at_ - begin_);
        EntryHeader *written = &header();
        begin_ = nullptr;
        if (is_optional_) {
            cd_log_close_optional(length);
        } else {
            cd_log_close(length);
        }
        last_ = written;
        if (RecordAll::records()) [[unlikely]] {
            RecordAll::written(written, length);
            return nullptr;
        }
        return written;
    }

    // Returns the entry that this thread wrote last, while nothing can have come behind it.
    static EntryHeader *last_written() { return last_; }
    static void forget_last_written() { last_ = nullptr; }

private:
    friend class FastEntry;

    // Reports the lost entry, unless another thread has ended or restored the CD.
    [[gnu::noinline]] void note_lost() const {
        if (cd_log_mode() != CD_LOG_RECORDING) {
            return;
        }
        RecordFailure::report(fn_);
    }

    // Enough for most entries.
    static constexpr size_t usual_size = 512;
    static_assert(usual_size > sizeof(EntryHeader) + sizeof Call::words);

    void add(const Output &output);

    static void copy_parts(std::byte *to, const MPI_Status &status) {
        const auto *from = reinterpret_cast<const volatile int *>(&status);
        for (size_t i = 0; i < sizeof status / sizeof(int); ++i) {
            const int part = from[i];
            std::memcpy(to + i * sizeof part, &part, sizeof part);
        }
    }

    // Where the entry begins, where the next byte goes, and where its room ends.
    struct Place {
        std::byte *begin;
        std::byte *at;
        std::byte *end;
    };

    // Returns room for the next `size` bytes of the entry, or nullptr.
    std::byte *take(size_t size) {
        if (size > static_cast<size_t>(end_ - at_)) [[unlikely]] {
            const Place wider = widened({begin_, at_, end_}, size);
            begin_ = wider.begin;
            at_ = wider.at;
            end_ = wider.end;
            if (begin_ == nullptr) {
                return nullptr;
            }
        }
        std::byte *piece = at_;
        at_ += size;
        return piece;
    }
    // Returns a place with room for `size` more bytes, or nowhere without memory. Static, so that
    // the writer stays in registers.
    static Place widened(const Place &place, size_t size);
    void use(const cd_log_room &room, size_t used) {
        begin_ = static_cast<std::byte *>(room.at);
        at_ = begin_ + used;
        end_ = begin_ + room.size;
    }
    EntryHeader &header() { return *reinterpret_cast<EntryHeader *>(begin_); }

    Fn fn_;
    bool is_optional_ = false; // as in EntryHeader
    std::byte *begin_ = nullptr;
    std::byte *at_ = nullptr;
    std::byte *end_ = nullptr;

    [[gnu::tls_model("initial-exec")]] static inline constinit thread_local EntryHeader *last_ =
        nullptr;
};

constexpr size_t everything = SIZE_MAX;

} // namespace cd::logger
