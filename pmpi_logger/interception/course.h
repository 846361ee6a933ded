// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/function.h"
#include "interception/real.h"

#include <type_traits>
#include <utility>

namespace cd::logger {

struct CourseState {
    bool is_there = false;
    bool is_under_way = false;
    bool is_made = false;
    bool has_read = false;
    bool is_incomplete = false;
    Fn fn = {};
    int result = 0;
};

// How far a call of the program has come, for when there is no memory for what the logger keeps of
// it: MPI has been called, or not yet; the log has given something for it.
//
// All of it lies in the thread, nothing leads into the stack: a function of the program that MPI
// calls may leave the call by longjmp, and what is left here then says nothing of a later one.
class Course {
public:
    explicit Course(Fn fn) : outer_(current_) {
        current_ = {true, false, false, false, false, fn, 0};
    }
    Course(const Course &) = delete;
    Course &operator=(const Course &) = delete;
    ~Course() { current_ = outer_; }

    // An entry has been read.
    static void read_log() { current_.has_read = true; }

    // What MPI does is not what the program wants, before the logger has done its part: it works on
    // copies.
    static void set_incomplete(bool is_incomplete) { current_.is_incomplete = is_incomplete; }

    // Makes the thread's call, if that is one of fn: calls MPI, in which functions of the program
    // may make other calls.
    template <typename Make> static auto follow(Fn fn, const Make &make) {
        if (!current_.is_there || current_.fn != fn) {
            return make(); // what a log has kept back for later
        }
        CourseState own = current_;
        current_.is_under_way = true;
        const auto result = make();
        own.is_made = true;
        if constexpr (std::is_same_v<decltype(make()), int>) {
            own.result = result;
        }
        current_ = own;
        return result;
    }

    // An exception of the program's leaves it, and the one that it is part of.
    void left() { outer_.is_under_way = true; }

    // Of the innermost one.
    static bool is_under_way() { return current_.is_under_way; }
    static bool is_made() { return current_.is_made; }
    static bool has_read() { return current_.has_read; }
    static bool is_incomplete() { return current_.is_incomplete; }
    static int result() { return current_.result; }

private:
    CourseState outer_;

    [[gnu::tls_model(
        "initial-exec")]] static inline constinit thread_local CourseState current_ = {};
};

// Where the call that the program has made goes to MPI.
template <Fn F, typename... A> inline auto call_mpi(A &&...a) {
    return Course::follow(F, [&] { return real<F>(std::forward<A>(a)...); });
}

} // namespace cd::logger
