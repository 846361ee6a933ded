// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "mpi/function.h"
#include "mpi/real.h"
#include "mpi/reentry_guard.h"

#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

namespace cd::logger {

// Handles memory that runs out while a call is recorded. MPI gets the call all the same, and the
// program its result. The log is marked incomplete: the CD cannot be restored before it advances.
class RecordFailure {
public:
    // Runs `take`, which records the call of F or answers it from the log. Where memory runs out
    // before MPI has the call, runs `make`. `Lasts`: a restore would need more of the call than its
    // entry, such as where a request writes to.
    template <Fn F, bool Lasts, typename Take, typename Make>
    [[gnu::always_inline]] static auto guarded(const Take &take, const Make &make) {
        const KeepsProgress outer;
        try {
            return take();
        } catch (const std::bad_alloc &) {
            const ReentryGuard inside;
            const uint64_t progress = progress_;
            if constexpr (std::is_same_v<decltype(take()), int>) {
                if ((progress & made) != 0) {
                    lose(F, Lasts);
                    return static_cast<int>(progress >> result_shift);
                }
                if (is_answered_by_log()) {
                    return fail(F, "cannot be answered from the log; restore the CD");
                }
            }
            lose(F, Lasts);
            return make();
        }
    }

    // Marks the log incomplete after memory ran out in a call, and reports that.
    static void lose(Fn fn, bool lasts);
    // Reports that an entry could not be written: for want of memory, or because of the file that
    // takes what exceeds log_limit. Returns whether CD_LOG=all records the thread.
    static bool report(Fn fn);
    // Reports that memory ran out before anything was done; returns the call's error.
    static int fail(Fn fn, const char *consequence);

    // Returns why no CD of this process can be restored any more, or nullptr.
    static const char *hindrance();

    // Sets the function that counts a missing call where CD_LOG=all records the thread, and returns
    // false elsewhere.
    static void count_missing_by(bool (*count)());

    static void note_made(int result) {
        progress_ = made | static_cast<uint64_t>(static_cast<uint32_t>(result)) << result_shift;
    }
    static void note_read() { progress_ |= read; }

private:
    // How far the thread's call has come: MPI has returned `result`, or the log has given an entry.
    enum Progress : uint64_t { made = 1, read = 2 };
    static constexpr int result_shift = 32;

    class KeepsProgress {
    public:
        KeepsProgress() : outer_(std::exchange(progress_, 0)) {}
        KeepsProgress(const KeepsProgress &) = delete;
        KeepsProgress &operator=(const KeepsProgress &) = delete;
        ~KeepsProgress() { progress_ = outer_; }

    private:
        uint64_t outer_;
    };

    static bool is_answered_by_log();

    [[gnu::tls_model("initial-exec")]] static inline constinit thread_local uint64_t progress_ = 0;
};

// Calls MPI's own F for the program.
template <Fn F, typename... A> inline auto call_mpi(A &&...a) {
    const auto result = real<F>(std::forward<A>(a)...);
    if constexpr (std::is_same_v<decltype(result), const int>) {
        RecordFailure::note_made(result);
    }
    return result;
}

} // namespace cd::logger
