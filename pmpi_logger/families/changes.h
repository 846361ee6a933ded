// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "families/attributes.h"
#include "families/family.h"
#include "families/held_handler.h"
#include "lifetimes/closed_files.h"
#include "lifetimes/lifetimes.h"
#include "payload/comm_facts.h"
#include "replay/complaint.h"
#include "whole_program/whole_program.h"
#include "windows/window_table.h"

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
        const Inside inside;
        Undo undo = WholeProgram::records() ? Undo() : make_undo();
        const int result = change();
        note(call, before.has_value(), false, result, std::move(undo));
        return before.value_or(result);
    }

    // The same for what a re-execution may leave out, or do otherwise: it only tells people
    // something.
    template <typename Change, typename MakeUndo>
    static int change_freely(const Call &call, int mode, const Change &change,
                             const MakeUndo &make_undo) {
        const bool is_logged = mode == CD_LOG_REPLAYING && is_next(call);
        const Inside inside;
        Undo undo = WholeProgram::records() ? Undo() : make_undo();
        const int result = change();
        note(call, is_logged, true, result, std::move(undo));
        return result;
    }

    // The same, unless MPI has freed the communicator: then nothing is left to change.
    template <typename Change, typename MakeUndo>
    static int change_if_alive(const Call &call, int mode, const Change &make,
                               const MakeUndo &make_undo) {
        return MortalComms::is_freed(call.arguments.comm)
                   ? change(
                         call, mode, [] { return MPI_SUCCESS; }, [] { return Undo(); })
                   : change(call, mode, make, make_undo);
    }

private:
    static std::optional<int> logged_result(const Call &call, int &failure);
    static bool is_next(const Call &call);
    // is_logged: the log has it, and has just read it.
    static void note(const Call &call, bool is_logged, bool is_optional, int result, Undo undo);
};

class SetsAttribute : public Changes {
public:
    template <Fn F, typename Object>
    static int call(const void *site, Object object, int key, void *value) {
        return call_by<F>([](auto... a) { return real<F>(a...); }, site, object, key, value);
    }

    // make: makes the call, as Fortran or as C.
    template <Fn F, typename Make, typename Object>
    static int call_by(const Make &make, const void *site, Object object, int key, void *value) {
        const int mode = Logging::mode();
        if (passes_through(mode)) {
            return make(object, key, value);
        }
        return change_if_alive(
            decode<F>(site, object, key, value), mode, [&] { return make(object, key, value); },
            [&] { return puts_attribute_back<AttributesOf<F>>(site, object, key); });
    }
};

class DeletesAttribute : public Changes {
public:
    template <Fn F, typename Object> static int call(const void *site, Object object, int key) {
        const int mode = Logging::mode();
        if (passes_through(mode)) {
            return real<F>(object, key);
        }
        return change_if_alive(
            decode<F>(site, object, key), mode, [&] { return real<F>(object, key); },
            [&] { return puts_attribute_back<AttributesOf<F>>(site, object, key); });
    }
};

class SetsErrorHandler : public Changes {
public:
    template <Fn F, typename Object>
    static int call(const void *site, Object object, MPI_Errhandler handler) {
        const int mode = Logging::mode();
        if (passes_through(mode)) {
            return real<F>(object, handler);
        }
        return change(
            decode<F>(site, object, handler), mode, [&] { return set<F>(object, handler); },
            [&] { return puts_handler_back<F>(object); });
    }

private:
    template <Fn F, typename Object> static Undo puts_handler_back(Object object) {
        if (is_null<F>(object)) {
            return {}; // asking MPI for what is none would be an error of its own
        }
        if (is_gone<F>(object)) {
            return {{}, [object, before = told_of<F>(object)] { tell<F>(object, before); }, {}};
        }
        const Part part = {word_of(object), its_handler};
        if (is_undone(part)) {
            return {};
        }
        MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
        real<getter<F>()>(object, &handler);
        const HeldHandler before = held(handler);
        if (before == nullptr) {
            return {}; // the object was none
        }
        return {part, [=] { real<F>(object, *before); },
                [=](const cd_log_place &place) {
                    tell<F>(object, *before);
                    when_forgotten(place, [before] {}); // a replay may raise errors by it
                }};
    }

    template <Fn F, typename Object> static int set(Object object, MPI_Errhandler handler) {
        if (is_gone<F>(object)) {
            tell<F>(object, handler);
            return MPI_SUCCESS;
        }
        return real<F>(object, handler);
    }

    // What a replay does errors with, of an object that MPI has freed.
    template <Fn F, typename Object> static MPI_Errhandler told_of(Object object) {
        if constexpr (getter<F>() == Fn::MPI_Comm_get_errhandler) {
            return MortalComms::handler_of(object);
        } else if constexpr (F == Fn::MPI_File_set_errhandler) {
            return ClosedFiles::handler_of(object);
        } else {
            return MPI_ERRHANDLER_NULL;
        }
    }

    template <Fn F, typename Object> static void tell(Object object, MPI_Errhandler handler) {
        if (!is_gone<F>(object)) {
            return;
        }
        if constexpr (getter<F>() == Fn::MPI_Comm_get_errhandler) {
            MortalComms::set_handler(object, handler);
        } else if constexpr (F == Fn::MPI_File_set_errhandler) {
            ClosedFiles::set_handler(object, handler);
        }
    }

    template <Fn F, typename Object> static bool is_gone(Object object) {
        if constexpr (getter<F>() == Fn::MPI_Comm_get_errhandler) {
            return MortalComms::is_freed(object);
        } else if constexpr (F == Fn::MPI_Win_set_errhandler) {
            return WindowTable::instance().is_gone(object);
        } else if constexpr (F == Fn::MPI_File_set_errhandler) {
            return ClosedFiles::has(object);
        } else {
            return false;
        }
    }

    template <Fn F, typename Object> static bool is_null(Object object) {
        if constexpr (getter<F>() == Fn::MPI_Comm_get_errhandler) {
            return object == MPI_COMM_NULL;
        } else if constexpr (F == Fn::MPI_Win_set_errhandler) {
            return object == MPI_WIN_NULL;
#ifdef MPI_SESSION_NULL
        } else if constexpr (F == Fn::MPI_Session_set_errhandler) {
            return object == MPI_SESSION_NULL;
#endif
        } else {
            return false; // MPI_FILE_NULL has a handler
        }
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
            return real<F>(info, key, value);
        }
        return change(
            decode<F>(site, info, key, value), mode, [&] { return real<F>(info, key, value); },
            [&] { return undo_of(info, key); });
    }

    static Undo undo_of(MPI_Info info, const char *key);
};

class DeletesInfo : public Changes {
public:
    template <Fn F> static int call(const void *site, MPI_Info info, const char *key) {
        const int mode = Logging::mode();
        if (passes_through(mode) || key == nullptr) {
            return real<F>(info, key);
        }
        return change(
            decode<F>(site, info, key), mode, [&] { return real<F>(info, key); },
            [&] { return SetsInfo::undo_of(info, key); });
    }
};

} // namespace cd::logger
