// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "file_store/file.h"
#include "file_store/state.h"
#include "os/system.h"

#include <pthread.h>

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace cd {

// A store file, opened a second time for writes of whole blocks past the page cache. Thread-safe.
class DirectFile {
public:
    explicit DirectFile(const File &file)
        : file_(os::system().open_direct(file.descriptor(), pays_from_), file.path()) {
        file_.remember_identity();
    }

    int descriptor() const { return file_.descriptor(); }

    // True if an operation of so many bytes is faster this way.
    bool pays(uint64_t bytes) const { return file_.is_open() && bytes >= pays_from_; }

    Status check_identity() const {
        return file_.is_open() ? file_.check_identity() : Status::ok();
    }

    // Also for forked processes: no lock depends on it.
    void close() noexcept { file_.drop(); }

private:
    uint64_t pays_from_ = 0;
    File file_;
};

// Writes the data of one operation past the page cache: copies them with their checksums into a few
// buffers, which helper threads write. The helpers end with finish() or the destructor, and own the
// written places until then. Used by one thread.
class DirectWrites {
public:
    DirectWrites(const File &file, const DirectFile &direct);
    DirectWrites(const DirectWrites &) = delete;
    DirectWrites &operator=(const DirectWrites &) = delete;
    ~DirectWrites();

    // False if there was no memory for the buffers.
    bool is_possible() const { return buffers_ != nullptr; }

    // Writes to the begin of an extent of whole blocks, and zeros behind. checksums: gets one for
    // each checked part, or nullptr. May throw std::bad_alloc.
    Status write(uint64_t offset, const std::byte *from, size_t length, Checksums *checksums);

    // Waits until everything is written. Returns the first error.
    Status finish();

private:
    enum class Stage { free, filling, waiting, writing };
    struct Piece {
        Stage stage = Stage::free;
        uint64_t offset = 0;
        size_t length = 0;
    };
    static constexpr size_t pieces = 4;
    static constexpr size_t most_helpers = 2;

    std::byte *bytes_of(const Piece &piece) const;
    bool has_room_at(uint64_t offset, size_t length) const;
    void begin_piece(uint64_t offset);
    void end_piece();
    void write_out(std::unique_lock<std::mutex> &lock, Piece &piece);
    Piece *find(Stage stage);
    void stop();
    static void *help(void *self);

    const File &file_;
    const DirectFile &direct_;
    size_t buffers_size_;
    std::byte *buffers_;
    Piece *filling_ = nullptr;
    std::array<pthread_t, most_helpers> helpers_ = {};
    size_t helper_count_ = 0;

    std::mutex mutex_; // guards what follows
    std::condition_variable has_work_;
    std::condition_variable has_free_;
    std::array<Piece, pieces> pieces_ = {}; // of the filling one only the stage
    bool over_ = false;
    int error_ = 0; // the first
    uint64_t error_at_ = 0;
};

} // namespace cd
