// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/call.h"
#include "log_entry/entry.h"
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

// Writes an entry into the log of the calling thread's active CD, piece by piece, where it will
// stay. One at a time in a thread; nobody else uses the log meanwhile. What is added when there is
// no memory, or nothing to write into, goes nowhere.
class EntryWriter {
public:
    EntryWriter(Fn fn, const void *site, int result) : fn_(fn) {
        const cd_log_room room = cd_log_open(usual_size);
        if (room.at == nullptr) [[unlikely]] {
            return;
        }
        use(room, 0);
        // Field by field, here and below: what has just been written in parts is slow to be read
        // as a whole.
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
    // Without write(), there was no memory. A call, though seldom made, would be told of the
    // writer.
    [[gnu::always_inline]] ~EntryWriter() {
        if (begin_ != nullptr) {
            cd_log_drop();
        }
    }

    // What is compared: first of all, and once.
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

    // What the call wrote.
    void add_outputs(const Call &call) {
        for (int i = 0; i < call.output_count; ++i) {
            add(call.outputs[i]);
        }
    }

    // The data in the block, with their size; at most most bytes. Inlined as the destructor is.
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
    // The same of several; most: of the first one.
    void add_data(const Blocks &blocks, size_t most);

    // Ends the entry. Returns it, or nullptr if there is no memory, which has been said, or nothing
    // to write into, or if the entry is in a file, too, where it stays as it is.
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

    // The entry that this thread has written last, as long as nothing can have come behind it.
    static EntryHeader *last_written() { return last_; }
    static void forget_last_written() { last_ = nullptr; }

private:
    friend class FastEntry;

    // Unless another thread has ended the CD meanwhile, or restored it.
    [[gnu::noinline]] void note_lost() const {
        if (cd_log_mode() != CD_LOG_RECORDING) {
            return;
        }
        RecordFailure::report(fn_);
    }

    // What most entries need, so that they are not widened.
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

    // Where the entry is, how much of it has been written, and where its room ends.
    struct Place {
        std::byte *begin;
        std::byte *at;
        std::byte *end;
    };

    // Room for the next size bytes of the entry, or nullptr.
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
    // With room for size more bytes; nowhere if there is no memory. Not told of the writer itself,
    // which can stay in registers.
    static Place widened(const Place &place, size_t size);
    void use(const cd_log_room &room, size_t used) {
        begin_ = static_cast<std::byte *>(room.at);
        at_ = begin_ + used;
        end_ = begin_ + room.size;
    }
    EntryHeader &header() { return *reinterpret_cast<EntryHeader *>(begin_); }

    Fn fn_;
    bool is_optional_ = false; // as EntryHeader says
    std::byte *begin_ = nullptr;
    std::byte *at_ = nullptr;
    std::byte *end_ = nullptr;

    [[gnu::tls_model("initial-exec")]] static inline constinit thread_local EntryHeader *last_ =
        nullptr;
};

constexpr size_t everything = SIZE_MAX;

} // namespace cd::logger
