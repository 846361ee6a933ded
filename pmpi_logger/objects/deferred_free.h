// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/handle_word.h"
#include "objects/undo_list.h"

#include "cd/mpi_log.h"

#include <cstdint>
#include <functional>
#include <mpi.h>
#include <optional>

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

// Must be called before MPI frees an object. A restore then leaves it alone.
void forget_object(uint64_t handle);

// Calls `free`, which frees the object of `handle`.
template <typename Handle, typename Free> int free_object(Handle *handle, const Free &free) {
    forget_object(word_of(*handle));
    return free();
}

// Handles of objects that live on although the program has freed them: one for each free in a log,
// until that log is deleted or a restore gives the object back. Thread-safe.
class FreedHandles {
public:
    // Notes a free that the entry at `place` records. A restore to before it takes the note back.
    // `which` numbers the objects that callbacks of the program freed inside of that call.
    static void add(uint64_t handle, const cd_log_place &place, uint64_t which = 0);
    // Repeats the frees inside of the call whose entry a replay has read. The replay does not run
    // the callbacks that made them.
    static void add_again();
    static bool has(uint64_t handle);
    // Must be called before MPI frees the object of the entry, as its handle may then mean another
    // one. Returns false if a restore has given the object back to the program.
    static bool remove(const cd_log_place &place, uint64_t which = 0);
};

// Run the actions of a successful restore, of deleted entries, and those left at the end of MPI.
void run_restored(cd_handle cd);
void run_forgotten(uint64_t family, cd_handle root);
void run_all_forgotten();

} // namespace cd::logger
