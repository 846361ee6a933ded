// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// How should a store write data? This compares ways to copy memory with its checksums into a file
// that is laid out already, until it is on the disk, with a plain sequential write of the same
// bytes and fdatasync. Each on the disk of the working directory and on /dev/shm. On the disk also
// while the cores have other work, as they have when other ranks wait for this one, and how long
// it takes to read the bytes again, as a restore does, or whoever protects them on other nodes.
#include "measure.h"
#include "memory/copy.h"
#include "memory/crc32c.h"

#include <fcntl.h>
#include <liburing.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace {

constexpr size_t total = size_t{256} << 20;
constexpr size_t checked_part = size_t{64} << 10;
constexpr size_t alignment = 4096;
constexpr std::string_view on_disk = ".";

[[noreturn]] void stop(const char *what) {
    std::perror(what);
    std::exit(1);
}

std::byte *aligned(size_t size) {
    void *at = std::aligned_alloc(alignment, size);
    if (at == nullptr) {
        stop("aligned_alloc");
    }
    return static_cast<std::byte *>(at);
}

struct Free {
    void operator()(std::byte *at) const { std::free(at); }
};
using Buffer = std::unique_ptr<std::byte, Free>;

const std::byte *memory() {
    static const Buffer bytes = [] {
        Buffer made(aligned(total));
        for (size_t i = 0; i < total; ++i) {
            made.get()[i] = static_cast<std::byte>(i * 2654435761U >> 24);
        }
        return made;
    }();
    return bytes.get();
}

// A file with all its blocks written, which has no name.
class LaidOut {
public:
    LaidOut(const char *directory, int flags) : fd_(open(directory, flags)) {
        if (fd_ < 0) {
            return;
        }
        for (size_t done = 0; done < total; done += size_t{1} << 20) {
            if (::pwrite(fd_, memory() + done, size_t{1} << 20, static_cast<off_t>(done)) < 0) {
                stop("pwrite");
            }
        }
        ::fdatasync(fd_);
        reading_ = ::open(("/proc/self/fd/" + std::to_string(fd_)).c_str(), O_RDONLY);
        void *window = ::mmap(nullptr, total, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
        if (reading_ < 0 || window == MAP_FAILED) {
            stop("open or mmap");
        }
        window_ = static_cast<std::byte *>(window);
    }
    LaidOut(const LaidOut &) = delete;
    LaidOut &operator=(const LaidOut &) = delete;
    ~LaidOut() {
        if (window_ != nullptr) {
            ::munmap(window_, total);
        }
        ::close(reading_);
        ::close(fd_);
    }
    int fd() const { return fd_; }
    int reading() const { return reading_; }      // through the page cache
    std::byte *window() const { return window_; } // the file in memory, for as long as it is open

private:
    static int open(const char *directory, int flags) {
        std::string name = std::string(directory) + "/cd-write-XXXXXX";
        const int fd = ::mkostemp(name.data(), flags);
        if (fd >= 0) {
            ::unlink(name.c_str());
        }
        return fd;
    }
    int fd_;
    int reading_ = -1;
    std::byte *window_ = nullptr;
};

// One thread for each core that does nothing but run, at the priority that this one has.
class BusyCores {
public:
    BusyCores() {
        for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i) {
            threads_.emplace_back([this] {
                while (!over_.load(std::memory_order_relaxed)) {
                }
            });
        }
    }
    BusyCores(const BusyCores &) = delete;
    BusyCores &operator=(const BusyCores &) = delete;
    ~BusyCores() {
        over_ = true;
        for (std::thread &thread : threads_) {
            thread.join();
        }
    }

private:
    std::atomic<bool> over_ = false;
    std::vector<std::thread> threads_;
};

void put(int fd, const std::byte *from, size_t length, size_t at) {
    if (::pwrite(fd, from, length, static_cast<off_t>(at)) != static_cast<ssize_t>(length)) {
        stop("pwrite");
    }
}

void force(int fd) {
    if (::fdatasync(fd) != 0) {
        stop("fdatasync");
    }
}

void copy_checked(std::byte *to, const std::byte *from, size_t length) {
    for (size_t done = 0; done < length; done += checked_part) {
        benchmark::DoNotOptimize(cd::copy_crc32c(0, to + done, from + done, checked_part));
    }
}

// As dd does it: memory to the file, 1 MiB at a time, no checksum.
void write_plainly(int fd) {
    constexpr size_t piece = size_t{1} << 20;
    for (size_t done = 0; done < total; done += piece) {
        put(fd, memory() + done, piece, done);
    }
    force(fd);
}

