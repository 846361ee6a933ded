// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "disk.h"
#include "os/system.h"
#include "tape.h"

#include <cerrno>
#include <limits>
#include <map>
#include <set>
#include <string>

namespace crash {

// The call that fails, is interrupted or transfers less.
struct Fault {
    enum class Kind {
        none,
        fails, // with error, and does nothing
        fails_from_then_on,
        interrupted,    // a transfer or a sync, which nothing else can be
        transfers_less, // a read or write; others do what they were asked for
    };
    Kind kind = Kind::none;
    size_t at = 0; // number of the call, from 0
    int error = 0;
    size_t times = 1; // fails: so many calls, one after the other
};

// An operating system whose only disk is a Disk. Everything that happens to it is recorded. The
// files of the program are beside it: they have positions and nothing else.
class DiskSystem : public cd::os::System {
public:
    explicit DiskSystem(Disk &disk) : disk_(disk) {}

    void set_fault(const Fault &fault) { fault_ = fault; }
    void set_restart(const char *value) { restart_ = value; }
    void set_direct(bool possible) { direct_ = possible; }
    // Whatever would make a file longer than that at once finds the disk full.
    void let_files_grow_by(off_t most) { longest_growth_ = most; }
    size_t calls() const { return calls_; }
    bool fault_happened() const { return fault_.kind != Fault::Kind::none && calls_ > fault_.at; }
    Tape &tape() { return tape_; }
    size_t open_files() const { return open_.size(); }
    // Some file keeps room that it has got of more, which there was not.
    bool holds_room_back() const { return !too_long_.empty(); }

    // The descriptor of a slot of the model, and the inode that it names in each process.
    static int descriptor_of(int slot) { return 500 + slot; }
    static ino_t inode_of(int slot) { return 70'000 + static_cast<ino_t>(slot); }

    off_t seek(int fd, off_t offset, int whence) override;
    int identify(int fd, cd::os::FileIdentity &identity) override;
    int open_at(int directory, const char *name, int flags, mode_t mode) override;
    int close(int fd) override;
    int status(int fd, cd::os::FileStatus &status) override;
    int make_directory_at(int directory, const char *name, mode_t mode) override;
    int link_at(int directory, const char *from, const char *to) override;
    int rename_at(int directory, const char *from, const char *to) override;
    int unlink_at(int directory, const char *name) override;
    ssize_t read_at(int fd, void *to, size_t length, off_t offset) override;
    ssize_t write_at(int fd, const void *from, size_t length, off_t offset) override;
    int open_direct(int fd, uint64_t &pays_from) override;
    int allocate(int fd, off_t offset, off_t length) override;
    int truncate(int fd, off_t size) override;
    // What it has reached by then is among the states anyway.
    void *map_file(int, size_t) override { return nullptr; } // all that is written is seen here
    int begin_sync(int, off_t, off_t) override { return 0; }
    int sync_data(int fd) override;
    int sync_all(int fd) override;
    int lock_open_file(int fd, pid_t &holder) override;
    // One after the other, what happens can happen again.
    int start_thread(pthread_t &, void *(*)(void *), void *) override { return EAGAIN; }
    pid_t process() override { return 4711; }
    uid_t user() override { return 1000; }
    int random(void *to, size_t length) override;
    void warn(const char *line) override { warnings_.emplace_back(line); }
    const char *environment(const char *name) override;

    const std::vector<std::string> &warnings() const { return warnings_; }

private:
    bool fails(bool can_be_interrupted = false);
    bool fails_to_look(bool can_be_interrupted = false);
    int walk(int directory, const std::string &path, std::string &last) const;
    int find(int directory, const char *path) const;
    void record(Event event);
    void change(Change change);
    int force(int fd);

    Disk &disk_;
    Tape tape_;
    Fault fault_;
    const char *restart_ = nullptr;
    bool direct_ = false; // all that is whole blocks goes past the page cache
    off_t longest_growth_ = std::numeric_limits<off_t>::max();
    size_t calls_ = 0;
    int next_descriptor_ = 1000;
    std::map<int, int> open_;          // descriptor to inode
    std::set<int> open_direct_;        // those for whole sectors only
    std::map<int, uint64_t> too_long_; // inodes that should be as long as they were
    std::map<int, off_t> positions_;   // of the program's files, by descriptor
    std::vector<std::string> warnings_;
};

} // namespace crash
