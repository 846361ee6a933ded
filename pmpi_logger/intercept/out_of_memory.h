// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "intercept/course.h"
#include "mpi/reentry_guard.h"

#include <new>
#include <type_traits>

namespace cd::logger {

// A family whose name guards_itself calls guarded() where it does more than to call MPI: a call
// that goes straight to MPI saves no registers then.
//
// What happens when there is no memory for what the logger keeps of a call: MPI is called all the
// same, and the program gets its result. No exception leaves a function of MPI but one of the
// program's own, which a function that MPI calls has thrown.
class OutOfMemory {
public:
    // Why no CD of this process can be restored any more; nullptr if that is not so.
    static const char *hindrance();

    // Takes a call over. Lasts: more than the entry is kept of such calls that a restore has to
    // know, such as where a request writes to. make: makes the call, if it has not been made.
    template <Fn F, bool Lasts, typename Take, typename Make>
    [[gnu::always_inline]] static auto guarded(const Take &take, const Make &make) {
        Course course(F);
        try {
            return take();
        } catch (const std::bad_alloc &) {
            if (Course::is_under_way()) {
                course.left();
                left(F);
                throw;
            }
            const ReentryGuard inside;
            if constexpr (std::is_same_v<decltype(take()), int>) {
                if (is_answered_by_log()) {
                    return fail(F);
                }
                if (Course::is_incomplete()) {
                    return fail_incomplete(F, Lasts);
                }
                lose(F, Lasts);
                return Course::is_made() ? Course::result() : make();
            } else {
                lose(F, Lasts);
                return make();
            }
        } catch (...) {
            course.left();
            left(F);
            throw;
        }
    }

    // The same of what a call leaves to be recorded that has been made, with result.
    template <Fn F, typename Record> static void guarded_after(int result, const Record &record) {
        guarded<F, false>(
            [&] {
                Course::follow(F, [&] { return result; });
                record();
                return result;
            },
            [&] { return result; });
    }

    // Makes a call that the program has made, where nothing but that may throw.
    template <Fn F, typename Make>
    [[gnu::always_inline]] static auto without_guard(const Make &make) {
        try {
            return make();
        } catch (...) {
            Course::leave();
            left(F);
            throw;
        }
    }

private:
    static bool is_answered_by_log();
    static int fail(Fn fn);
    static int fail_incomplete(Fn fn, bool lasts);
    static void lose(Fn fn, bool lasts);
    // An exception of the program's leaves the call.
    static void left(Fn fn);
};

} // namespace cd::logger
