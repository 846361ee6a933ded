// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/function.h"

#include <type_traits>

namespace cd::logger {

struct CourseState {
    bool is_there = false;
    bool is_under_way = false;
    bool is_made = false;
    bool has_read = false;
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
    explicit Course(Fn fn) : outer_(current_) { current_ = {true, false, false, false, fn, 0}; }
    Course(const Course &) = delete;
    Course &operator=(const Course &) = delete;
    ~Course() { current_ = outer_; }

    // Whether the thread is in a call of fn.
    static bool is_of(Fn fn) { return current_.is_there && current_.fn == fn; }
    // An entry has been read.
    static void read_log() { current_.has_read = true; }

    // Calls MPI, in which functions of the program may make other calls.
    template <typename Make> static auto follow(const Make &make) {
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

    // Of the innermost one.
    static bool is_under_way() { return current_.is_under_way; }
    static bool is_made() { return current_.is_made; }
    static bool has_read() { return current_.has_read; }
    static int result() { return current_.result; }

private:
    CourseState outer_;

    [[gnu::tls_model(
        "initial-exec")]] static inline constinit thread_local CourseState current_ = {};
};

} // namespace cd::logger
