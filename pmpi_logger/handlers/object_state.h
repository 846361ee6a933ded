// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/closed_handles.h"
#include "call/handle_word.h"
#include "handlers/blocking.h"
#include "handlers/handler.h"
#include "mpi/fortran_real.h"
#include "mpi/real.h"
#include "mpi/reentry_guard.h"
#include "objects/callback_effects.h"
#include "objects/deferred_free.h"
#include "payload/ended_connections.h"
#include "record_all/record_all.h"
#include "rma/window_table.h"

#include <array>
#include <memory>
#include <mpi.h>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace cd::logger {

// The attribute keys that the program has made. MPI refuses to free other keys.
enum class KeyvalsOf { communicators, types, windows };
class Keyvals {
public:
    static void add(KeyvalsOf kind, int key);
    static bool has(KeyvalsOf kind, int key);
    static void remove(KeyvalsOf kind, int key);
    static std::vector<int> all(KeyvalsOf kind);

    template <Fn F> static constexpr KeyvalsOf kind() {
        return F == Fn::MPI_Type_create_keyval || F == Fn::MPI_Type_free_keyval ? KeyvalsOf::types
               : F == Fn::MPI_Win_create_keyval || F == Fn::MPI_Win_free_keyval
                   ? KeyvalsOf::windows
                   : KeyvalsOf::communicators;
    }
};

// Makes an attribute key.
class KeyvalCreate : public MovesData {
public:
    template <Fn F, typename... A> static int call(const void *site, A... a) {
        return call_by<F>([](A... b) { return call_mpi<F>(b...); }, site, a...);
    }

    // `make` makes the call, by the C or the Fortran function.
    template <Fn F, typename Make, typename Copy, typename Delete, typename State>
    static int call_by(const Make &make, const void *site, Copy copy, Delete forget, int *key,
                       State *state) {
        const int result = Blocking::call_by<F>(make, site, copy, forget, key, state);
        if (result == MPI_SUCCESS) { // the program may have given no place for the key
            Keyvals::add(Keyvals::kind<F>(), *key);
        }
        return result;
    }
};

// Functions for attributes of communicators, types and windows.
template <Fn Get, Fn Set, Fn Remove> struct Attributes {
    static constexpr Fn get = Get;
    static constexpr Fn set = Set;
    static constexpr Fn remove = Remove;
    static constexpr bool has(Fn fn) { return fn == get || fn == set || fn == remove; }
};

struct CommAttributes
    : Attributes<Fn::MPI_Comm_get_attr, Fn::MPI_Comm_set_attr, Fn::MPI_Comm_delete_attr> {
    static MPI_Comm from_fortran(MPI_Fint handle) { return MPI_Comm_f2c(handle); }
    static MPI_Fint to_fortran(MPI_Comm handle) { return MPI_Comm_c2f(handle); }
    static MPI_Comm null() { return MPI_COMM_NULL; }
};

struct TypeAttributes
    : Attributes<Fn::MPI_Type_get_attr, Fn::MPI_Type_set_attr, Fn::MPI_Type_delete_attr> {
    static MPI_Datatype from_fortran(MPI_Fint handle) { return MPI_Type_f2c(handle); }
    static MPI_Fint to_fortran(MPI_Datatype handle) { return MPI_Type_c2f(handle); }
    static MPI_Datatype null() { return MPI_DATATYPE_NULL; }
};

struct WinAttributes
    : Attributes<Fn::MPI_Win_get_attr, Fn::MPI_Win_set_attr, Fn::MPI_Win_delete_attr> {
    static MPI_Win from_fortran(MPI_Fint handle) { return MPI_Win_f2c(handle); }
    static MPI_Fint to_fortran(MPI_Win handle) { return MPI_Win_c2f(handle); }
    static MPI_Win null() { return MPI_WIN_NULL; }
};

// The kind of object of F. The functions of MPI-1 are about communicators.
template <Fn F>
using AttributesOf =
    std::conditional_t<TypeAttributes::has(F), TypeAttributes,
                       std::conditional_t<WinAttributes::has(F), WinAttributes, CommAttributes>>;

template <typename Of, typename Object> bool has_attribute(Object object, int key) {
    void *ignored = nullptr;
    int present = 0;
    return real<Of::get>(object, key, &ignored, &present) == MPI_SUCCESS && present != 0;
}

