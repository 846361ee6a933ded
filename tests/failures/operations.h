// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "cd/cd.h"

#include <array>
#include <cstddef>
#include <cstring>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

namespace faults {

// What one run of an operation works on. Application memory is the same for all runs, since
// addresses are part of what is compared.
struct World {
    static constexpr size_t cells = 64;
    static constexpr size_t cell = 16;
    static constexpr size_t large = size_t{300} << 10; // comes from mapped pages

    static inline std::array<char, cells * cell> memory;
    static inline std::vector<char> large_memory = std::vector<char>(large);

    cd_handle root = nullptr;
    cd_handle child = nullptr;
    std::array<cd_handle, 3> siblings = {};
    int file = -1;

    static cd_addrspec range(size_t offset, size_t length, addr_type access,
                             addr_scope scope = CD_GLOBAL) {
        return {memory.data() + offset, length, access, scope};
    }
    static cd_addrspec all_of_large(addr_type access) {
        return {large_memory.data(), large, access, CD_GLOBAL};
    }

    // The first half of each cell from first up to last, as one entry each. Not on the heap, where
    // the test's own requests would be the ones that fail.
    struct List {
        std::array<cd_addrspec, cells> ranges;
        int count = 0;
    };
    static List halves(size_t first, size_t last, addr_type access, addr_scope scope = CD_GLOBAL) {
        List list = {};
        for (size_t i = first; i < last; ++i) {
            list.ranges[static_cast<size_t>(list.count++)] =
                range(i * cell, cell / 2, access, scope);
        }
        return list;
    }

    // Whole cells, one behind the other.
    static List neighbours(size_t first, size_t last, addr_type access) {
        List list = {};
        for (size_t i = first; i < last; ++i) {
            list.ranges[static_cast<size_t>(list.count++)] = range(i * cell, cell, access);
        }
        return list;
    }

    static void scribble(char value) {
        memory.fill(value);
        std::memset(large_memory.data(), value, large);
    }
};

struct Case {
    std::string name;
    const char *storage_info;
    std::function<void(World &)> prepare;
    std::function<int(World &)> operate;
    // In files an operation that is over gives room back: if it cannot note that, the room is lost
    // until the file is opened again, and nothing else.
    bool in_file = false;
    // Has written memory when it writes down what that means, which can still fail.
    bool writes_memory = false;
    // Fills maps of Abseil's, which lose what they hold when there is no memory for one more node,
    // or makes what is kept for good.
    bool leaves_blocks = false;
    cd_error error = CD_ERROR_NO_MEMORY;
};

inline std::ostream &operator<<(std::ostream &out, const Case &one) { return out << one.name; }

std::vector<Case> operations_in_memory();
// Operations that concern no CD; they are the same for stores in files.
std::vector<Case> operations_of_the_process();

// Their stores are in store_folder(), which goes with the process.
std::vector<Case> operations_in_files();
const std::string &store_folder();

// A root with a child that an earlier process seems to have left there, and its return.
void leave_a_stored_root(World &world);
cd_handle create_left();
void end_without_trace(cd_handle root); // as the end of the process does

// Expects that a call of the library succeeds.
void need(int result);

int add(cd_handle cd, const World::List &list, const char *storage_info = nullptr);

} // namespace faults
