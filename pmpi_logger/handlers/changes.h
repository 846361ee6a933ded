// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "handlers/attribute_holders.h"
#include "handlers/attributes.h"
#include "handlers/handler.h"
#include "handlers/held_handler.h"
#include "objects/inner_frees.h"
#include "objects/lifetimes.h"
#include "objects/logged_files.h"
#include "payload/mortal_comms.h"
#include "record_all/record_all.h"
#include "replay/complaint.h"
#include "rma/window_table.h"

#include <optional>

namespace cd::logger {

// A call that changes an object of this process: an attribute, an error handler, a name, an info
// key. It is made for real in a re-execution, too; a restore brings back what was there before.
class Changes : public MovesData {
protected:
    // Parts of an object beside its attributes.
    static constexpr uint64_t its_handler = uint64_t{1} << 32;
    static constexpr uint64_t its_name = uint64_t{2} << 32;

    // make_undo: makes what brings the present state back, if something older does not do so.
    // Returns what MPI does when it is asked about that state: an error is that of the call, which
    // MPI would raise once more.
    template <typename Change, typename MakeUndo>
    static int change(const Call &call, int mode, const Change &change, const MakeUndo &make_undo) {
        std::optional<int> before;
        if (mode == CD_LOG_REPLAYING) {
            int failure = MPI_SUCCESS;
            before = logged_result(call, failure);
            if (!before && failure != run_live) {
                return failure;
            }
        }
        const ReentryGuard inside;
        InnerCalls inner(RecordAll::records() ? InnerCalls::Of::nothing : InnerCalls::Of::call);
        Undo undo;
        const int result = apply(change, make_undo, undo);
        if (const auto place = note(call, before.has_value(), false, result, std::move(undo))) {
            inner.settle(*place, before.has_value());
        }
        return before.value_or(result);
    }

    // The same for what a re-execution may leave out, or do otherwise: it only tells people
    // something.
    template <typename Change, typename MakeUndo>
    static int change_freely(const Call &call, int mode, const Change &change,
                             const MakeUndo &make_undo) {
        const bool is_logged = mode == CD_LOG_REPLAYING && is_next(call);
        const ReentryGuard inside;
        Undo undo;
        const int result = apply(change, make_undo, undo);
        note(call, is_logged, true, result, std::move(undo));
        return result;
    }

    static int nothing_to_undo(Undo &) { return MPI_SUCCESS; }

    // By a delete function of the program: undone with the call that it is in.
    template <typename Change, typename MakeUndo>
    static int change_inside(InnerCalls &inner, const Change &change, const MakeUndo &make_undo) {
        Undo undo;
        const int result = apply(change, make_undo, undo);
        if (result == MPI_SUCCESS && undo) {
            inner.add([undo](const InnerCalls::Entry &entry) { when_restored(entry.place, undo); });
        }
        return result;
    }

private:
    template <typename Change, typename MakeUndo>
    static int apply(const Change &change, const MakeUndo &make_undo, Undo &undo) {
        const int found = RecordAll::records() ? MPI_SUCCESS : make_undo(undo);
        return found == MPI_SUCCESS ? change() : found;
    }

    static std::optional<int> logged_result(const Call &call, int &failure);
    static bool is_next(const Call &call);
    // is_logged: the log has it, and has just read it.
    // Returns where the entry lies, if there is one.
    static std::optional<cd_log_place> note(const Call &call, bool is_logged, bool is_optional,
                                            int result, Undo undo);
};

class SetsAttribute : public Changes {
public:
    template <Fn F, typename Object>
    static int call(const void *site, Object object, int key, void *value) {
        return call_by<F>([](auto... a) { return call_mpi<F>(a...); }, site, object, key, value);
    }

