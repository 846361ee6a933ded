// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/status.h"
#include "file_store/file_store.h"
#include "os/loaded_objects.h"

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace cd {

// Knows where objects and named regions lie in this process. One for the process; thread-safe.
// An object's name is its file's name and its build-id, by which it is known under other file
// names. Two loaded objects of one build-id count as objects without one.
class MemoryNames : public Addresses {
public:
    static MemoryNames &instance();

    // Gives range a name that means the same range in another process. An empty range removes the
    // name. May throw std::bad_alloc.
    //
    // unnamed: becomes memory that stores may know by this name and that would lose it; then
    // nothing has changed. nullptr: changes the name in any case.
    Status name_region(const char *name, Range range, Range *unnamed = nullptr);

    Status describe(Range &range, StoredName &name, StoredKey &key) override;

    // Finds the byte at offset in a named object or region, and how many bytes follow it there. May
    // throw std::bad_alloc.
    struct Place {
        uintptr_t address = 0; // 0: it is not in this process (yet)
        size_t room = 0;
    };
    Place find(format::NameKind kind, const std::string &name, uint64_t offset);

    // Returns where the region lies in this process; empty: none has this name (yet).
    Range region(std::string_view name);

    // Tells which object of this process has the build-id of a stored name. May throw
    // std::bad_alloc.
    struct Loaded {
        bool is_here = false;
        // Else the object of the same file name and another build-id, or the running program in the
        // place of another program; "" if there is none.
        std::string instead;
    };
    Loaded look_up(format::NameKind kind, const std::string &name);

    static bool are_of_one_build(std::string_view one, std::string_view other);

private:
    struct Region {
        Range range;
        bool reported = false; // stores may know it

        Range report() {
            reported = true;
            return range;
        }
    };

    const os::DataSegment *segment_at_begin_of(Range &range) const;
    void refresh();

    std::mutex mutex_; // guards what follows
    std::map<std::string, Region, std::less<>> regions_;
    std::map<uintptr_t, const std::string *> regions_by_address_;
    std::vector<os::DataSegment> segments_; // in order of address
    uint64_t loading_count_ = 0;
};

} // namespace cd
