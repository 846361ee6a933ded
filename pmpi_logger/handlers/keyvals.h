// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "handlers/blocking.h"

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
    template <Fn F, typename Copy, typename Delete>
    static int call(const void *site, Copy copy, Delete forget, int *key, void *state) {
        const int result = Blocking::log<F>(site, copy, forget, key, state);
        if (result == MPI_SUCCESS) { // else the program may have given no place for the key
            Keyvals::add(Keyvals::kind<F>(), *key);
        }
        return result;
    }

    // make: makes the call, as Fortran or as C.
    template <Fn F, typename Make, typename Copy, typename Delete, typename Number>
    static int call_by(const Make &make, const void *site, Copy copy, Delete forget, MPI_Fint *key,
                       Number *state) {
        const int result = Blocking::call_by<F>(make, site, copy, forget, key, state);
        if (result == MPI_SUCCESS) {
            Keyvals::add(Keyvals::kind<F>(), *key);
        }
        return result;
    }
};

} // namespace cd::logger