// started_behind: after how many bytes the kernel is told to begin with writing; 0: never.
void write_through_buffer(int fd, size_t piece, size_t started_behind) {
    const Buffer buffer(aligned(piece));
    size_t started = 0;
    for (size_t done = 0; done < total; done += piece) {
        copy_checked(buffer.get(), memory() + done, piece);
        put(fd, buffer.get(), piece, done);
        if (started_behind != 0 && done + piece - started >= started_behind) {
            ::sync_file_range(fd, static_cast<off_t>(started),
                              static_cast<off_t>(done + piece - started), SYNC_FILE_RANGE_WRITE);
            started = done + piece;
        }
    }
    force(fd);
}

// No system call and no buffer: the file's pages, which are there, are what the copy goes to.
void write_in_place(const LaidOut &file) {
    for (size_t done = 0; done < total; done += checked_part) {
        benchmark::DoNotOptimize(
            cd::copy_crc32c_past_caches(0, file.window() + done, memory() + done, checked_part));
    }
    cd::finish_past_caches();
    force(file.fd());
}

// Copies the next pieces while the kernel writes those before.
void write_by_ring(int fd, size_t piece, unsigned depth) {
    io_uring ring;
    if (::io_uring_queue_init(depth, &ring, 0) < 0) {
        stop("io_uring_queue_init");
    }
    const Buffer buffers(aligned(piece * depth));
    unsigned under_way = 0;
    std::vector<unsigned> free;
    for (unsigned i = 0; i < depth; ++i) {
        free.push_back(i);
    }
    const auto finish_one = [&] {
        io_uring_cqe *done = nullptr;
        if (::io_uring_wait_cqe(&ring, &done) < 0 || done->res != static_cast<int>(piece)) {
            stop("io_uring");
        }
        free.push_back(static_cast<unsigned>(io_uring_cqe_get_data64(done)));
        io_uring_cqe_seen(&ring, done);
        --under_way;
    };
    for (size_t at = 0; at < total; at += piece) {
        if (free.empty()) {
            finish_one();
        }
        const unsigned mine = free.back();
        free.pop_back();
        std::byte *buffer = buffers.get() + mine * piece;
        copy_checked(buffer, memory() + at, piece);
        io_uring_sqe *entry = io_uring_get_sqe(&ring);
        io_uring_prep_write(entry, fd, buffer, static_cast<unsigned>(piece), at);
        io_uring_sqe_set_data64(entry, mine);
        ::io_uring_submit(&ring);
        ++under_way;
    }
    while (under_way > 0) {
        finish_one();
    }
    ::io_uring_queue_exit(&ring);
    force(fd);
}

// The same, without io_uring: threads write what was copied, and end with the operation.
class Writers {
public:
    Writers(int fd, size_t piece, unsigned count, unsigned depth)
        : fd_(fd), piece_(piece), buffers_(aligned(piece * depth)) {
        for (unsigned i = 0; i < depth; ++i) {
            free_.push_back(buffers_.get() + i * piece);
        }
        for (unsigned i = 0; i < count; ++i) {
            threads_.emplace_back([this] { write_on(); });
        }
    }
    Writers(const Writers &) = delete;
    Writers &operator=(const Writers &) = delete;
    ~Writers() {
        {
            const std::scoped_lock lock(mutex_);
            over_ = true;
        }
        has_work_.notify_all();
        for (std::thread &thread : threads_) {
            thread.join();
        }
    }

    void write(size_t at) {
        std::unique_lock lock(mutex_);
        has_free_.wait(lock, [this] { return !free_.empty(); });
        std::byte *buffer = free_.back();
        free_.pop_back();
        lock.unlock();
        copy_checked(buffer, memory() + at, piece_);
        lock.lock();
        waiting_.emplace_back(buffer, at);
        has_work_.notify_one();
    }

private:
    void write_on() {
        std::unique_lock lock(mutex_);
        while (true) {
            has_work_.wait(lock, [this] { return over_ || !waiting_.empty(); });
            if (waiting_.empty()) {
                return;
            }
            const auto [buffer, at] = waiting_.back();
            waiting_.pop_back();
            lock.unlock();
            put(fd_, buffer, piece_, at);
            lock.lock();
            free_.push_back(buffer);
            has_free_.notify_one();
        }
    }

