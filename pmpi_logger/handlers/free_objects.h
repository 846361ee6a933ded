// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/handle_word.h"
#include "handlers/blocking.h"
#include "handlers/object_state.h"
#include "log_entry/writer.h"
#include "mpi/differences.h"
#include "objects/callback_effects.h"
#include "objects/deferred_free.h"
#include "objects/moved_types.h"
#include "payload/comm_cache.h"
#include "payload/datatype_cache.h"
#include "record_all/record_all.h"
#include "replay/divergence.h"
#include "requests/request_table.h"

namespace cd::logger {

// Frees objects. An object that a log may still need lives on: a re-execution creates it from the
// log and gets the same handle.
class ObjectFree : public MovesData {
public:
    template <Fn F, typename Handle> static int call(const void *site, Handle *handle) {
        if (handle == nullptr) {
            return call_mpi<F>(handle); // which is an error
        }
        CallbackEffects *const inner = CallbackEffects::current();
        const bool is_logged = !passes_through(Logging::mode());
        if (!is_logged && (inner == nullptr || !can_wait<F>(*handle))) {
            return free_now<F>(handle);
        }
        if (!can_wait<F>(*handle)) {
            return Blocking::log<F>(site, handle);
        }
        if (is_logged && RecordAll::records()) {
            return Blocking::call_by<F>(free_now<F, Handle>, site, handle);
        }
        const Handle freed = *handle;
        if (CallbackEffects::are_of_undo()) { // the re-execution has it again
            *handle = null_of<F, Handle>();
            return MPI_SUCCESS;
        }
        if (is_freed_before<F>(freed)) {
            return raise(MPI_COMM_NULL, MPI_ERR_ARG);
        }
        if constexpr (frees_comm<F>()) {
            if (const int failure = failure_of_freed(freed); failure != MPI_SUCCESS) {
                return failure;
            }
        }
        const Call call = decode_data<F>(site, handle);
        if (is_logged && Logging::mode() == CD_LOG_REPLAYING) {
            const int result = Blocking::replay(call, false);
            if (result == MPI_SUCCESS) {
                freed_again(word_of(freed));
            }
            return result == run_live ? ObjectFree::call<F>(site, handle) : result;
        }
        Waiting<Handle> object = {freed, freed, 0};
        if constexpr (F == Fn::MPI_Type_free) {
            object = {freed, MovedTypes::recorded(freed), MovedTypes::number_of(freed)};
        }
        *handle = null_of<F, Handle>();
        if (!is_logged) { // part of the call around it
            inner->add([object](const CallbackEffects::Entry &entry) {
                entry.again ? freed_again(word_of(object.freed), entry.which)
                            : wait<F>(object, entry);
            });
            return MPI_SUCCESS;
        }
        if constexpr (F == Fn::MPI_Comm_disconnect && disconnects_in_a_barrier) {
            const ReentryGuard inside;
            real<Fn::MPI_Barrier>(freed); // with the ranks that have no logging CD
        }
        cd_log_place place = {};
        cd_log_here(&place);
        EntryWriter writer(call, MPI_SUCCESS);
        writer.add_outputs(call);
        if (writer.write() != nullptr) {
            wait<F>(object, {place, false, 0});
        }
        return MPI_SUCCESS;
    }

    // Frees the communicator at once.
    template <Fn F> static int free_comm(MPI_Comm *comm) {
        forget_comm_facts(); // before another thread can be given the handle
        RequestTable::instance().forget_comm(*comm);
        const int result = free_object(comm, [&] { return call_mpi<F>(comm); });
        forget_comm_facts(); // that the program's callbacks have asked for meanwhile
        return result;
    }

    // Frees the type of MovedTypes, if it still exists.
    static void free_moved_type(uint64_t number);

    // Calls the delete functions of a communicator that is about to be freed. Returns the error of
    // one that refuses, or that MPI has raised if the handle is none.
    static int failure_of_freed(MPI_Comm comm) {
        {
            const ReentryGuard inside;
            if (const int failure = failure_of(comm); failure != MPI_SUCCESS) {
                return failure;
            }
        }
        return delete_attributes(comm);
    }

    // Objects that MPI refuses to free are refused at once.
    template <Fn F, typename Handle> static bool can_wait(Handle handle) {
        const bool is_one = may_name(handle, null_of<F, Handle>());
        if constexpr (frees_comm<F>()) {
            return is_one && handle != MPI_COMM_WORLD && handle != MPI_COMM_SELF;
        } else if constexpr (F == Fn::MPI_Type_free) {
            return is_one && !is_basic(handle);
        } else if constexpr (F == Fn::MPI_Group_free) {
            return is_one && handle != MPI_GROUP_EMPTY;
        } else if constexpr (F == Fn::MPI_Op_free) {
            return is_one && !is_predefined_operation(word_of(handle));
        } else if constexpr (frees_keyval<F>()) {
            return Keyvals::has(Keyvals::kind<F>(), handle);
        } else {
            return is_one;
        }
    }

private:
    // An object that is freed when no log needs it any more. `recorded` and `moved` are its handle
    // and its number in MovedTypes.
    template <typename Handle> struct Waiting {
        Handle freed;
        Handle recorded;
        uint64_t moved;
    };

