// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// The Fortran routines that are taken over themselves: fortran.def says which, and why.

#include "handlers/blocking.h"
#include "handlers/object_state.h"
#include "handlers/windows.h"
#include "intercept/dispatch.h"
#include "mpi/differences.h"
#include "mpi/fortran_real.h"

namespace cd::logger {

// Convert the arguments of a Fortran routine to those of its C function. The handler records the
// call by these and makes it by MPI's own routine.

template <typename Number> struct FortranAttributeSet {
    template <Fn F, typename Handler>
    static int call(const void *site, MPI_Fint *object, MPI_Fint *key, Number *value) {
        return Handler::template call_by<F>(
            [&](auto holder, auto...) {
                MPI_Fint number = AttributesOf<F>::to_fortran(holder);
                return fortran<F>(site, &number, key, value);
            },
            site, AttributesOf<F>::from_fortran(*object), *key, static_cast<void *>(value));
    }
};

template <typename Number> struct FortranAttributeGet {
    template <Fn F, typename Handler>
    static int call(const void *site, MPI_Fint *object, MPI_Fint *key, Number *value,
                    MPI_Fint *flag) {
        MPI_Aint number = *value; // as wide as C's pointer
        static_assert(sizeof number == sizeof(void *));
        const int result = Handler::template call_by<F>(
            [&](auto holder, auto...) {
                MPI_Fint handle = AttributesOf<F>::to_fortran(holder);
                const int made = fortran<F>(site, &handle, key, value, flag);
                number = *value;
                return made;
            },
            site, AttributesOf<F>::from_fortran(*object), *key, static_cast<void *>(&number), flag);
        *value = static_cast<Number>(number);
        return result;
    }
};

struct FortranWindowAttributeGet {
    template <Fn F, typename Handler>
    static int call(const void *site, MPI_Fint *win, MPI_Fint *key, MPI_Aint *value,
                    MPI_Fint *flag) {
        const int key_in_c = *key - fortran_window_key_offset;
        const Window *const window = WindowAttributeGet::separate(MPI_Win_f2c(*win), key_in_c);
        if (window == nullptr) {
            const bool replays = Logging::mode() == CD_LOG_REPLAYING;
            const int result =
                FortranAttributeGet<MPI_Aint>::call<F, Blocking>(site, win, key, value, flag);
            if (!replays || result != MPI_SUCCESS || *flag == 0) {
                return result;
            }
            // MPI has what a re-execution sets in a living window, the log what it sets in others.
            return is_ended<F>(MPI_Win_f2c(*win)) || !Keyvals::has(KeyvalsOf::windows, *key)
                       ? result
                       : fortran<F>(site, win, key, value, flag);
        }
        *value = MPI_WIN_SEPARATE;
        if (key_in_c == MPI_WIN_BASE) {
            *value = reinterpret_cast<MPI_Aint>(window->memory());
        }
        *flag = 1;
        return MPI_SUCCESS;
    }
};

using Procedure = void();

template <typename Number> struct FortranKeyvalCreate {
    template <Fn F, typename Handler>
    static int call(const void *site, Procedure *copy, Procedure *forget, MPI_Fint *key,
                    Number *state) {
        return Handler::template call_by<F>(
            [&](auto...) { return fortran<F>(site, copy, forget, key, state); }, site, copy, forget,
            key, state);
    }
};

struct FortranErrorHandlerCreate {
    template <Fn F, typename Handler>
    static int call(const void *site, Procedure *function, MPI_Fint *handler) {
        MPI_Errhandler created = MPI_ERRHANDLER_NULL;
        const int result = Handler::template call_by<F>(
            [&](auto...) {
                const int made = fortran<F>(site, function, handler);
                if (made == MPI_SUCCESS) {
                    created = MPI_Errhandler_f2c(*handler);
                }
                return made;
            },
            site, function, &created);
        if (result == MPI_SUCCESS) {
            *handler = MPI_Errhandler_c2f(created);
        }
        return result;
    }
};

// Passes Fortran's error code on, the last argument, which mpi_f08 may leave out.
template <Fn F, typename Arguments, typename Handler,
          typename Type = decltype(Arguments::template call<F, Handler>)>
struct Routine;

template <Fn F, typename Arguments, typename Handler, typename... A>
struct Routine<F, Arguments, Handler, int(const void *, A...)> {
    static void call(A... a, MPI_Fint *error) {
        const void *const site = __builtin_return_address(0);
        const int result = RecordFailure::guarded<F>(
            [&] { return Arguments::template call<F, Handler>(site, a...); });
        if (error != nullptr) {
            *error = result;
        }
    }
};

} // namespace cd::logger

#define CD_ROUTINE(name, arguments, handler, arrives, ...)                                         \
    CD_ROW(name, handler, arrives, __VA_ARGS__)                                                    \
    namespace cd::logger {                                                                         \
    using Routine_##name = Routine<Fn::name, arguments, handler>;                                  \
    }
#define CD_ROUTINE_NAME(name, called)                                                              \
    namespace cd::logger {                                                                         \
    [[gnu::used]] static void export_##called() { CD_EXPORT(called, &Routine_##name::call); }      \
    }
#include "fortran.inc"
