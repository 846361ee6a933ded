// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "lifetimes/undo_list.h"

#include "cd/mpi_log.h"

#include <functional>

namespace cd::logger {

// What has to happen later because a log may still be replayed. Thread-safe.

// Runs action once no restore can replay the entry at place any more: objects that the program has
// freed live until then, since the re-execution gets the same handles.
void when_forgotten(const cd_log_place &place, std::function<void()> action);

// Runs action when a restore goes back to before the entry at place, the latest first: what the
// program changed in its objects is as it was when the CD began.
void when_restored(const cd_log_place &place, std::function<void()> action);

// The same of a change of one part of an object, of which only the oldest matters: is_undone() says
// whether there is one already. From when MPI is about to free the object on, it is left alone.
void when_restored(const cd_log_place &place, Undo undo);
bool is_undone(const Part &part);
void object_goes(uint64_t handle);

// A restore has succeeded; entries have been forgotten; MPI is about to end.
void run_restored(cd_handle cd);
void run_forgotten(uint64_t family, cd_handle root);
void run_all_forgotten();

} // namespace cd::logger
