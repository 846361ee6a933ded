// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "cd/cd.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

// What the cases share: memory to keep, lists of ranges, domains. A call that fails ends the
// program, since its time means nothing.

inline void must(bool holds) {
    if (!holds) {
        std::fprintf(stderr, "cd_bench: %s\n", cd_last_error_message());
        std::exit(EXIT_FAILURE);
    }
}

inline void must(int result) { must(result == SUCCESS); }

using List = std::vector<cd_addrspec>;

// A root for the time of a case.
class Root {
public:
    explicit Root(const char *name = "bench", const char *storage_info = nullptr,
                  mpi_log logging = COMM_LOGGING_DISABLED)
        : handle_(create_cd(nullptr, storage_info, logging, name, nullptr)) {
        must(handle_ != nullptr);
    }
    Root(const Root &) = delete;
    Root &operator=(const Root &) = delete;
    ~Root() { commit_cd(handle_); }

    cd_handle handle() const { return handle_; }

private:
    cd_handle handle_;
};

inline cd_handle create_child(cd_handle parent) {
    const cd_handle child = create_cd(parent, nullptr, COMM_LOGGING_INHERIT, nullptr, nullptr);
    must(child != nullptr);
    return child;
}

inline void add(cd_handle cd, const List &list) {
    must(add_to_cd_via_copy(cd, list.data(), static_cast<int>(list.size()), nullptr));
}

inline void remove(cd_handle cd, const List &list) {
    must(delete_from_cd(cd, list.data(), static_cast<int>(list.size())));
}

inline List labelled(List list, addr_type access) {
    for (cd_addrspec &range : list) {
        range.addr_tp = access;
    }
    return list;
}

// Application memory: touched, and in huge pages where the kernel gives them, so that what it is
// compared with is as fast as it can be.
class Memory {
public:
    explicit Memory(size_t size);
    Memory(const Memory &) = delete;
    Memory &operator=(const Memory &) = delete;
    ~Memory();

    std::byte *at(size_t offset = 0) const { return data_ + offset; }
    size_t size() const { return size_; }

private:
    std::byte *data_;
    size_t size_;
};

// The names of the groups say which tables of the report they fill.
void register_first_adds(); // before all others: they need a process that has no memory to reuse
void register_large_data();
void register_small_entries();
void register_threads();
void register_overheads();
void register_file_stores();
void register_opening_stores(); // in processes that have not used the library, too