    // make: makes the call, as Fortran or as C.
    template <Fn F, typename Make, typename Object>
    static int call_by(const Make &make, const void *site, Object object, int key, void *value) {
        const int mode = Logging::mode();
        InnerCalls *const inner = InnerCalls::current();
        if (InnerCalls::are_of_undo()) {
            return set_in_undo<F>(make, object, key, value);
        }
        if (passes_through(mode) && inner == nullptr) {
            return make(object, key, value);
        }
        const Object holder = AttributeHolders::of(object);
        const auto set = [&] { return make(holder, key, value); };
        const auto make_undo = [&](Undo &undo) {
            return puts_attribute_back<AttributesOf<F>>(site, holder, key, undo);
        };
        return inner != nullptr ? change_inside(*inner, set, make_undo)
                                : change(decode<F>(site, object, key, value), mode, set, make_undo);
    }

private:
    // By the delete function of an attribute that a restore takes away. If there was none, and this
    // restore takes none away, it is the function's own.
    template <Fn F, typename Make, typename Object>
    static int set_in_undo(const Make &make, Object object, int key, void *value) {
        const Part part = {word_of(object), static_cast<uint32_t>(key)};
        void *ignored = nullptr;
        int present = 0;
        if (object != AttributesOf<F>::null() && key != MPI_KEYVAL_INVALID) {
            if (const int result = real<AttributesOf<F>::get>(object, key, &ignored, &present);
                result != MPI_SUCCESS) {
                return result;
            }
        }
        const int result = make(object, key, value);
        if (result == MPI_SUCCESS && present == 0 && !is_being_undone(part)) {
            InnerCalls::made(part);
        }
        return result;
    }
};

class DeletesAttribute : public Changes {
public:
    template <Fn F, typename Object> static int call(const void *site, Object object, int key) {
        const int mode = Logging::mode();
        InnerCalls *const inner = InnerCalls::current();
        if (InnerCalls::are_of_undo()) {
            return delete_in_undo<F>(object, key);
        }
        if (passes_through(mode) && inner == nullptr) {
            return call_mpi<F>(object, key);
        }
        const Object holder = AttributeHolders::of(object);
        const auto remove = [&] { return call_mpi<F>(holder, key); };
        const auto make_undo = [&](Undo &undo) {
            return puts_attribute_back<AttributesOf<F>>(site, holder, key, undo);
        };
        return inner != nullptr ? change_inside(*inner, remove, make_undo)
                                : change(decode<F>(site, object, key), mode, remove, make_undo);
    }

private:
    // By the delete function of an attribute that a restore takes away: another one that the
    // program has set since may be gone already, and older ones are there after the restore, but
    // for the function's own.
    template <Fn F, typename Object> static int delete_in_undo(Object object, int key) {
        const Part part = {word_of(object), static_cast<uint32_t>(key)};
        void *ignored = nullptr;
        int present = 0;
        if (!is_being_undone(part) && !InnerCalls::take_made(part)) {
            return MPI_SUCCESS;
        }
        real<AttributesOf<F>::get>(object, key, &ignored, &present);
        return present != 0 ? call_mpi<F>(object, key) : MPI_SUCCESS;
    }
};

class SetsErrorHandler : public Changes {
public:
    template <Fn F, typename Object>
    static int call(const void *site, Object object, MPI_Errhandler handler) {
        const int mode = Logging::mode();
        if (passes_through(mode)) {
            return call_mpi<F>(object, handler);
        }
        return change(
            decode<F>(site, object, handler), mode, [&] { return set<F>(object, handler); },
            [&](Undo &undo) { return puts_handler_back<F>(object, undo); });
    }

private:
    template <Fn F, typename Object> static int puts_handler_back(Object object, Undo &undo) {
        if (const std::optional<Owner> gone = find_gone<F>(object)) {
            undo = {{}, [gone] { tell<F>(gone->number, gone->handler); }, {}};
            return MPI_SUCCESS;
        }
        const Part part = {word_of(object), its_handler};
        if (is_undone(part)) {
            return MPI_SUCCESS;
        }
        MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
        const int result = real<getter<F>()>(object, &handler);
        if (const HeldHandler before = held(handler)) {
            undo = {part, [=] { real<F>(object, *before); },
                    [=](const cd_log_place &place, int owner) {
                        tell<F>(owner, *before);
                        when_forgotten(place, [before] {}); // a replay may raise errors by it
                    }};
        }
        return result;
    }

