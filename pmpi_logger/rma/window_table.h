// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "rma/window.h"

#include <atomic>
#include <unordered_map>

namespace cd::logger {

// The windows of the process whose memory is separate, those that MPI has freed included as long as
// a log names them; and others that a CD which logs has freed. Thread-safe; a window is used as MPI
// allows.
class WindowTable {
public:
    static WindowTable &instance();

    // The one that the thread means (GoneWindows). nullptr if the handle is no such window's.
    Window *find(MPI_Win handle);
    Window *find(uint64_t number);
    bool is_gone(MPI_Win handle);

    // The one that MPI has freed and that had this handle in Fortran, if the thread means that.
    // nullptr if there is none.
    Window *find_gone(MPI_Fint in_fortran);

    // Numbers it, before MPI uses its memory; and gives it its handle, which takes no memory.
    Window &add(std::unique_ptr<Window> window);
    void name(Window &window, MPI_Win handle);

    // A replay makes it again: its memory is there. Made anew if it was freed when nothing logged.
    Window &reappear(uint64_t number, MPI_Win handle, void *memory, size_t size);

    // MPI has freed it; no log names it any more.
    void unname(const Window &window);
    void erase(uint64_t number);

    // The window over the program's memory there, if all bytes lie in it.
    Window *over(const void *first, size_t bytes);

    // The program is about to free a type: accesses that it describes get a copy of it.
    void keep_type(MPI_Datatype type);

    // nullptr, or why cd cannot be restored: MPI would go on using memory that the restore and the
    // re-execution change.
    const char *hindrance(cd_handle cd);

    // The re-execution of cd says once more where the results of its accesses go.
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
