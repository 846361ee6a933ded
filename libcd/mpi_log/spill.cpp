// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "mpi_log/spill.h"

#include "memory/page_pool.h"

#include <algorithm>
#include <cstdio>
#include <new>
#include <utility>

namespace cd {
namespace {

constexpr size_t smallest_chunk = size_t{16} << 10;
constexpr size_t largest_chunk = size_t{256} << 10;
constexpr size_t chunks_in_limit = 16;

Status no_memory_to_spill() {
    return fail(CD_ERROR_LOG_SPILL, "there is no memory to move the MPI log to or from its file; "
                                    "give a smaller log_limit, or advance more often");
}

} // namespace

LogSpill::LogSpill(uint64_t limit, std::string directory)
    : limit_(limit),
      chunk_size_(std::clamp<uint64_t>(limit / chunks_in_limit, smallest_chunk, largest_chunk)),
      file_(std::move(directory)) {}

LogChunk *LogSpill::make(size_t size) noexcept {
    auto *chunk = new (std::nothrow) Chunk;
    if (chunk == nullptr) {
        return nullptr;
    }
    const size_t asked = PagePool::rounded(size);
    Lock lock(mutex_);
    if (!reserve_room(lock, asked)) {
        delete chunk;
        return nullptr;
    }
    in_memory_ += asked;
    lock.unlock();
    chunk->pages = static_cast<std::byte *>(PagePool::instance().take(size));
    lock.lock();
    in_memory_ -= asked;
    if (chunk->pages == nullptr) {
        trouble_[0] = '\0';
        delete chunk;
        return nullptr;
    }
    in_memory_ += chunk->size = size;
    largest_ = std::max<uint64_t>(largest_, asked);
    return chunk;
}

bool LogSpill::reserve_room(Lock &lock, size_t size) noexcept {
    const uint64_t failed_before = failed_writes_;
    drop_copied(size, for_writing());
    // Chunks in use by other threads stay; all others are written first.
    while (in_memory_ + size > for_writing() && (!unwritten_.empty() || writing_) &&
           failed_writes_ == failed_before) {
        if (writing_) {
            done_.wait(lock);
        } else {
            write_oldest(lock);
        }
        drop_copied(size, for_writing());
    }
    return failed_writes_ == failed_before || in_memory_ + size <= for_writing();
}

void LogSpill::complete(LogChunk &chunk) noexcept {
    const Lock lock(mutex_);
    auto &completed = static_cast<Chunk &>(chunk);
    completed.complete = true;
    enlist(completed);
}

bool LogSpill::hold(LogChunk &chunk) noexcept {
    Lock lock(mutex_);
    auto &held = static_cast<Chunk &>(chunk);
    if (held.pages == nullptr && !load(lock, held)) {
        return false;
    }
    ++held.holds;
    held.unlink();
    done_.notify_all(); // threads that wait for it to be written
    return true;
}

void LogSpill::release(LogChunk &chunk) noexcept {
    const Lock lock(mutex_);
    auto &released = static_cast<Chunk &>(chunk);
    --released.holds;
    enlist(released);
}

void LogSpill::discard(LogChunk *chunk) noexcept {
    const Lock lock(mutex_);
    auto *discarded = static_cast<Chunk *>(chunk);
    discarded->unlink();
    discarded->discarded = true;
    if (!discarded->busy) {
        destroy(*discarded);
    }
    done_.notify_all(); // as in hold()
}

// Puts the chunk into the list in which it waits for its pages to be dropped.
void LogSpill::enlist(Chunk &chunk) noexcept {
    if (chunk.complete && chunk.holds == 0 && !chunk.busy && chunk.pages != nullptr) {
        (chunk.stored ? copied_ : unwritten_).push_back(chunk);
    }
}

void LogSpill::drop_copied(size_t size, uint64_t allowed) noexcept {
    while (in_memory_ + size > allowed && !copied_.empty()) {
        Chunk &chunk = copied_.front();
        chunk.unlink();
        drop_pages(chunk);
    }
}

void LogSpill::drop_pages(Chunk &chunk) noexcept {
    PagePool::instance().give(chunk.pages, chunk.size);
    chunk.pages = nullptr;
    in_memory_ -= chunk.size;
}

void LogSpill::begin_work_on(Chunk &chunk) noexcept {
    chunk.unlink();
    chunk.busy = true;
}

void LogSpill::end_work_on(Chunk &chunk) noexcept {
    chunk.busy = false;
    if (chunk.discarded) {
        destroy(chunk);
    } else {
        enlist(chunk);
    }
    done_.notify_all();
}

void LogSpill::destroy(Chunk &chunk) noexcept {
    if (chunk.pages != nullptr) {
        drop_pages(chunk);
    }
    if (chunk.stored) {
        in_files_ -= chunk.extent.length;
        tail_ = in_files_ == 0 ? 0 : tail_;
    }
    delete &chunk;
}

void LogSpill::write_oldest(Lock &lock) noexcept {
    const SavedMessage keeper;
    Chunk &chunk = unwritten_.front();
    begin_work_on(chunk);
    writing_ = true;
    SpillFile::Extent extent;
    const uint64_t tail = tail_;
    lock.unlock();
    Status status = file_.write(tail, {chunk.pages, chunk.used}, extent);
    lock.lock();
    writing_ = false;
    if (status) {
        in_files_ += extent.length;
        tail_ = extent.offset + extent.length;
        chunk.stored = true;
        chunk.extent = extent;
        if (chunk.holds == 0) {
            drop_pages(chunk);
        }
    } else {
        note_trouble();
        ++failed_writes_;
    }
    end_work_on(chunk);
}

// Reads the chunk from its file.
bool LogSpill::load(Lock &lock, Chunk &chunk) noexcept {
    const SavedMessage keeper;
    begin_work_on(chunk);
    drop_copied(chunk.size, limit_);
    size_t size = chunk.size;
    in_memory_ += size;
    lock.unlock();
    auto *pages = static_cast<std::byte *>(PagePool::instance().take(size));
    Status status =
        pages != nullptr ? file_.read(chunk.extent, {pages, chunk.used}) : no_memory_to_spill();
    if (!status && pages != nullptr) {
        PagePool::instance().give(pages, size);
    }
    lock.lock();
    in_memory_ -= chunk.size;
    if (status) {
        in_memory_ += size;
        chunk.size = size;
        chunk.pages = pages;
    } else {
        note_trouble();
    }
    end_work_on(chunk);
    return status.is_ok();
}

void LogSpill::note_trouble() noexcept {
    std::snprintf(trouble_, sizeof trouble_, "%s", message());
}

Status LogSpill::trouble() const {
    const Lock lock(mutex_);
    return trouble_[0] == '\0' ? Status::ok() : fail(CD_ERROR_LOG_SPILL, "%s", trouble_);
}

} // namespace cd
