// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "file_store/load.h"
#include "in_process.h"
#include "os/system.h"

#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace damage {

// A directory that goes at its end.
class Directory {
public:
    Directory();
    Directory(const Directory &) = delete;
    Directory &operator=(const Directory &) = delete;
    ~Directory();

    std::string path(const std::string &name) const { return path_ + "/" + name; }

private:
    std::string path_;
};

using processes::in_process;

// Keeps what the library says on standard error.
class Listener : public cd::os::System {
public:
    void warn(const char *line) override { heard += line; }
    std::string heard;
};

// The program whose stores are damaged: memory in its data and on the heap, all of one step.
class Program {
public:
    explicit Program(const std::string &directory, const std::string &keys = "");

    // Attaches or begins. "" or the error.
    std::string open(const char *name = "root");
    // So many advances more, with a child that is committed in each; a child stays open at last.
    std::string run(int advances);
    // "" or the error.
    std::string restore();
    // -1: torn
    int step() const;
    void set(int step);

private:
    std::string storage_;
    void *root_ = nullptr;
    std::vector<unsigned char> heap_;
    int done_ = 0;
};

// A state as bytes, so that states can be compared.
std::string text_of(const cd::State &state);

// A store, in memory.
class Specimen {
public:
    // As the program leaves it after so many advances. keep: points in time; more than one have
    // metadata that are there twice.
    explicit Specimen(int advances, int keep, const std::string &keys = "");

    const cd::File &file() const { return file_; }
    size_t size() const { return bytes_.size(); }
    const std::vector<std::byte> &bytes() const { return bytes_; }
    const cd::Loaded &loaded() const { return loaded_; }
    const std::string &newest() const { return newest_; }
    // Up to the newest record, each also after going back to its older points in time.
    const std::set<std::string> &states() const { return states_; }

    void put(size_t offset, const std::byte *bytes, size_t length);
    void cut(size_t length);
    // Writes the undamaged content again.
    void heal();

private:
    void collect_states(const cd::Superblock &header);

    std::vector<std::byte> bytes_;
    cd::File file_;
    cd::Loaded loaded_;
    std::string newest_;
    std::set<std::string> states_;
    size_t changed_begin_ = 0;
    size_t changed_end_ = 0;
};

} // namespace damage
