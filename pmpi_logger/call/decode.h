// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/call.h"
#include "entry/checksum.h"

#include <cstring>
#include <type_traits>

namespace cd::logger {

// A number or a handle, as it stands in the log.
template <typename T> uint64_t word_of(T value) {
    if constexpr (std::is_integral_v<T>) {
        return static_cast<uint64_t>(static_cast<int64_t>(value));
    } else {
        static_assert(sizeof(T) <= sizeof(uint64_t) && std::is_trivially_copyable_v<T>);
        uint64_t word = 0;
        std::memcpy(&word, &value, sizeof value);
        return word;
    }
}

// The program may give MPI something else than an array.
template <typename T> bool is_array(const T *array) {
    if constexpr (std::is_same_v<T, int>) {
        return array != nullptr && array != MPI_UNWEIGHTED && array != MPI_WEIGHTS_EMPTY;
    } else {
        return array != nullptr;
    }
}

template <Role R, typename T> void take(Call &call, T argument) {
    Arguments &a = call.arguments;
    if constexpr (R == Role::comm) {
        static_assert(std::is_same_v<T, MPI_Comm>);
        a.comm = argument;
    } else if constexpr (R == Role::root) {
        a.root = argument;
    } else if constexpr (R == Role::length) {
        a.length = argument;
    } else if constexpr (R == Role::length_2) {
        a.length_2 = argument;
    } else if constexpr (R == Role::partitions) {
        a.partitions = argument;
    } else if constexpr (R == Role::both_count) {
        a.send_count = a.recv_count = argument;
    } else if constexpr (R == Role::both_type) {
        a.send_type = a.recv_type = argument;
    } else if constexpr (R == Role::send_count) {
        a.send_count = argument;
    } else if constexpr (R == Role::send_type) {
        static_assert(std::is_same_v<T, MPI_Datatype>);
        a.send_type = argument;
    } else if constexpr (R == Role::recv_count) {
        a.recv_count = argument;
    } else if constexpr (R == Role::recv_type) {
        static_assert(std::is_same_v<T, MPI_Datatype>);
        a.recv_type = argument;
    } else if constexpr (R == Role::send_buf) {
        a.send_buf = argument;
    } else if constexpr (R == Role::send_counts) {
        a.send_counts = Numbers(argument);
    } else if constexpr (R == Role::send_displs) {
        a.send_displs = Numbers(argument);
    } else if constexpr (R == Role::send_types) {
        a.send_types = argument;
    } else if constexpr (R == Role::recv_buf) {
        a.recv_buf = argument;
    } else if constexpr (R == Role::recv_counts) {
        a.recv_counts = Numbers(argument);
    } else if constexpr (R == Role::recv_displs) {
        a.recv_displs = Numbers(argument);
    } else if constexpr (R == Role::recv_types) {
        a.recv_types = argument;
    } else if constexpr (R == Role::status) {
        static_assert(std::is_same_v<T, MPI_Status *>);
        a.status = argument;
    } else if constexpr (R == Role::flag) {
        a.flag = argument;
    }

    if constexpr (is_compared(R)) {
        if constexpr (R == Role::text) {
            call.add_word(argument != nullptr ? checksum(argument, std::strlen(argument)) : 0);
        } else {
            call.add_word(word_of(argument));
        }
    } else if constexpr (R == Role::out || R == Role::inout || R == Role::handle) {
        if constexpr (R != Role::out) {
            call.add_word(word_of(*argument));
        }
        if constexpr (std::is_void_v<std::remove_pointer_t<T>>) {
            call.add_output({argument, sizeof(void *)});
        } else {
            call.add_output({argument, sizeof *argument});
        }
    } else if constexpr (R == Role::out_pointer) {
        call.add_output({argument, sizeof(void *)});
    } else if constexpr (R == Role::out_text) {
        call.add_output({argument, 0, Output::Kind::text});
    } else if constexpr (R == Role::out_array || R == Role::out_array_2) {
        if (is_array(argument)) {
            const int length = R == Role::out_array ? a.length : a.length_2;
            call.add_output({argument, sizeof *argument * static_cast<size_t>(length)});
        }
    }
}

template <Role... Roles, typename... A> void take_all(RoleList<Roles...>, Call &call, A... a) {
    static_assert(sizeof...(Roles) == sizeof...(A), "functions.def: a role for each argument");
    (take<Roles>(call, a), ...);
}

} // namespace cd::logger