    template <Fn F, typename Object> static int set(Object object, MPI_Errhandler handler) {
        if (const std::optional<Owner> gone = find_gone<F>(object)) {
            tell<F>(gone->number, handler);
            return MPI_SUCCESS;
        }
        return call_mpi<F>(object, handler);
    }

    // Of an object that MPI has freed.
    template <Fn F, typename Object> static std::optional<Owner> find_gone(Object object) {
        if constexpr (of_comm<F>()) {
            const std::optional<Mortal> mortal = MortalComms::find(object);
            return mortal && mortal->freed ? mortal : std::nullopt;
        } else if constexpr (F == Fn::MPI_File_set_errhandler) {
            return LoggedFiles::find_closed(object);
        } else if constexpr (F == Fn::MPI_Win_set_errhandler) {
            return find_gone_window(object);
        } else {
            return std::nullopt;
        }
    }

    static std::optional<Owner> find_gone_window(MPI_Win handle) {
        const Window *const window = WindowTable::instance().find(handle);
        if (window == nullptr || !window->is_gone()) {
            return std::nullopt;
        }
        Owner gone;
        gone.number = static_cast<int>(window->number);
        gone.handler = window->handler;
        return gone;
    }

    // What a replay does errors with, of an object that MPI has freed.
    template <Fn F> static void tell(int number, MPI_Errhandler handler) {
        const auto set = [handler](Owner &owner) { owner.handler = handler; };
        if constexpr (of_comm<F>()) {
            MortalComms::change(number, set);
        } else if constexpr (F == Fn::MPI_File_set_errhandler) {
            LoggedFiles::change(number, set);
        } else if constexpr (F == Fn::MPI_Win_set_errhandler) {
            if (Window *const window =
                    WindowTable::instance().find(static_cast<uint64_t>(number))) {
                window->handler = handler;
            }
        }
    }

    template <Fn F> static constexpr bool of_comm() {
        return getter<F>() == Fn::MPI_Comm_get_errhandler;
    }

    template <Fn F> static constexpr Fn getter() {
        if constexpr (F == Fn::MPI_File_set_errhandler) {
            return Fn::MPI_File_get_errhandler;
        } else if constexpr (F == Fn::MPI_Win_set_errhandler) {
            return Fn::MPI_Win_get_errhandler;
#ifdef MPI_SESSION_NULL
        } else if constexpr (F == Fn::MPI_Session_set_errhandler) {
            return Fn::MPI_Session_get_errhandler;
#endif
        } else {
            return Fn::MPI_Comm_get_errhandler;
        }
    }
};

class SetsInfo : public Changes {
public:
    template <Fn F>
    static int call(const void *site, MPI_Info info, const char *key, const char *value) {
        const int mode = Logging::mode();
        if (passes_through(mode) || key == nullptr) {
            return call_mpi<F>(info, key, value);
        }
        return change(
            decode<F>(site, info, key, value), mode, [&] { return call_mpi<F>(info, key, value); },
            [&](Undo &undo) { return puts_value_back(info, key, undo); });
    }

    static int puts_value_back(MPI_Info info, const char *key, Undo &undo);
};

class DeletesInfo : public Changes {
public:
    template <Fn F> static int call(const void *site, MPI_Info info, const char *key) {
        const int mode = Logging::mode();
        if (passes_through(mode) || key == nullptr) {
            return call_mpi<F>(info, key);
        }
        return change(
            decode<F>(site, info, key), mode, [&] { return call_mpi<F>(info, key); },
            [&](Undo &undo) { return SetsInfo::puts_value_back(info, key, undo); });
    }
};

} // namespace cd::logger
