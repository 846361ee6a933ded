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
#include "objects/deferred_free.h"
#include "objects/inner_frees.h"
#include "payload/ended_connections.h"
#include "record_all/record_all.h"
#include "replay/divergence.h"
#include "rma/window_table.h"

#include <array>
#include <memory>
#include <mpi.h>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace cd::logger {

// A reference to an error handler, freed with its last copy. nullptr if there is none.
using HeldHandler = std::shared_ptr<const MPI_Errhandler>;

inline HeldHandler held(MPI_Errhandler handler) {
    if (handler == MPI_ERRHANDLER_NULL) {
        return nullptr;
    }
    return {new MPI_Errhandler(handler), [](MPI_Errhandler *last) {
                real<Fn::MPI_Errhandler_free>(last);
                delete last;
            }};
}

// Returns the error handler of an object that MPI is about to free, and holds it while a replay may
// raise errors with it.
template <Fn Get, typename Object>
MPI_Errhandler held_handler(Object object, const cd_log_place &place) {
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    real<Get>(object, &handler);
    when_forgotten(place, [held = held(handler)] {});
    return handler;
}

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

// The delete function of a key for attributes of windows. MPI does not call it for a window that it
// has freed, whose attributes a re-execution changes.
struct DeleteFunction {
    void (*function)() = nullptr;
    void *state = nullptr; // in C
    MPI_Aint number = 0;   // in Fortran, which gets the address of a copy
    bool in_fortran = false;
};

class DeleteFunctions {
public:
    // Keeps the function until another key has the same value.
    static void note(int key, const DeleteFunction &function);

    // Calls it as MPI does when the attribute is deleted or replaced.
    static void call(const Window &gone, int key, SetAttribute &attribute);
};

class KeyvalCreate : public MovesData {
public:
    template <Fn F, typename Copy, typename Delete>
    static int call(const void *site, Copy copy, Delete forget, int *key, void *state) {
        const int result = Blocking::log<F>(site, copy, forget, key, state);
        if (result == MPI_SUCCESS) { // the program may have given no place for the key
            made<F>(*key, {any(forget), state, 0, is_from_fortran(site)});
        }
        return result;
    }

    // `make`: makes the call, by the C or the Fortran function. MPI copies Fortran's `state`.
    template <Fn F, typename Make, typename Copy, typename Delete, typename Number>
    static int call_by(const Make &make, const void *site, Copy copy, Delete forget, MPI_Fint *key,
                       Number *state) {
        const int result = Blocking::call_by<F>(make, site, copy, forget, key, state);
        if (result == MPI_SUCCESS) {
            made<F>(*key, {any(forget), nullptr, *state, true});
        }
        return result;
    }

private:
    template <typename Function> static auto any(Function function) {
        return reinterpret_cast<void (*)()>(function);
    }

    template <Fn F> static void made(int key, const DeleteFunction &forget) {
        Keyvals::add(Keyvals::kind<F>(), key);
        if (F == Fn::MPI_Win_create_keyval) {
            DeleteFunctions::note(key, forget);
        }
    }
};

// Functions for attributes of communicators, types and windows.
struct CommAttributes {
    static constexpr Fn get = Fn::MPI_Comm_get_attr;
    static constexpr Fn set = Fn::MPI_Comm_set_attr;
    static constexpr Fn remove = Fn::MPI_Comm_delete_attr;

    static MPI_Comm from_fortran(MPI_Fint handle) { return MPI_Comm_f2c(handle); }
    static MPI_Fint to_fortran(MPI_Comm handle) { return MPI_Comm_c2f(handle); }
    static MPI_Comm null() { return MPI_COMM_NULL; }
};

struct TypeAttributes {
    static constexpr Fn get = Fn::MPI_Type_get_attr;
    static constexpr Fn set = Fn::MPI_Type_set_attr;
    static constexpr Fn remove = Fn::MPI_Type_delete_attr;