// Returns the number if Fortran has set the attribute: C gets the number's address.
template <typename Of, typename Object>
std::optional<MPI_Aint> set_by_fortran(const void *site, Object object, int key, const void *in_c) {
    MPI_Fint handle = Of::to_fortran(object);
    MPI_Fint fortran_key = key;
    MPI_Fint present = 0;
    MPI_Aint number = 0;
    const auto get = fortran_routine<Of::get>(site, &handle, &fortran_key, &number, &present);
    if (!get.is_there()) {
        return {};
    }
    get(&handle, &fortran_key, &number, &present);
    return number == reinterpret_cast<MPI_Aint>(in_c) ? std::nullopt : std::optional(number);
}

// Makes `undo` bring the attribute back in the language that set it. Returns MPI's error.
template <typename Of, typename Object>
int puts_attribute_back(const void *site, Object object, int key, Undo &undo) {
    const Part part = {word_of(object), static_cast<uint32_t>(key)};
    // Asking about a null object may give another error than changing it.
    if (object == Of::null() || key == MPI_KEYVAL_INVALID || is_undone(part)) {
        return MPI_SUCCESS;
    }
    void *before = nullptr;
    int present = 0;
    const int result = real<Of::get>(object, key, &before, &present);
    if (result != MPI_SUCCESS) {
        return result;
    }
    std::optional<MPI_Aint> number;
    if (present != 0) {
        number = set_by_fortran<Of>(site, object, key, before);
    }
    const auto put_back = [=] {
        if (number) {
            MPI_Fint handle = Of::to_fortran(object);
            MPI_Fint fortran_key = key;
            MPI_Aint value = *number;
            fortran<Of::set>(site, &handle, &fortran_key, &value);
        } else if (present != 0) {
            real<Of::set>(object, key, before);
        } else if (has_attribute<Of>(object, key)) {
            real<Of::remove>(object, key);
        }
    };
    undo = {part, put_back};
    return MPI_SUCCESS;
}

// Calls the delete functions of attributes that were set since the point in time, when the program
// frees a communicator that lives on for the log. Their calls are recorded. Older attributes stay
// for a re-execution. Returns the error of the first function that refuses; the communicator is not
// freed then.
inline int delete_attributes(MPI_Comm comm) {
    for (const int key : Keyvals::all(KeyvalsOf::communicators)) {
        // Another thread may free keys meanwhile.
        if (is_undone({word_of(comm), static_cast<uint32_t>(key)}) &&
            Keyvals::has(KeyvalsOf::communicators, key) &&
            has_attribute<CommAttributes>(comm, key)) {
            if (const int refused = real<Fn::MPI_Comm_delete_attr>(comm, key);
                refused != MPI_SUCCESS) {
                return refused;
            }
        }
    }
    return MPI_SUCCESS;
}

// Returns whether F is about an object that MPI has ended or closed, and that a replay uses.
template <Fn F, typename Object> bool is_ended(Object object) {
    constexpr std::string_view name = Declaration<F>::pmpi_name;
    if constexpr (name.starts_with("PMPI_Win_")) {
        return WindowTable::instance().is_freed(object);
    } else if constexpr (name.starts_with("PMPI_File_")) {
        return LoggedFiles::find_freed(object).has_value();
    } else if constexpr (name.starts_with("PMPI_Type_")) {
        return false;
    } else {
        return EndedConnections::has(object);
    }
}

// Notes that the entry at `place` frees an object, which MPI has freed at once. A restore gives it
// back to the program, whose replay uses it without MPI.
template <typename Table, typename Object>
void note_freed_at(Object object, const cd_log_place &place) {
    Table::remove(object.number);
    object.freed = true;
    if (object.freed_at.family == 0) { // not in an earlier execution
        when_forgotten(place, [number = object.number] { Table::remove(number); });
    }
    object.freed_at = place;
    when_restored(place, [object] { Table::put_back(object); });
}

// A call that changes an object of this process: attribute, error handler, name or info key. A
// re-execution makes it, too; a restore brings the earlier state back. Changes nothing of an object
// that MPI has freed.
class ObjectChange : public MovesData {
protected:
    // Parts of an object besides its attributes.
    static constexpr uint64_t its_handler = uint64_t{1} << 32;
    static constexpr uint64_t its_name = uint64_t{2} << 32;

