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

// Where the entry lies that the thread has written or read last. None if the mode is CD_LOG_OFF.
std::optional<cd_log_place> last_entry();

// What has to happen later because a log may still be replayed. Thread-safe.

// Runs action once no restore can replay the entry at place any more: objects that the program has
// freed live until then, since the re-execution gets the same handles.
void when_forgotten(const cd_log_place &place, std::function<void()> action);

// Runs action when a restore goes back to before the entry at place, the latest first: what the
// program changed in its objects is as it was when the CD began.
void when_restored(const cd_log_place &place, std::function<void()> action);

// The same of a change of one part of an object, of which only the oldest matters: is_undone() says
// whether there is one already.
void when_restored(const cd_log_place &place, Undo undo);
bool is_undone(const Part &part);
// Whether a restore that is under way has yet to undo a change of the part.
bool is_being_undone(const Part &part);

// MPI is about to free an object (a type: notice_end): from now on a restore leaves it alone. If
// MPI refuses, which leaves the handle as it is, object_stays() with what object_goes() gave.
std::vector<UndoList::Change> object_goes(uint64_t handle, int owner);
void object_stays(std::vector<UndoList::Change> &&changes);

// Both around free, which frees what handle names. owner: the number of that Owner, if it is one.
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

// A restore has succeeded; entries have been forgotten; MPI is about to end.
void run_restored(cd_handle cd);
void run_forgotten(uint64_t family, cd_handle root);
void run_all_forgotten();

// MPI has a type for as long as any handle or another type refers to it, and alone knows when the
// last of them goes. From then on a restore leaves this one alone.
void notice_end(MPI_Datatype type);

} // namespace cd::logger
