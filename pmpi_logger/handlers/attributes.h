// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/handle_word.h"
#include "handlers/keyvals.h"
#include "mpi/fortran_real.h"
#include "objects/lifetimes.h"
#include "objects/type_ends.h"

#include <optional>
#include <type_traits>

namespace cd::logger {

// What the functions for attributes of communicators, types and windows have in common.
struct CommAttributes {
    static constexpr Fn get = Fn::MPI_Comm_get_attr;
    static constexpr Fn set = Fn::MPI_Comm_set_attr;
    static constexpr Fn remove = Fn::MPI_Comm_delete_attr;

    static MPI_Comm from_fortran(MPI_Fint handle) { return MPI_Comm_f2c(handle); }
    static MPI_Fint to_fortran(MPI_Comm handle) { return MPI_Comm_c2f(handle); }
    static MPI_Comm null() { return MPI_COMM_NULL; }
};

struct TypeAttributes {
    static constexpr Fn get = Fn::MPI_Type_get_attr;
    static constexpr Fn set = Fn::MPI_Type_set_attr;
    static constexpr Fn remove = Fn::MPI_Type_delete_attr;

    static MPI_Datatype from_fortran(MPI_Fint handle) { return MPI_Type_f2c(handle); }
    static MPI_Fint to_fortran(MPI_Datatype handle) { return MPI_Type_c2f(handle); }
    static MPI_Datatype null() { return MPI_DATATYPE_NULL; }
};

struct WinAttributes {
    static constexpr Fn get = Fn::MPI_Win_get_attr;
    static constexpr Fn set = Fn::MPI_Win_set_attr;
    static constexpr Fn remove = Fn::MPI_Win_delete_attr;

    static MPI_Win from_fortran(MPI_Fint handle) { return MPI_Win_f2c(handle); }
    static MPI_Fint to_fortran(MPI_Win handle) { return MPI_Win_c2f(handle); }
    static MPI_Win null() { return MPI_WIN_NULL; }
};

// Of what F is about. The functions of MPI-1 are about communicators.
template <Fn F>
using AttributesOf =
    std::conditional_t<F == TypeAttributes::get || F == TypeAttributes::set ||
                           F == TypeAttributes::remove,
                       TypeAttributes,
                       std::conditional_t<F == WinAttributes::get || F == WinAttributes::set ||
                                              F == WinAttributes::remove,
                                          WinAttributes, CommAttributes>>;

// The number, if it was Fortran that has set the attribute: then C gets the number's address.
template <typename Of, typename Object>
std::optional<MPI_Aint> set_by_fortran(const void *site, Object object, int key, const void *in_c) {
    MPI_Fint handle = Of::to_fortran(object);
    MPI_Fint fortran_key = key;
    MPI_Fint present = 0;
    MPI_Aint number = 0;
    const auto get = fortran_routine<Of::get>(site, &handle, &fortran_key, &number, &present);
    if (!get.is_there()) {
        return {};
    }
    get(&handle, &fortran_key, &number, &present);
    return number == reinterpret_cast<MPI_Aint>(in_c) ? std::nullopt : std::optional(number);
}

// Brings an attribute back as it is now, for the language that has set it. Returns what MPI does
// when it is asked for that.
template <typename Of, typename Object>
int puts_attribute_back(const void *site, Object object, int key, Undo &undo) {
    const Part part = {word_of(object), static_cast<uint32_t>(key)};
    // MPI may have another error for who asks about what is none than for who changes it.
    if (object == Of::null() || key == MPI_KEYVAL_INVALID || is_undone(part)) {
        return MPI_SUCCESS;
    }
    void *before = nullptr;
    int present = 0;
    const int result = real<Of::get>(object, key, &before, &present);
    if (result != MPI_SUCCESS) {
        return result;
    }
    std::optional<MPI_Aint> number;
    if (present != 0) {
        number = set_by_fortran<Of>(site, object, key, before);
    }
    const auto put_back = [=] {
        if (present == 0) {
            void *ignored = nullptr;
            int still = 0;
            real<Of::get>(object, key, &ignored, &still);
            if (still != 0) {
                real<Of::remove>(object, key);
            }
        } else if (number) {
            MPI_Fint handle = Of::to_fortran(object);
            MPI_Fint fortran_key = key;
            MPI_Aint value = *number;
            fortran<Of::set>(site, &handle, &fortran_key, &value);
        } else {
            real<Of::set>(object, key, before);
        }
    };
    if constexpr (std::is_same_v<Of, TypeAttributes>) {
        notice_end(object);
    }
    undo = {part, put_back, {}};
    return MPI_SUCCESS;
}

// The program frees a communicator, which lives on: the delete functions of the attributes that it
// has set since the point in time are called now, as the program expects; a re-execution sets them
// again. What these functions call is the program's, and is recorded. An attribute that is older,
// or was copied from another communicator, is there for a re-execution, with its value, and goes
// with the communicator. Returns what the first function that refuses does; the communicator is not
// freed then.
inline int delete_attributes(MPI_Comm comm) {
    constexpr KeyvalsOf kind = KeyvalsOf::communicators;
    for (const int key : Keyvals::all(kind)) {
        // Another thread may free keys meanwhile.
        if (!is_undone({word_of(comm), static_cast<uint32_t>(key)}) || !Keyvals::has(kind, key)) {
            continue;
        }
        void *value = nullptr;
        int present = 0;
        const int found = real<Fn::MPI_Comm_get_attr>(comm, key, &value, &present);
        if (found == MPI_SUCCESS && present != 0) {
            if (const int refused = real<Fn::MPI_Comm_delete_attr>(comm, key);
                refused != MPI_SUCCESS) {
                return refused;
            }
        }
    }
    return MPI_SUCCESS;
}

} // namespace cd::logger