    static MPI_Datatype from_fortran(MPI_Fint handle) { return MPI_Type_f2c(handle); }
    static MPI_Fint to_fortran(MPI_Datatype handle) { return MPI_Type_c2f(handle); }
    static MPI_Datatype null() { return MPI_DATATYPE_NULL; }
};

struct WinAttributes {
    static constexpr Fn get = Fn::MPI_Win_get_attr;
    static constexpr Fn set = Fn::MPI_Win_set_attr;
    static constexpr Fn remove = Fn::MPI_Win_delete_attr;

    static MPI_Win from_fortran(MPI_Fint handle) { return MPI_Win_f2c(handle); }
    static MPI_Fint to_fortran(MPI_Win handle) { return MPI_Win_c2f(handle); }
    static MPI_Win null() { return MPI_WIN_NULL; }
};

// The kind of object of F. The functions of MPI-1 are about communicators.
template <Fn F>
using AttributesOf =
    std::conditional_t<F == TypeAttributes::get || F == TypeAttributes::set ||
                           F == TypeAttributes::remove,
                       TypeAttributes,
                       std::conditional_t<F == WinAttributes::get || F == WinAttributes::set ||
                                              F == WinAttributes::remove,
                                          WinAttributes, CommAttributes>>;

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
        if (present == 0) {
            void *ignored = nullptr;
            int still = 0;
            real<Of::get>(object, key, &ignored, &still);
            if (still != 0) {
                real<Of::remove>(object, key);
            }
        } else if (number) {
            MPI_Fint handle = Of::to_fortran(object);
            MPI_Fint fortran_key = key;
            MPI_Aint value = *number;
            fortran<Of::set>(site, &handle, &fortran_key, &value);
        } else {
            real<Of::set>(object, key, before);
        }
    };
    undo = {part, put_back, {}};
    return MPI_SUCCESS;
}

// Calls the delete functions of attributes that were set since the point in time, when the program
// frees a communicator that lives on for the log. Their calls are recorded. Older attributes stay
// for a re-execution. Returns the error of the first function that refuses; the communicator is not
// freed then.
inline int delete_attributes(MPI_Comm comm) {
    constexpr KeyvalsOf kind = KeyvalsOf::communicators;
    for (const int key : Keyvals::all(kind)) {
        // Another thread may free keys meanwhile.
        if (!is_undone({word_of(comm), static_cast<uint32_t>(key)}) || !Keyvals::has(kind, key)) {
            continue;
        }
        void *value = nullptr;
        int present = 0;
        const int found = real<Fn::MPI_Comm_get_attr>(comm, key, &value, &present);
        if (found == MPI_SUCCESS && present != 0) {
            if (const int refused = real<Fn::MPI_Comm_delete_attr>(comm, key);
                refused != MPI_SUCCESS) {
                return refused;
            }
        }
    }
    return MPI_SUCCESS;
}

// A call that changes an object of this process: attribute, error handler, name or info key. A
// re-execution makes it, too; a restore brings the earlier state back.
class ObjectChange : public MovesData {
protected:
    // Parts of an object besides its attributes.
    static constexpr uint64_t its_handler = uint64_t{1} << 32;
    static constexpr uint64_t its_name = uint64_t{2} << 32;

    // Makes and records the change. `make_undo` saves the present state unless an older undo does
    // so; an error of MPI in it is the call's error.
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

    // The same for changes that a re-execution may leave out, such as names.
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

    // MPI cannot be told anything about a connection that it has ended.
    static bool is_ended_connection(MPI_Comm comm) { return EndedConnections::has(comm); }
    template <typename Object> static bool is_ended_connection(Object) { return false; }

    // Makes a change inside a delete function; it is undone with the call around it.
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
    // Records the change unless `is_logged`. Returns where the entry lies, if there is one.
    static std::optional<cd_log_place> note(const Call &call, bool is_logged, bool is_optional,
                                            int result, Undo undo);
};

