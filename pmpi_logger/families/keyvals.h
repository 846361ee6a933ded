// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "families/exchange.h"

#include <tuple>
#include <vector>

namespace cd::logger {

// The keys of attributes that the program has made: MPI refuses to free others, and all look alike.
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

class MakesKeyval : public MovesData {
public:
    template <Fn F, typename... A> static int call(const void *site, A... a) {
        return made<F>(Exchange::call<F>(site, a...), a...);
    }

    // make: makes the call, as Fortran or as C.
    template <Fn F, typename Make, typename... A>
    static int call_by(const Make &make, const void *site, A... a) {
        return made<F>(Exchange::call_by<F>(make, site, a...), a...);
    }

private:
    template <Fn F, typename... A> static int made(int result, A... a) {
        if (result == MPI_SUCCESS) {
            Keyvals::add(Keyvals::kind<F>(),
                         *std::get<Row<F>::Roles::index(Role::out)>(std::tuple<A...>(a...)));
        }
        return result;
    }
};

} // namespace cd::logger
