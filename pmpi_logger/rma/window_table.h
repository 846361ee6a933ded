// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "rma/window.h"

#include <atomic>
#include <unordered_map>

namespace cd::logger {

// The windows of the process with separate memory, including freed ones that a log still names.
// Thread-safe. The threads use a window as MPI allows.
class WindowTable {
public:
    static WindowTable &instance();

    // Returns the window that the thread means (FreedWindows). nullptr if there is none.
    Window *find(MPI_Win handle);
    Window *find(uint64_t number);
    bool is_freed(MPI_Win handle);

    // Returns the freed window that had this handle in Fortran, if the thread means that.
    // Otherwise nullptr.
    Window *find_freed(MPI_Fint in_fortran);

    // Add and number a window before MPI uses its memory; then name it, which allocates nothing.
    Window *add(std::unique_ptr<Window> window); // of nullptr: nullptr
    void name(Window &window, MPI_Win handle);

    // unname() notes that MPI has freed a window, erase() that no log names it any more.
    void unname(const Window &window);
    void erase(uint64_t number);

    // Returns the window that covers all these bytes of the program, or nullptr.
    Window *over(const void *first, size_t bytes);

    // Must be called before a type is freed. Accesses that it describes get a copy of it.
    void keep_type(MPI_Datatype type);

    // Returns nullptr, or why `cd` cannot be restored: MPI would use memory that the restore and
    // the re-execution change.
    const char *hindrance(cd_handle cd);

    // Drops the accesses that the re-execution of `cd` repeats.
    void restored(cd_handle cd);

    uint64_t next_id() { return ++ids_; }

private:
    std::mutex mutex_;
    std::unordered_map<uint64_t, std::unique_ptr<Window>> numbered_;
    std::unordered_map<uint64_t, Window *> named_; // that MPI has
    uint64_t numbers_ = 0;
    std::atomic<uint64_t> ids_ = 0;
};

} // namespace cd::logger