class AttributeSet : public ObjectChange {
public:
    template <Fn F, typename Object>
    static int call(const void *site, Object object, int key, void *value) {
        return call_by<F>([](auto... a) { return call_mpi<F>(a...); }, site, object, key, value);
    }

    // `make`: makes the call, by the C or the Fortran function.
    template <Fn F, typename Make, typename Object>
    static int call_by(const Make &make, const void *site, Object object, int key, void *value) {
        const int mode = Logging::mode();
        InnerCalls *const inner = InnerCalls::current();
        if (InnerCalls::are_of_undo() || (passes_through(mode) && inner == nullptr)) {
            return make(object, key, value);
        }
        const bool has_ended = is_ended_connection(object);
        const auto set = [&] { return has_ended ? MPI_SUCCESS : make(object, key, value); };
        const auto make_undo = [&](Undo &undo) {
            return has_ended ? MPI_SUCCESS
                             : puts_attribute_back<AttributesOf<F>>(site, object, key, undo);
        };
        return inner != nullptr ? change_inside(*inner, set, make_undo)
                                : change(decode<F>(site, object, key, value), mode, set, make_undo);
    }
};

class AttributeDelete : public ObjectChange {
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
        const bool has_ended = is_ended_connection(object);
        const auto remove = [&] { return has_ended ? MPI_SUCCESS : call_mpi<F>(object, key); };
        const auto make_undo = [&](Undo &undo) {
            return has_ended ? MPI_SUCCESS
                             : puts_attribute_back<AttributesOf<F>>(site, object, key, undo);
        };
        return inner != nullptr ? change_inside(*inner, remove, make_undo)
                                : change(decode<F>(site, object, key), mode, remove, make_undo);
    }

private:
    // Deletes an attribute inside a delete function that a restore runs, if the restore is removing
    // it, too.
    template <Fn F, typename Object> static int delete_in_undo(Object object, int key) {
        const Part part = {word_of(object), static_cast<uint32_t>(key)};
        void *ignored = nullptr;
        int present = 0;
        if (!is_being_undone(part)) {
            return MPI_SUCCESS;
        }
        real<AttributesOf<F>::get>(object, key, &ignored, &present);
        return present != 0 ? call_mpi<F>(object, key) : MPI_SUCCESS;
    }
};

class ErrorHandlerSet : public ObjectChange {
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
                        when_forgotten(place, [before] {}); // a replay may raise errors with it
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

