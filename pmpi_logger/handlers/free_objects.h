// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/handle_word.h"
#include "handlers/blocking.h"
#include "handlers/object_state.h"
#include "objects/deferred_free.h"
#include "objects/inner_frees.h"
#include "payload/comm_cache.h"
#include "payload/datatype_cache.h"
#include "record_all/record_all.h"
#include "replay/divergence.h"
#include "requests/request_table.h"
#include "rma/window_table.h"

namespace cd::logger {

// Frees objects. An object that a log may still need lives on: a re-execution creates it from the
// log and gets the same handle.
class ObjectFree : public MovesData {
public:
    template <Fn F, typename Handle> static int call(const void *site, Handle *handle) {
        if (handle == nullptr) {
            return call_mpi<F>(handle); // which is an error
        }
        if (passes_through(Logging::mode())) {
            return free_unlogged<F>(handle);
        }
        if (!can_wait<F>(*handle)) {
            return Blocking::log<F>(site, handle);
        }
        if constexpr (F == Fn::MPI_Comm_free || F == Fn::MPI_Comm_disconnect) {
            const ReentryGuard inside;
            if (const int failure = failure_of(*handle); failure != MPI_SUCCESS) {
                return failure;
            }
        }
        Call call = decode_data<F>(site, handle);
        if (RecordAll::records()) {
            const int result = free_now<F>(handle);
            record(call, result);
            return result;
        }
        const Handle freed = *handle;
        if (is_freed_before<F>(freed)) {
            return raise(MPI_COMM_NULL, MPI_ERR_ARG);
        }
        int refused = MPI_SUCCESS;
        if constexpr (F == Fn::MPI_Comm_free || F == Fn::MPI_Comm_disconnect) {
            refused = delete_attributes(freed);
        }
        uint64_t moved = 0;
        if constexpr (F == Fn::MPI_Type_free) {
            moved = MovedTypes::number_of(freed);
        }
        // Asked before delete functions, which may call MPI and end the replay.
        if (Logging::mode() == CD_LOG_REPLAYING) {
            const int result = replay(call, refused);
            if (result == MPI_SUCCESS) {
                freed_again(word_of(freed));
            }
            return result == run_live ? ObjectFree::call<F>(site, handle) : result;
        }
        if (refused != MPI_SUCCESS) {
            record(call, refused);
            return refused;
        }
        free_with_log<F>(call, handle, moved);
        return MPI_SUCCESS;
    }

    // Frees the object at once. `owner`: its number, if it has one.
    template <Fn F> static int free_comm(MPI_Comm *comm, int owner = 0) {
        forget_comm_facts(); // before another thread can be given the handle
        RequestTable::instance().comm_is_gone(*comm);
        const int result = free_object(
            comm, [&] { return call_mpi<F>(comm); }, owner);
        forget_comm_facts(); // that the program's callbacks have asked for meanwhile
        return result;
    }

    // Frees the type of MovedTypes, if it still exists.
    static void free_moved_type(uint64_t number);

private:
    // Frees without a log, or for MPI itself.
    template <Fn F, typename Handle> static int free_unlogged(Handle *handle) {
        InnerCalls *const inner = InnerCalls::current();
        return inner != nullptr && can_wait<F>(*handle) ? free_inside<F>(*inner, handle)
                                                        : free_now<F>(handle);
    }

    // Frees the object for the program at once, and for MPI when no log needs it any more.
    template <Fn F, typename Handle>
    static void free_with_log(const Call &call, Handle *handle, uint64_t moved) {
        const Handle freed = *handle;
        cd_log_place place = {};
        cd_log_here(&place);
        if constexpr (F == Fn::MPI_Comm_disconnect) {
            let_others_disconnect(freed);
        }
        *handle = null_of<F, Handle>();
        if (record(call, MPI_SUCCESS)) {
            Handle recorded = freed;
            if constexpr (F == Fn::MPI_Type_free) {
                recorded = MovedTypes::recorded(freed);
            }
            wait<F>(freed, recorded, moved, {place, false, 0});
        }
    }

    // Frees inside a delete function of the program. Attributes of objects that a restore leaves
    // alone are the restore's business.
    template <Fn F, typename Handle> static int free_inside(InnerCalls &inner, Handle *handle) {
        const Handle freed = *handle;
        Handle recorded = freed;
        uint64_t moved = 0;
        if (!InnerCalls::are_of_undo()) {
            if (is_freed_before<F>(freed)) {
                return raise(MPI_COMM_NULL, MPI_ERR_ARG);
            }
            if constexpr (F == Fn::MPI_Comm_free || F == Fn::MPI_Comm_disconnect) {
                if (const int refused = delete_attributes(freed); refused != MPI_SUCCESS) {
                    return refused;
                }
            }
            if constexpr (F == Fn::MPI_Type_free) {
                moved = MovedTypes::number_of(freed);
                recorded = MovedTypes::recorded(freed);
            }
        }
        *handle = null_of<F, Handle>();
        inner.add([=](const InnerCalls::Entry &entry) {
            if (!entry.again) {
                wait<F>(freed, recorded, moved, entry);
                return;
            }
            freed_again(word_of(freed), entry.which);
        });
        return MPI_SUCCESS;
    }

