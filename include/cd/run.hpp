// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#ifndef CD_RUN_HPP
#define CD_RUN_HPP

// cd::run. Included by cd.hpp; not for direct use.

#include "cd/control.h"

#include <cxxabi.h>

#include <exception>
#include <functional>
#include <string>
#include <type_traits>

namespace cd {
inline namespace cpp {

struct RunOptions {
    int tries = CD_RUN_TRIES;            // how often the body runs at most
    std::function<bool(Domain &)> check; // true if the body's result is right; empty: no check
    const char *storage_info = nullptr;  // as for Domain::child
};

namespace detail {

// The reason why a run of the body failed: an exception, or else a sentence.
struct Failure {
    std::exception_ptr thrown;
    std::string sentence; // "" if an exception was thrown, or after a success
    bool happened() const { return thrown != nullptr || !sentence.empty(); }
};

template <typename Body> std::string what_failed(Body &body, Domain &domain) {
    using Value = std::invoke_result_t<Body &, Domain &>;
    if constexpr (std::is_void_v<Value>) {
        body(domain);
        return "";
    } else if constexpr (std::is_base_of_v<Result<>, Value>) {
        const Value result = body(domain);
        return result ? "" : "its body returned: " + result.message();
    } else {
        static_assert(std::is_same_v<Value, int>,
                      "the body returns nothing, a cd::Result, or an int that is 0 for success");
        const int result = body(domain);
        return result == 0 ? "" : "its body returned " + std::to_string(result);
    }
}

// Runs `work` and returns its failure. A cancellation of the thread goes on to the caller.
template <typename Work> Failure caught(const Work &work) {
    try {
        return {nullptr, work()};
#ifdef __GLIBCXX__
    } catch (abi::__forced_unwind &) {
        throw;
#endif
    } catch (...) {
        return {std::current_exception(), ""};
    }
}

} // namespace detail

// Runs body(domain) in a child of parent, and commits the child. A run has failed if the body
// throws or returns an error, if the check throws or returns false, or if cd_failed returns 1. Then
// the child is restored and the body runs again; all its objects are destroyed by then. After the
// last try the body's exception is thrown on, or else a cd::Error of CD_ERROR_RUN_FAILED. A restore
// or commit that fails throws its own error. The child is committed then, so that the parent can
// be restored; a run around this one does so.
template <typename Body> void run(const Domain &parent, const RunOptions &options, Body &&body) {
    if (options.tries < 1)
        throw Error(CD_ERROR_ARGUMENT,
                    "cd::run: tries is " + std::to_string(options.tries) + "; give at least 1");
    Domain domain = parent.child(options.storage_info);
    const std::string name = domain.name();
    for (int tried = 1;; ++tried) {
        detail::Failure failure = detail::caught([&] { return detail::what_failed(body, domain); });
        if (cd_failed(domain.handle()) == 1 && !failure.happened())
            failure.sentence = "the failure was injected";
        if (options.check && !failure.happened())
            failure = detail::caught([&]() -> std::string {
                return options.check(domain) ? "" : "its check returned false";
            });
        if (!failure.happened())
            return domain.commit();
        if (tried == options.tries && failure.thrown != nullptr)
            std::rethrow_exception(failure.thrown);
        if (tried == options.tries)
            throw Error(CD_ERROR_RUN_FAILED,
                        "CD " + name + " failed in each of its " + std::to_string(tried) +
                            " tries, at last because " + failure.sentence + "; restore its parent");
        domain.restore();
    }
}

} // namespace cpp
} // namespace cd

#endif