    // Delays the free until the entry is deleted.
    template <Fn F, typename Handle>
    static void wait(const Waiting<Handle> &object, const CallbackEffects::Entry &entry) {
        FreedHandles::add(word_of(object.freed), entry.place, entry.which);
        when_forgotten(entry.place, [object, entry] {
            if (!FreedHandles::remove(entry.place, entry.which)) {
                return; // the re-execution has not freed it yet
            }
            free_moved_type(object.moved);
            Handle last = object.recorded;
            if (last == null_of<F, Handle>()) {
                return; // the log of the type was deleted before
            }
            if constexpr (F == Fn::MPI_Comm_disconnect) {
                // Ranks delete logs at different times, and a disconnect waits for the others.
                free_comm<Fn::MPI_Comm_free>(&last);
            } else {
                free_now<F>(&last);
            }
        });
    }

    template <Fn F, typename Handle> static int free_now(Handle *handle) {
        const auto free = [&] { return call_mpi<F>(handle); };
        if constexpr (F == Fn::MPI_Type_free) {
            // Nobody uses the logged type any more.
            MPI_Datatype recorded = MovedTypes::take(MovedTypes::number_of(*handle)).recorded;
            const uint64_t freed_too = MovedTypes::recorded_is_freed(*handle);
            const int result = free_type(handle);
            free_moved_type(freed_too);
            if (recorded != MPI_DATATYPE_NULL) {
                free_type(&recorded);
            }
            return result;
        } else if constexpr (frees_comm<F>()) {
            return free_comm<F>(handle);
        } else if constexpr (F == Fn::MPI_Info_free) {
            return free_object(handle, free);
        } else if constexpr (frees_keyval<F>()) {
            const int key = *handle;
            const int result = free();
            if (*handle != key) {
                Keyvals::remove(Keyvals::kind<F>(), key);
            }
            return result;
        } else {
            return free();
        }
    }

    // Returns true if the program has a copy of the handle of an object that lives on for the log
    // only. Handles of other kinds are references, each of which is freed.
    template <Fn F, typename Handle> static bool is_freed_before(Handle handle) {
        return (frees_comm<F>() || F == Fn::MPI_Op_free || F == Fn::MPI_Info_free ||
                frees_keyval<F>()) &&
               FreedHandles::has(word_of(handle));
    }

    template <Fn F> static constexpr bool frees_comm() {
        return F == Fn::MPI_Comm_free || F == Fn::MPI_Comm_disconnect;
    }

    template <Fn F> static constexpr bool frees_keyval() {
        return F == Fn::MPI_Comm_free_keyval || F == Fn::MPI_Type_free_keyval ||
               F == Fn::MPI_Win_free_keyval || F == Fn::MPI_Keyval_free;
    }

    template <Fn F, typename Handle> static Handle null_of() {
        if constexpr (frees_comm<F>()) {
            return MPI_COMM_NULL;
        } else if constexpr (F == Fn::MPI_Type_free) {
            return MPI_DATATYPE_NULL;
        } else if constexpr (F == Fn::MPI_Group_free) {
            return MPI_GROUP_NULL;
        } else if constexpr (F == Fn::MPI_Op_free) {
            return MPI_OP_NULL;
        } else if constexpr (F == Fn::MPI_Info_free) {
            return MPI_INFO_NULL;
        } else if constexpr (F == Fn::MPI_Errhandler_free) {
            return MPI_ERRHANDLER_NULL;
        } else {
            return MPI_KEYVAL_INVALID;
        }
    }

    static int free_type(MPI_Datatype *type);
    static void freed_again(uint64_t handle, uint64_t which = 0);
};

// MPI_Free_mem: a re-execution gets the same memory again.
class MemoryFree : public MovesData {
public:
    template <Fn F> static int call(const void *site, void *memory) {
        const int mode = Logging::mode();
        CallbackEffects *const inner = CallbackEffects::current();
        const auto wait = [memory](const cd_log_place &place) {
            when_forgotten(place, [memory] { real<F>(memory); });
        };
        if (passes_through(mode) && inner == nullptr) {
            return call_mpi<F>(memory);
        }
        if (passes_through(mode)) {
            inner->add([wait](const CallbackEffects::Entry &entry) {
                if (!entry.again) {
                    wait(entry.place);
                }
            });
            return MPI_SUCCESS;
        }
        const auto free = [&wait](void *freed) {
            cd_log_place place = {};
            if (RecordAll::records()) {
                return call_mpi<F>(freed);
            }
            cd_log_here(&place);
            wait(place);
            return MPI_SUCCESS;
        };
        return Blocking::call_by<F>(free, site, memory);
    }
};

} // namespace cd::logger
