// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/status.h"
#include "file_store/file_store.h"
#include "os/loaded_objects.h"
#include "ranges/unbound.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace cd {

// Where objects and named regions are in this process. One for the process; thread-safe.
//
// An object is known by its file's name and its build-id. Where a linker has given it none, a
// checksum of its code has to do, which is made when somebody asks.
class MemoryNames : public Addresses {
public:
    static MemoryNames &instance();

    // Gives range a name that means the same range in another process; an empty range takes the
    // name back. May throw std::bad_alloc.
    //
    // left: becomes memory that somebody may know by the name, and that would lose it; then nothing
    // has changed. nullptr: nobody does.
    Status name_region(const char *name, Range range, Range *left = nullptr);

    // Before a store is opened: finds out by what a program without build-id is known, which takes
    // its file. May throw std::bad_alloc.
    Status know_program();

    bool describe(Range &range, StoredName &name, StoredKey &key, Objects objects) override;

    // Where the byte at offset in a named object or region is, and how many follow it there; 0: it
    // is not in this process (yet). May throw std::bad_alloc.
    struct Place {
        uintptr_t address = 0;
        size_t room = 0;
    };
    Place find(format::NameKind kind, const std::string &name, uint64_t offset);

    // Where the region of that name is in this process; empty: there is none (yet).
    Range region(std::string_view name);

    // What is in this process in the place of an object that is not: that of the same file name and
    // another build-id, or the program that runs for a program. "": nothing that this could be said
    // of; it may be loaded later.
    std::string instead_of(format::NameKind kind, const std::string &name);

    // Whether an object of that name and build-id is loaded.
    bool has(const std::string &name);

    // The same of one of that build-id, whatever its name.
    bool has_build(const std::string &name);

    // Whether it is the same object that is known by both names, of which here is in this process.
    bool is_same(const std::string &name, const std::string &here);

private:
    struct Region {
        Range range;
        size_t told = 0; // in which length somebody was told of it

        Range tell() {
            told = std::max(told, range.length());
            return range;
        }
        // What would lose the name.
        Range left_for(Range other) const;
    };

    // The object that range begins in, or nullptr; range ends with it, or before the next one.
    static os::DataSegment *at_begin_of(Range &range, std::vector<os::DataSegment> &segments);

    const std::string &build_of(os::DataSegment &segment);
    std::string name_of(os::DataSegment &segment);
    bool is_named(os::DataSegment &segment, const std::string &name);
    bool is_of_build(os::DataSegment &segment, const std::string &name);

    // Whether is_it(segment) is true for one of those that are loaded, asked in order.
    template <typename IsIt> bool any_segment(const IsIt &is_it);
    bool is_loaded(const std::string &name);
    void refresh();

    std::mutex mutex_; // guards what follows
    std::map<std::string, Region, std::less<>> regions_;
    std::map<uintptr_t, const std::string *> regions_by_address_;
    std::vector<os::DataSegment> segments_; // of objects with build-id
    std::vector<os::DataSegment> others_;
    uint64_t loading_count_ = 0;
    std::string program_checksum_; // "": it has a build-id, or none is known
};

} // namespace cd
