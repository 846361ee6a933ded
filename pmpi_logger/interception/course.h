// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/function.h"

#include <type_traits>

namespace cd::logger {

// How far a call of the program has come, for when there is no memory for what the logger keeps of
// it: MPI has been called, or not yet; the log has given something for it.
class Course {
public:
    explicit Course(Fn fn) : fn_(fn), outer_(current_) { current_ = this; }
    Course(const Course &) = delete;
    Course &operator=(const Course &) = delete;
    ~Course() { current_ = outer_; }

    // That of the call that the thread is in, if it is one of fn.
    static Course *of(Fn fn) {
        return current_ != nullptr && current_->fn_ == fn ? current_ : nullptr;
    }
    // An entry has been read.
    static void read_log() {
        if (current_ != nullptr) {
            current_->has_read_ = true;
        }
    }

    // Calls MPI.
    template <typename Make> auto follow(const Make &make) {
        ++under_way_; // also of others that a function of the program makes in it
        const auto result = make();
        --under_way_;
        is_made_ = true;
        if constexpr (std::is_same_v<decltype(make()), int>) {
            result_ = result;
        }
        return result;
    }

    bool is_under_way() const { return under_way_ > 0; }
    bool is_made() const { return is_made_; }
    bool has_read() const { return has_read_; }
    int result() const { return result_; }

private:
    Fn fn_;
    bool is_made_ = false;
    bool has_read_ = false;
    int under_way_ = 0;
    int result_ = 0;
    Course *outer_;

    [[gnu::tls_model("initial-exec")]] static inline constinit thread_local Course *current_ =
        nullptr;
};

} // namespace cd::logger