    int fd_;
    size_t piece_;
    Buffer buffers_;
    std::mutex mutex_;
    std::condition_variable has_work_;
    std::condition_variable has_free_;
    std::vector<std::byte *> free_;
    std::vector<std::pair<std::byte *, size_t>> waiting_; // where they go
    bool over_ = false;
    std::vector<std::thread> threads_;
};

void write_by_threads(int fd, size_t piece, unsigned count) {
    {
        Writers writers(fd, piece, count, 4);
        for (size_t at = 0; at < total; at += piece) {
            writers.write(at);
        }
    }
    force(fd);
}

// As a restore reads: through the page cache, each checked part by a call of its own.
void read_again(int fd) {
    static const Buffer target = [] {
        Buffer made(aligned(total));
        std::memset(made.get(), 1, total);
        return made;
    }();
    for (size_t done = 0; done < total; done += checked_part) {
        std::byte *to = target.get() + done;
        if (::pread(fd, to, checked_part, static_cast<off_t>(done)) !=
            static_cast<ssize_t>(checked_part)) {
            stop("pread");
        }
        benchmark::DoNotOptimize(cd::crc32c(0, to, checked_part));
    }
}

// ratio: the plain write's time by this one's; busy: the same while the cores are busy; read: the
// time of reading what this one has written, by that of the plain write.
template <typename Write>
void compare(benchmark::State &state, const char *directory, int flags, const Write &write) {
    const LaidOut reference(directory, 0);
    const LaidOut file(directory, flags);
    if (reference.fd() < 0 || file.fd() < 0) {
        state.SkipWithError("this file system cannot do that");
        return;
    }
    read_again(file.reading()); // its memory is there then
    const bool is_disk = directory == on_disk;
    Samples ratios;
    Samples busy;
    Samples reads;
    for (auto _ : state) {
        const double plain = seconds([&] { write_plainly(reference.fd()); });
        const double took = seconds([&] { write(file); });
        state.SetIterationTime(took);
        ratios.add(plain / took);
        if (is_disk) {
            reads.add(seconds([&] { read_again(file.reading()); }) / plain);
            const BusyCores others;
            const double busy_plain = seconds([&] { write_plainly(reference.fd()); });
            busy.add(busy_plain / seconds([&] { write(file); }));
        }
    }
    state.counters["ratio"] = ratios.median();
    if (is_disk) {
        state.counters["busy"] = busy.median();
        state.counters["read"] = reads.median();
    }
}

template <typename Write>
void add(const char *directory, const char *name, int flags, const Write &write) {
    benchmark::RegisterBenchmark(
        (std::string(name) + "/" + directory).c_str(),
        [=](benchmark::State &state) { compare(state, directory, flags, write); })
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond)
        ->Iterations(9);
}

} // namespace

int main(int argc, char **argv) {
    for (const char *directory : {".", "/dev/shm"}) {
        add(directory, "in place, by mmap", 0, write_in_place);
        for (const size_t piece : {size_t{256} << 10, size_t{1} << 20}) {
            const std::string size = std::to_string(piece >> 10) + " KiB";
            add(directory, ("buffered " + size).c_str(), 0,
                [=](const LaidOut &file) { write_through_buffer(file.fd(), piece, 0); });
            add(directory, ("buffered, begun early " + size).c_str(), 0, [=](const LaidOut &file) {
                write_through_buffer(file.fd(), piece, size_t{8} << 20);
            });
            add(directory, ("O_DIRECT " + size).c_str(), O_DIRECT,
                [=](const LaidOut &file) { write_through_buffer(file.fd(), piece, 0); });
            for (const unsigned depth : {8U, 16U}) {
                std::string way = "O_DIRECT by io_uring, " + std::to_string(depth);
                way.append(" under way ").append(size);
                add(directory, way.c_str(), O_DIRECT,
                    [=](const LaidOut &file) { write_by_ring(file.fd(), piece, depth); });
            }
            for (const unsigned count : {1U, 2U, 3U}) {
                std::string way = "O_DIRECT by threads, " + std::to_string(count);
                way.append(" of them ").append(size);
                add(directory, way.c_str(), O_DIRECT,
                    [=](const LaidOut &file) { write_by_threads(file.fd(), piece, count); });
            }
            add(directory, ("buffered by io_uring, 8 under way " + size).c_str(), 0,
                [=](const LaidOut &file) { write_by_ring(file.fd(), piece, 8); });
        }
    }
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
}