    // A re-execution may leave out changes that are optional, such as names.
    enum class Repeated { always, optionally };

    // Makes and records the change. `make_undo` saves the present state unless an older undo does
    // so; an error of MPI in it is the call's error.
    template <typename Change, typename MakeUndo>
    static int change(const Call &call, int mode, Repeated repeated, const Change &change,
                      const MakeUndo &make_undo) {
        std::optional<int> before;
        if (mode == CD_LOG_REPLAYING) {
            int failure = MPI_SUCCESS;
            before = logged_result(call, repeated, failure);
            if (!before && failure != run_live) {
                return failure;
            }
        }
        const ReentryGuard inside;
        CallbackEffects inner(RecordAll::records() ? CallbackEffects::Of::nothing
                                                   : CallbackEffects::Of::call);
        Undo undo;
        const int result = apply(change, make_undo, undo);
        if (const auto place = note(call, before.has_value(), repeated, result, std::move(undo))) {
            inner.settle(*place, before.has_value());
        }
        return before.value_or(result);
    }

    // Makes a change inside a delete function; it is undone with the call around it.
    template <typename Change, typename MakeUndo>
    static int change_inside(CallbackEffects &inner, const Change &change,
                             const MakeUndo &make_undo) {
        Undo undo;
        const int result = apply(change, make_undo, undo);
        if (result == MPI_SUCCESS && undo) {
            inner.add(
                [undo](const CallbackEffects::Entry &entry) { when_restored(entry.place, undo); });
        }
        return result;
    }

private:
    template <typename Change, typename MakeUndo>
    static int apply(const Change &change, const MakeUndo &make_undo, Undo &undo) {
        const int found = RecordAll::records() ? MPI_SUCCESS : make_undo(undo);
        return found == MPI_SUCCESS ? change() : found;
    }

    static std::optional<int> logged_result(const Call &call, Repeated repeated, int &failure);
    // Records the change unless `is_logged`. Returns where the entry lies, if there is one.
    static std::optional<cd_log_place> note(const Call &call, bool is_logged, Repeated repeated,
                                            int result, Undo undo);
};

// Sets or deletes an attribute.
class AttributeChange : public ObjectChange {
public:
    template <Fn F, typename Object, typename... A>
    static int call(const void *site, Object object, int key, A... value) {
        const int result =
            call_by<F>([](auto... a) { return call_mpi<F>(a...); }, site, object, key, value...);
        if constexpr (F == Fn::MPI_Win_set_attr) {
            if (result == MPI_SUCCESS && is_ended<F>(object)) { // may lie elsewhere than in the log
                (WindowTable::instance().find(object)->attributes.insert_or_assign(key, value),
                 ...);
            }
        }
        return result;
    }

    // `make` makes the call, by the C or the Fortran function.
    template <Fn F, typename Make, typename Object, typename... A>
    static int call_by(const Make &make, const void *site, Object object, int key, A... value) {
        using Of = AttributesOf<F>;
        const int mode = Logging::mode();
        CallbackEffects *const inner = CallbackEffects::current();
        if (CallbackEffects::are_of_undo()) {
            const bool stays = F == Of::remove && !is_removed_by_restore<Of>(object, key);
            return stays ? MPI_SUCCESS : make(object, key, value...);
        }
        if (passes_through(mode) && inner == nullptr) {
            return make(object, key, value...);
        }
        if (is_ended<F>(object)) {
            return inner != nullptr ? MPI_SUCCESS : Blocking::log<F>(site, object, key, value...);
        }
        const auto set = [&] { return make(object, key, value...); };
        const auto make_undo = [&](Undo &undo) {
            return puts_attribute_back<Of>(site, object, key, undo);
        };
        return inner != nullptr ? change_inside(*inner, set, make_undo)
                                : change(decode<F>(site, object, key, value...), mode,
                                         Repeated::always, set, make_undo);
    }

private:
    // Returns whether a restore that runs a delete function is removing the attribute, too.
    template <typename Of, typename Object>
    static bool is_removed_by_restore(Object object, int key) {
        return is_being_undone({word_of(object), static_cast<uint32_t>(key)}) &&
               has_attribute<Of>(object, key);
    }
};

