// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// Stores in files: on the disk of the working directory against a sequential write of the same
// bytes and fdatasync, as dd does it; in /dev/shm against the store in memory.
#include "measure.h"
#include "shapes.h"

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>

namespace {

constexpr double disk_target = 0.9;
constexpr double tmpfs_target = 0.8;

// A directory for stores that is gone afterwards.
class Directory {
public:
    explicit Directory(const char *where) : path_(std::string(where) + "/cd-bench-XXXXXX") {
        must(::mkdtemp(path_.data()) != nullptr);
    }
    Directory(const Directory &) = delete;
    Directory &operator=(const Directory &) = delete;
    ~Directory() { std::filesystem::remove_all(path_); }

    std::string storage(const char *more = "") const { return "store=file,dir=" + path_ + more; }
    const std::string &path() const { return path_; }

private:
    std::string path_;
};

// What a store's advance is compared with: a file that is laid out already.
class PlainFile {
public:
    PlainFile(const Directory &directory, size_t size)
        : fd_(::open((directory.path() + "/plain").c_str(), O_RDWR | O_CREAT, 0600)), size_(size) {
        must(fd_ >= 0);
        write();
    }
    PlainFile(const PlainFile &) = delete;
    PlainFile &operator=(const PlainFile &) = delete;
    ~PlainFile() { ::close(fd_); }

    void write() const {
        for (size_t done = 0; done < size_; done += mib) {
            must(::pwrite(fd_, stage().application.at(done), mib, static_cast<off_t>(done)) ==
                 static_cast<ssize_t>(mib));
        }
        must(::fdatasync(fd_) == 0);
    }

private:
    int fd_;
    size_t size_;
};

// A root of which all bytes are read-write again before each advance, in its steady state: there
// are two places for the data.
class Advanced {
public:
    Advanced(const std::string &storage_info, const char *name, List list)
        : root_(name, storage_info.c_str()), list_(std::move(list)) {
        for (int i = 0; i < 3; ++i) {
            promote();
            advance();
        }
    }
    void promote() const { add(root_.handle(), list_); }
    void advance() const { must(advance_cd_point_in_time(root_.handle())); }
    void restore() const { must(restore_cd(root_.handle())); }

private:
    Root root_;
    List list_;
};

void advance_on_disk(benchmark::State &state, size_t size_mib, const Shape &shape) {
    const Directory directory(".");
    const PlainFile plain(directory, size_mib * mib);
    const Advanced store(directory.storage(), "bench", Laid(size_mib, shape).list());
    measure_ratio(
        state, [&] { plain.write(); }, [&] { store.promote(); }, [&] { store.advance(); }, nothing);
}

// Of what the advance before has written, against writing as much.
void restore_from_disk(benchmark::State &state, size_t size_mib, const Shape &shape,
                       const char *more) {
    const Directory directory(".");
    const PlainFile plain(directory, size_mib * mib);
    const Advanced store(directory.storage(more), "bench", Laid(size_mib, shape).list());
    measure_ratio(
        state, [&] { plain.write(); },
        [&] {
            store.promote();
            store.advance();
        },
        [&] { store.restore(); }, nothing);
}

void advance_in_tmpfs(benchmark::State &state, size_t size_mib, const Shape &shape,
                      const char *more) {
    const Directory directory("/dev/shm");
    const List list = Laid(size_mib, shape).list();
    const Advanced memory("store=memory", "memory", list);
    const Advanced store(directory.storage(more), "file", list);
    memory.promote();
    measure_ratio(
        state,
        [&] {
            memory.advance();
            memory.promote(); // a few entries, as nothing against their data
        },
        [&] { store.promote(); }, [&] { store.advance(); }, nothing);
}

// Reads from the page cache: what a restore adds to it is its checksums.
void restore_from_tmpfs(benchmark::State &state, size_t size_mib, const Shape &shape) {
    const Directory directory("/dev/shm");
    const Laid laid(size_mib, shape);
    const Root root("bench", directory.storage().c_str());
    add(root.handle(), laid.list());
    laid.copy_out();
    measure_ratio(
        state, [&] { laid.copy_back(); }, nothing, [&] { must(restore_cd(root.handle())); },
        nothing);
}

} // namespace

void register_file_stores() {
    constexpr int64_t rounds = 15;
    for (const Shape &shape : {one_entry, adjacent}) {
        for (const size_t size : {size_t{64}, size_t{256}}) {
            register_case(case_name("file on disk, advance", size, shape), rounds,
                          [=](benchmark::State &state) {
                              advance_on_disk(state, size, shape);
                              set_target(state, disk_target);
                          });
            register_case(case_name("file in tmpfs, advance", size, shape), rounds,
                          [=](benchmark::State &state) {
                              advance_in_tmpfs(state, size, shape, "");
                              set_target(state, tmpfs_target);
                          });
        }
    }
    register_case(case_name("file on disk, restore", 256, one_entry), rounds,
                  [=](benchmark::State &state) { restore_from_disk(state, 256, one_entry, ""); });
    register_case(
        case_name("file on disk, sync=none, restore", 256, one_entry), rounds,
        [=](benchmark::State &state) { restore_from_disk(state, 256, one_entry, ",sync=none"); });
    register_case(
        case_name("file in tmpfs, checksum=none, advance", 64, one_entry), rounds,
        [=](benchmark::State &state) { advance_in_tmpfs(state, 64, one_entry, ",checksum=none"); });
    register_case(case_name("file in tmpfs, restore", 64, one_entry), rounds,
                  [=](benchmark::State &state) { restore_from_tmpfs(state, 64, one_entry); });
}