    // Delays the free until the entry is deleted.
    template <Fn F, typename Handle>
    static void wait(Handle freed, Handle recorded, uint64_t moved,
                     const InnerCalls::Entry &entry) {
        FreedHandles::add(word_of(freed), entry.place, entry.which);
        when_forgotten(entry.place, [recorded, moved, entry] {
            if (!FreedHandles::remove(entry.place, entry.which)) {
                return; // the re-execution has not freed it yet
            }
            Handle last = recorded;
            free_moved_type(moved);
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
        if constexpr (F == Fn::MPI_Type_free) {
            // Nobody uses the logged type any more.
            MPI_Datatype recorded = MovedTypes::take(MovedTypes::number_of(*handle)).recorded;
            const uint64_t freed_too = MovedTypes::recorded_goes(*handle);
            const int result = free_type(handle);
            free_moved_type(freed_too);
            if (recorded != MPI_DATATYPE_NULL) {
                free_type(&recorded);
            }
            return result;
        } else if constexpr (F == Fn::MPI_Comm_free || F == Fn::MPI_Comm_disconnect) {
            return free_comm<F>(handle);
        } else {
            const auto free = [&] { return call_mpi<F>(handle); };
            if constexpr (F == Fn::MPI_Info_free) {
                return free_object(handle, free);
            } else if constexpr (frees_keyval<F>()) {
                return free_keyval<F>(*handle, free);
            } else {
                return free();
            }
        }
    }

    // Returns true if the program has a copy of the handle of an object that lives on for the log
    // only. Handles of other kinds are references, each of which is freed.
    template <Fn F, typename Handle> static bool is_freed_before(Handle handle) {
        return (F == Fn::MPI_Comm_free || F == Fn::MPI_Comm_disconnect || F == Fn::MPI_Op_free ||
                F == Fn::MPI_Info_free || frees_keyval<F>()) &&
               FreedHandles::has(word_of(handle));
    }

    template <Fn F> static constexpr bool frees_keyval() {
        return F == Fn::MPI_Comm_free_keyval || F == Fn::MPI_Type_free_keyval ||
               F == Fn::MPI_Win_free_keyval || F == Fn::MPI_Keyval_free;
    }

    // MPI may reuse the key at once.
    template <Fn F, typename Free> static int free_keyval(const int &key, const Free &free) {
        const int before = key;
        const bool is_known = Keyvals::has(Keyvals::kind<F>(), before);
        Keyvals::remove(Keyvals::kind<F>(), before);
        const int result = free();
        if (is_known && key == before) {
            Keyvals::add(Keyvals::kind<F>(), before);
        }
        return result;
    }

    template <Fn F, typename Handle> static Handle null_of() {
        if constexpr (F == Fn::MPI_Comm_free || F == Fn::MPI_Comm_disconnect) {
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

    // Objects that MPI refuses to free are refused at once.
    template <Fn F, typename Handle> static bool can_wait(Handle handle) {
        const bool is_one = may_name(handle, null_of<F, Handle>());
        if constexpr (F == Fn::MPI_Comm_free || F == Fn::MPI_Comm_disconnect) {
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

    // They may wait for this rank, whose communicator stays.
    static void let_others_disconnect(MPI_Comm comm);
    static int free_type(MPI_Datatype *type);
    static bool record(const Call &call, int result);
    // `refused`: the error of a delete function, which MPI has reported.
    static int replay(const Call &call, int refused);
    static void freed_again(uint64_t handle, uint64_t which = 0);
};

// MPI_Free_mem: a re-execution gets the same memory again.
class MemoryFree : public MovesData {
public:
    template <Fn F> static int call(const void *site, void *memory) {
        const int mode = Logging::mode();
        if (passes_through(mode)) {
            InnerCalls *const inner = InnerCalls::current();
            if (inner != nullptr) {
                inner->add([memory](const InnerCalls::Entry &entry) {
                    if (!entry.again) {
                        when_forgotten(entry.place, [memory] { real<F>(memory); });
                    }
                });
                return MPI_SUCCESS;
            }
            return call_mpi<F>(memory);
        }
        if (RecordAll::records()) {
            call_mpi<F>(memory);
        } else if (mode == CD_LOG_RECORDING) {
            cd_log_place place = {};
            cd_log_here(&place);
            when_forgotten(place, [memory] { real<F>(memory); });
        }
        return note(site, memory);
    }

private:
    static int note(const void *site, void *memory);
};

} // namespace cd::logger