// Returns the function that reads the error handler or the name that `setter` sets.
constexpr Fn getter_of(Fn setter) {
    switch (setter) {
    case Fn::MPI_File_set_errhandler:
        return Fn::MPI_File_get_errhandler;
    case Fn::MPI_Win_set_errhandler:
        return Fn::MPI_Win_get_errhandler;
    case Fn::MPI_Comm_set_name:
        return Fn::MPI_Comm_get_name;
    case Fn::MPI_Type_set_name:
        return Fn::MPI_Type_get_name;
    case Fn::MPI_Win_set_name:
        return Fn::MPI_Win_get_name;
    default:
        return Fn::MPI_Comm_get_errhandler;
    }
}

// Sets the error handler of an object.
class ErrorHandlerSet : public ObjectChange {
public:
    template <Fn F, typename Object>
    static int call(const void *site, Object object, MPI_Errhandler handler) {
        const int mode = Logging::mode();
        if (passes_through(mode)) {
            return call_mpi<F>(object, handler);
        }
        if (is_ended<F>(object)) {
            return Blocking::log<F>(site, object, handler);
        }
        return change(
            decode<F>(site, object, handler), mode, Repeated::always,
            [&] { return call_mpi<F>(object, handler); },
            [&](Undo &undo) { return puts_handler_back<F>(object, undo); });
    }

private:
    template <Fn F, typename Object> static int puts_handler_back(Object object, Undo &undo) {
        const Part part = {word_of(object), its_handler};
        if (is_undone(part)) {
            return MPI_SUCCESS;
        }
        MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
        const int result = real<getter_of(F)>(object, &handler);
        if (handler != MPI_ERRHANDLER_NULL) {
            const std::shared_ptr<MPI_Errhandler> before(new MPI_Errhandler(handler),
                                                         [](MPI_Errhandler *last) {
                                                             real<Fn::MPI_Errhandler_free>(last);
                                                             delete last;
                                                         });
            undo = {part, [=] { real<F>(object, *before); }};
        }
        return result;
    }
};

// Calls an error handler, also in a replay, but not that of an object which MPI has ended.
class ErrorHandlerCall {
public:
    using Of = Arrivals;

    template <Fn F, typename Object> static int call(const void *, Object object, int error) {
        return is_ended<F>(object) ? MPI_SUCCESS : call_mpi<F>(object, error);
    }
};

// Sets or deletes a key of an info object.
class InfoChange : public ObjectChange {
public:
    template <Fn F, typename... A>
    static int call(const void *site, MPI_Info info, const char *key, A... value) {
        const int mode = Logging::mode();
        if (passes_through(mode) || key == nullptr) {
            return call_mpi<F>(info, key, value...);
        }
        return change(
            decode<F>(site, info, key, value...), mode, Repeated::always,
            [&] { return call_mpi<F>(info, key, value...); },
            [&](Undo &undo) { return puts_value_back(info, key, undo); });
    }

private:
    static int puts_value_back(MPI_Info info, const char *key, Undo &undo);
};

// Sets names. Programs may name things once only, or differently in a re-execution.
class NameSet : public ObjectChange {
public:
    template <Fn F, typename Object>
    static int call(const void *site, Object object, const char *name) {
        const int mode = Logging::mode();
        if (passes_through(mode) || name == nullptr) {
            return call_mpi<F>(object, name);
        }
        const bool has_ended = is_ended<F>(object);
        return change(
            decode<F>(site, object, name), mode, Repeated::optionally,
            [&] { return has_ended ? MPI_SUCCESS : call_mpi<F>(object, name); },
            [&](Undo &undo) { return has_ended ? MPI_SUCCESS : puts_name_back<F>(object, undo); });
    }

private:
    template <Fn F, typename Object> static int puts_name_back(Object object, Undo &undo) {
        const Part part = {word_of(object), its_name};
        if (is_undone(part)) {
            return MPI_SUCCESS;
        }
        std::array<char, MPI_MAX_OBJECT_NAME> name{};
        int length = 0;
        const int result = real<getter_of(F)>(object, name.data(), &length);
        if (result == MPI_SUCCESS) {
            const std::string before = name.data();
            undo = {part, [=] { real<F>(object, before.c_str()); }};
        }
        return result;
    }
};

} // namespace cd::logger
