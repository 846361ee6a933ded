// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cd {

// A descriptor's position at the CD's point in time, and which file it was then.
struct FilePosition {
    int descriptor = -1;
    dev_t device = 0;
    ino_t inode = 0;
    off_t position = 0;
    int64_t born = 0; // as of os::FileIdentity; 0: not known
};

// How likely two positions are of one file, from least to most. A reused inode has another time of
// birth, and a file system that was mounted again may have another device number.
enum class Sameness { none, inode_alone, all_but_device, all };

inline Sameness sameness(const FilePosition &one, const FilePosition &other) {
    const bool births_known = one.born != 0 && other.born != 0;
    if (one.inode != other.inode || (births_known && one.born != other.born)) {
        return Sameness::none;
    }
    if (one.device == other.device) {
        return Sameness::all;
    }
    return births_known ? Sameness::all_but_device : Sameness::inode_alone;
}

// Finds the position of the file that `now` names; of several the first that fits best, since
// descriptors of another process mean nothing. Returns the end if there is none.
inline std::vector<FilePosition>::iterator find_same_file(std::vector<FilePosition> &files,
                                                          const FilePosition &now) {
    const auto best = std::ranges::max_element(
        files, {}, [&](const FilePosition &file) { return sameness(file, now); });
    const bool found = best != files.end() && sameness(*best, now) != Sameness::none;
    return found ? best : files.end();
}

// The file positions of one CD, in order of descriptor.
class FileTable {
public:
    auto begin() const { return files_.begin(); }
    auto end() const { return files_.end(); }
    size_t size() const { return files_.size(); }

    bool holds(int descriptor) const {
        const auto at = where(descriptor);
        return at != files_.end() && at->descriptor == descriptor;
    }

    // Adds a position unless the descriptor is held: the older position wins. May throw
    // std::bad_alloc unless there is room.
    void add(const FilePosition &file) {
        if (!holds(file.descriptor)) {
            files_.insert(where(file.descriptor), file);
        }
    }

    void reserve_room(size_t count) { files_.reserve(files_.size() + count); }

    void remove(int descriptor) { files_.erase(where(descriptor)); }

    // Replaces all positions; the descriptors are the same.
    void replace(std::vector<FilePosition> &files) noexcept { files_.swap(files); }

private:
    std::vector<FilePosition>::const_iterator where(int descriptor) const {
        return std::ranges::lower_bound(files_, descriptor, {}, &FilePosition::descriptor);
    }

    std::vector<FilePosition> files_;
};

} // namespace cd