    // Returns the object if MPI has freed it.
    template <Fn F, typename Object> static std::optional<Owner> find_gone(Object object) {
        if constexpr (of_comm<F>()) {
            const std::optional<EndedConnection> ended = EndedConnections::find(object);
            return ended && ended->freed ? ended : std::nullopt;
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

    // Sets the error handler that a replay uses for an object that MPI has freed.
    template <Fn F> static void tell(int number, MPI_Errhandler handler) {
        const auto set = [handler](Owner &owner) { owner.handler = handler; };
        if constexpr (of_comm<F>()) {
            EndedConnections::change(number, set);
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

class InfoSet : public ObjectChange {
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

class InfoDelete : public ObjectChange {
public:
    template <Fn F> static int call(const void *site, MPI_Info info, const char *key) {
        const int mode = Logging::mode();
        if (passes_through(mode) || key == nullptr) {
            return call_mpi<F>(info, key);
        }
        return change(
            decode<F>(site, info, key), mode, [&] { return call_mpi<F>(info, key); },
            [&](Undo &undo) { return InfoSet::puts_value_back(info, key, undo); });
    }
};

// The function that returns the name that F sets.
template <Fn F> struct NameOf;
template <> struct NameOf<Fn::MPI_Comm_set_name> {
    static constexpr Fn get_name = Fn::MPI_Comm_get_name;
};
template <> struct NameOf<Fn::MPI_Type_set_name> {
    static constexpr Fn get_name = Fn::MPI_Type_get_name;
};
template <> struct NameOf<Fn::MPI_Win_set_name> {
    static constexpr Fn get_name = Fn::MPI_Win_get_name;
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
        const Call call = decode<F>(site, object, name);
        const bool is_freed = EndedConnections::has(call.arguments.comm);
        return change_freely(
            call, mode, [&] { return is_freed ? MPI_SUCCESS : call_mpi<F>(object, name); },
            [&](Undo &undo) {
                return is_freed ? nothing_to_undo(undo) : puts_name_back<F>(object, undo);
            });
    }

private:
    template <Fn F, typename Object> static int puts_name_back(Object object, Undo &undo) {
        const Part part = {word_of(object), its_name};
        if (is_undone(part)) {
            return MPI_SUCCESS;
        }
        std::array<char, MPI_MAX_OBJECT_NAME> name{};
        int length = 0;
        const int result = real<NameOf<F>::get_name>(object, name.data(), &length);
        if (result == MPI_SUCCESS) {
            const std::string before = name.data();
            undo = {part, [=] { real<F>(object, before.c_str()); }, {}};
        }
        return result;
    }
};

// Attributes of windows that MPI has freed, as a re-execution sets them. Addresses differ from
// those in the log.
class FreedWindowAttributes {
public:
    // Returns the window if MPI has freed it, else nullptr.
    static Window *window(MPI_Win handle);

    // Keeps what the thread's last call has set (`to`) or deleted, and calls the delete function.
    // A restore takes this back.
    static void change(Window &window, int key, const std::optional<SetAttribute> &to);
    static void remove_all(Window &window);

    // Corrects what the log answered: `take` gets the value that a re-execution has set in a freed
    // window, `ask` asks MPI about a living one.
    template <typename Take, typename Ask>
    static int answer(MPI_Win handle, int key, const Take &take, const Ask &ask) {
        Window *const gone = window(handle);
        if (gone != nullptr && gone->attributes.contains(key)) {
            take(gone->attributes.at(key));
        } else if (mpi_has(handle, key)) {
            const ReentryGuard inside;
            return ask();
        }
        return MPI_SUCCESS;
    }

private:
    static void put(Window &window, int key, const std::optional<SetAttribute> &to);
    static bool mpi_has(MPI_Win handle, int key);
};

// MPI_Win_set_attr: keeps the value itself if MPI has freed the window.
class WindowAttributeSet {
public:
    using Of = Arrivals;

    template <Fn F> static int call(const void *site, MPI_Win win, int key, void *value) {
        Window *const gone = FreedWindowAttributes::window(win);
        if (gone == nullptr) {
            return AttributeSet::call<F>(site, win, key, value);
        }
        const int result = Blocking::log<F>(site, win, key, value);
        if (result == MPI_SUCCESS) {
            FreedWindowAttributes::change(*gone, key, SetAttribute{value, {}});
        }
        return result;
    }

    // The Fortran form.
    template <Fn F, typename Make>
    static int call_by(const Make &make, const void *site, MPI_Win win, int key, void *value) {
        Window *const gone = FreedWindowAttributes::window(win);
        if (gone == nullptr) {
            return AttributeSet::call_by<F>(make, site, win, key, value);
        }
        const int result = Blocking::call_by<F>(make, site, win, key, value);
        if (result == MPI_SUCCESS) {
            FreedWindowAttributes::change(*gone, key,
                                          SetAttribute{nullptr, *static_cast<MPI_Aint *>(value)});
        }
        return result;
    }
};

// MPI_Win_delete_attr: the same.
class WindowAttributeDelete {
public:
    using Of = Arrivals;

    template <Fn F> static int call(const void *site, MPI_Win win, int key) {
        Window *const gone = FreedWindowAttributes::window(win);
        if (gone == nullptr || InnerCalls::are_of_undo()) {
            return AttributeDelete::call<F>(site, win, key);
        }
        const int result = Blocking::log<F>(site, win, key);
        if (result == MPI_SUCCESS) {
            FreedWindowAttributes::change(*gone, key, std::nullopt);
        }
        return result;
    }
};

} // namespace cd::logger
