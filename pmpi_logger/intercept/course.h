// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/function.h"
#include "mpi/real.h"

#include <cstdint>
#include <type_traits>
#include <utility>

namespace cd::logger {

// In one word, so that it is kept and put back at once, and by the same instructions that have
// written it: a processor waits where a whole is read of which parts have just been written.
class CourseState {
public:
    enum Step : uint64_t { there = 1, under_way = 2, made = 4, read = 8, incomplete = 16 };

    constexpr CourseState() = default;
    explicit CourseState(Fn fn) : word_(there | static_cast<uint64_t>(fn) << fn_shift) {}

    bool is(Step step) const { return (word_ & step) != 0; }
    bool is_of(Fn fn) const {
        return (word_ & (fn_mask | there)) == (there | static_cast<uint64_t>(fn) << fn_shift);
    }
    int result() const { return static_cast<int>(word_ >> result_shift); }

    void set(Step step) { word_ |= step; }
    void clear(Step step) { word_ &= ~uint64_t{step}; }
    void set_result(int result) {
        word_ = (word_ & result_mask) | static_cast<uint64_t>(static_cast<uint32_t>(result))
                                            << result_shift;
    }

private:
    static constexpr int fn_shift = 8;
    static constexpr int result_shift = 32;
    static constexpr uint64_t fn_mask = uint64_t{0xffff} << fn_shift;
    static constexpr uint64_t result_mask = (uint64_t{1} << result_shift) - 1;

    uint64_t word_ = 0;
};

// How far a call of the program has come, for when there is no memory for what the logger keeps of
// it: MPI has been called, or not yet; the log has given something for it.
//
// All of it lies in the thread, nothing leads into the stack: a function of the program that MPI
// calls may leave the call by longjmp, and what is left here then says nothing of a later one.
class Course {
public:
    explicit Course(Fn fn) : outer_(current_) { current_ = CourseState(fn); }
    Course(const Course &) = delete;
    Course &operator=(const Course &) = delete;
    ~Course() { current_ = outer_; }

    // An entry has been read.
    static void read_log() { current_.set(CourseState::read); }

    // What MPI does is not what the program wants, before the logger has done its part: it works on
    // copies.
    static void set_incomplete(bool is_incomplete) {
        is_incomplete ? current_.set(CourseState::incomplete)
                      : current_.clear(CourseState::incomplete);
    }

    // Makes the thread's call, if that is one of fn: calls MPI, in which functions of the program
    // may make other calls.
    template <typename Make> static auto follow(Fn fn, const Make &make) {
        CourseState own = current_;
        if (!own.is_of(fn)) {
            return make(); // what a log has kept back for later
        }
        CourseState under_way = own;
        under_way.set(CourseState::under_way);
        current_ = under_way;
        const auto result = make();
        own.set(CourseState::made);
        if constexpr (std::is_same_v<decltype(make()), int>) {
            own.set_result(result);
        }
        current_ = own;
        return result;
    }

    // An exception of the program's leaves it, and the one that it is part of.
    void left() { outer_.set(CourseState::under_way); }
    // The same of a call that nobody follows.
    static void leave() { current_.set(CourseState::under_way); }

    // Of the innermost one.
    static bool is_under_way() { return current_.is(CourseState::under_way); }
    static bool is_made() { return current_.is(CourseState::made); }
    static bool has_read() { return current_.is(CourseState::read); }
    static bool is_incomplete() { return current_.is(CourseState::incomplete); }
    static int result() { return current_.result(); }

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
