// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "content.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace crash {

constexpr uint64_t sector = 512;

// One thing that a process did to a disk.
struct Change {
    enum class Kind { write, grow, cut, link, unlink, rename };
    Kind kind = Kind::write;
    int inode = 0; // the file, or the directory that holds the name
    uint64_t offset = 0;
    std::shared_ptr<const std::vector<std::byte>> bytes = {}; // write
    uint64_t size = 0;                                        // grow, cut
    std::string name = {};                                    // link, unlink, rename
    std::string to = {};                                      // rename
    int target = 0;                                           // link, rename: what has the name
};

// Files and directories, each twice: as processes see them, and as they are known to be on the
// medium. In between are the changes that nobody has forced to the medium yet.
class Disk {
public:
    static constexpr int root = 0;

    Disk();

    // The number that the next file or directory gets.
    int next_inode() const { return static_cast<int>(inodes_.size()); }
    int add_inode(bool directory, int parent);

    void make(const Change &change);

    // Everything that was done to the inode is on the medium now.
    void force(int inode);
    // The system could not do that. As Linux does, it takes what was written for clean: it may be
    // on the medium or not, for ever, and is only forced again where it is written again.
    void fail_to_force(int inode);

    // The state of files as processes see it.
    bool is_directory(int inode) const { return inodes_[index(inode)].directory; }
    int parent(int inode) const { return inodes_[index(inode)].parent; }
    int find(int directory, const std::string &name) const; // -1: no such name
    uint64_t names(int inode) const;
    const Content &content(int inode) const { return inodes_[index(inode)].now; }

    // Something that was not forced: a change, of a write one part.
    struct Part {
        size_t change = 0; // number in unforced()
        uint64_t begin = 0;
        uint64_t end = 0;
    };
    const std::vector<Change> &unforced() const { return unforced_; }

    // The disk that is found after a crash: what was forced, and these parts in their order.
    Disk after_crash(const std::vector<Part> &parts) const;

private:
    struct Inode {
        bool directory = false;
        int parent = root;
        Content now;
        Content medium;
        std::map<std::string, int> names_now;
        std::map<std::string, int> names_on_medium;
    };

    static size_t index(int inode) { return static_cast<size_t>(inode); }
    static void rename(std::map<std::string, int> &names, const Change &change);
    void force_file(int inode);
    void take_from_given_up(int inode, uint64_t begin, uint64_t end);
    void forget_unreachable();

    std::vector<Inode> inodes_;
    std::vector<Change> unforced_;
    std::vector<bool> given_up_; // for each of these
};

} // namespace crash
