// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace cd::logger {

// A recorded log on disk; docs/inside/format-log.md has the format. Entries are collected in
// blocks, which are written with their checksums. A failure is said once, and ends the writing.
class LogFile {
public:
    LogFile() = default;
    LogFile(const LogFile &) = delete;
    LogFile &operator=(const LogFile &) = delete;
    ~LogFile();

    // Makes `directory` if necessary and begins the file name.cdmpilog in it, replacing that of an
    // earlier run. Fails if another process has it open.
    void open(const std::string &directory, const std::string &name, int rank);

    void append(const void *entry, uint64_t size);
    // Replaces the beginning of the last entry. Returns false if it was written to the file
    // already.
    bool change_last(const void *beginning, size_t size);
    void miss(); // an entry that could not be recorded
    // Writes what there is to the file. Unless it `waits`, not while another call is under way.
    void flush(bool waits);
    void close();

private:
    void begin(int rank);
    bool is_open() const { return descriptor_ >= 0; }
    bool is_ours() const;
    bool add_to_block(const void *entry, uint64_t size); // false if there is no memory
    void write_what_there_is();
    void write_block();
    bool write_all(const void *data, size_t size);
    void give_up(const char *doing);

    std::mutex mutex_; // the thread that ends the process flushes all files
    std::string path_;
    int descriptor_ = -1;
    // The process and the file that the descriptor belongs to: forked children have a copy, and a
    // program may close descriptors that it did not open.
    pid_t process_ = 0;
    dev_t device_ = 0;
    ino_t inode_ = 0;
    std::vector<std::byte> block_;
    std::optional<size_t> last_; // where in the block the last entry begins
    uint64_t entries_ = 0;       // so far
    uint64_t missed_ = 0;
    uint64_t missed_written_ = 0; // what the last block says
};

} // namespace cd::logger
