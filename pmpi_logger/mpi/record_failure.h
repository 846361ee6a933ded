// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "mpi/real.h"

#include <new>
#include <type_traits>
#include <utility>

namespace cd::logger {

// Handles memory that runs out while a call is recorded. The log is marked incomplete: the CD
// cannot be restored before it advances.
class RecordFailure {
public:
    // Runs `take`, which records the call of F or answers it from the log. If memory runs out
    // there, the call fails, as MPI may have made it or not.
    template <Fn F, typename Take> [[gnu::always_inline]] static auto guarded(const Take &take) {
        try {
            return take();
        } catch (const std::bad_alloc &) {
            const int error = fail(F);
            if constexpr (std::is_same_v<decltype(take()), int>) {
                return error;
            } else {
                return decltype(take())();
            }
        }
    }

    // Marks the log incomplete, as it lacks a call, and reports that.
    static void lose(Fn fn);
    // Reports that an entry could not be written: for want of memory, or because of the file that
    // takes what exceeds log_limit.
    static void report(Fn fn);

    // Returns why no CD of this process can be restored any more, or nullptr.
    static const char *hindrance();

    // Sets the function that counts a missing call where CD_LOG=all records the thread, and returns
    // false elsewhere.
    static void count_missing_by(bool (*count)());

private:
    static int fail(Fn fn);
};

// Calls MPI's own F for the program.
template <Fn F, typename... A> inline auto call_mpi(A &&...a) {
    return real<F>(std::forward<A>(a)...);
}

} // namespace cd::logger
