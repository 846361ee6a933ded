// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/handle_word.h"
#include "objects/undo_list.h"

#include "cd/mpi_log.h"

#include <functional>
#include <mpi.h>
#include <optional>
#include <utility>
#include <vector>

namespace cd::logger {

// Returns the place of the entry that this thread wrote or read last. Nothing if no CD logs.
std::optional<cd_log_place> last_entry();

// The following keep actions until a log is deleted or a restore happens. Thread-safe.

// Runs `action` once no restore can replay the entry at `place` any more. Objects that the program
// has freed live until then, since the re-execution gets the same handles.
void when_forgotten(const cd_log_place &place, std::function<void()> action);

// Runs `action` when a restore goes back to before the entry at `place`, the latest action first.
// The program's objects then have the state in which the CD began.
void when_restored(const cd_log_place &place, std::function<void()> action);

// Takes back a change of one part of an object. Only the oldest change of a part matters, so
// callers ask is_undone() first, which returns true if an older one is there.
void when_restored(const cd_log_place &place, Undo undo);
bool is_undone(const Part &part);
// Returns true if the restore that is under way still has to undo a change of the part.
bool is_being_undone(const Part &part);

// Must be called before MPI frees an object (for types: notice_end); a restore then leaves it
// alone. If MPI refuses, pass the result of object_goes() to object_stays().
std::vector<UndoList::Change> object_goes(uint64_t handle, int owner);
void object_stays(std::vector<UndoList::Change> &&changes);

// Calls `free`, which frees the object of `handle`. `owner` is the number of its Owner, or 0.
template <typename Handle, typename Free>
int free_object(Handle *handle, const Free &free, int owner = 0) {
    const uint64_t object = word_of(*handle);
    std::vector<UndoList::Change> changes = object_goes(object, owner);
    const int result = free();
    if (word_of(*handle) == object) {
        object_stays(std::move(changes));
    }
    return result;
}

// Run the actions of a successful restore, of deleted entries, and those left at the end of MPI.
void run_restored(cd_handle cd);
void run_forgotten(uint64_t family, cd_handle root);
void run_all_forgotten();

// Makes restores leave a type alone once MPI has freed it. Only MPI knows when its last handle, or
// the last type that refers to it, goes.
void notice_end(MPI_Datatype type);

} // namespace cd::logger
