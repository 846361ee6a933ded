// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/call.h"
#include "call/checksum.h"
#include "call/handle_word.h"
#include "objects/moved_types.h"
#include "payload/datatype_cache.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace cd::logger {

// Returns whether the argument is an array: MPI has special values for some.
template <typename T> bool is_array(const T *array) {
    if constexpr (std::is_same_v<T, int>) {
        return array != nullptr && array != MPI_UNWEIGHTED && array != MPI_WEIGHTS_EMPTY;
    } else {
        return array != nullptr;
    }
}

// Adds what the call writes to its outputs, and the value before to its words if that is compared.
// Leaves out null pointers, which MPI refuses.
template <Role R, typename T> void take_output(Call &call, T argument) {
    if constexpr (R == Role::freed_type) {
        call.add_word(argument != nullptr ? word_of(MovedTypes::recorded(*argument)) : 0);
    } else if constexpr (R == Role::inout || R == Role::handle) {
        call.add_word(argument != nullptr ? word_of(*argument) : 0);
    }
    if constexpr (R == Role::out_array || R == Role::out_array_2) {
        if (is_array(argument)) {
            const int length =
                R == Role::out_array ? call.arguments.length : call.arguments.length_2;
            call.add_output(
                {argument, sizeof *argument * static_cast<size_t>(std::max(length, 0))});
        }
    } else if (argument != nullptr) {
        if constexpr (R == Role::out_text) {
            call.add_output({argument, 0, Output::Kind::text});
        } else if constexpr (std::is_void_v<std::remove_pointer_t<T>>) {
            call.add_output({argument, sizeof(void *)});
        } else {
            call.add_output({argument, sizeof *argument});
        }
    }
}

// Roles that describe data. MPI ignores such arguments in some ranks.
constexpr bool is_of_sent(Role role) { return role == Role::send_count || role == Role::send_type; }
constexpr bool is_of_received(Role role) {
    return role == Role::recv_count || role == Role::recv_type;
}
constexpr bool is_of_both(Role role) { return role == Role::both_count || role == Role::both_type; }
constexpr bool is_of_root(Role role) {
    return role == Role::value_at_root || role == Role::length_at_root ||
           role == Role::text_at_root;
}

// Stores the argument by its role in what the call sends and receives.
template <Role R, typename T> void note(Arguments &a, T argument) {
    if constexpr (R == Role::comm) {
        static_assert(std::is_same_v<T, MPI_Comm>);
        a.comm = argument;
    } else if constexpr (R == Role::handle && std::is_same_v<T, MPI_Comm *>) {
        a.comm = argument != nullptr ? *argument : MPI_COMM_NULL; // whose errors these are
    } else if constexpr (R == Role::root) {
        a.root = argument;
    } else if constexpr (R == Role::length || R == Role::length_at_root) {
        a.length = static_cast<int>(argument);
    } else if constexpr (R == Role::length_2) {
        a.length_2 = argument;
    } else if constexpr (R == Role::target) {
        if (argument == MPI_PROC_NULL) { // which takes nothing and brings nothing
            a.send_count = a.recv_count = 0;
        }
    } else if constexpr (R == Role::peer) {
        const bool is_receiver = a.recv_type == MPI_DATATYPE_NULL; // that comes before the sender
        if (is_receiver && argument == MPI_PROC_NULL) {
            a.send_count = 0;
        }
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
}

// Returns the checksum of an array, or 0 if there is none.
template <typename T> uint64_t checksum_of_array(const T *array, int length) {
    const bool there = is_array(array) && length > 0;
    return there ? checksum(array, sizeof *array * static_cast<size_t>(length)) : 0;
}

// Returns the word of the argument that a replay compares.
template <Role R, typename T> uint64_t word_as(const Arguments &arguments, T argument) {
    if constexpr (R == Role::text || R == Role::text_at_root) {
        return argument != nullptr ? checksum(argument, std::strlen(argument)) : 0;
    } else if constexpr (R == Role::send_type || R == Role::recv_type || R == Role::both_type) {
        return facts_of(argument).signature;
    } else if constexpr (R == Role::type) {
        return word_of(MovedTypes::recorded(argument));
    } else if constexpr (R == Role::types) {
        uint64_t sum = 0;
        for (int i = 0; argument != nullptr && i < arguments.length; ++i) {
            sum = sum * 31 + word_of(MovedTypes::recorded(argument[i]));
        }
        return sum;
    } else if constexpr (R == Role::numbers) {
        return checksum_of_array(argument, arguments.length);
    } else if constexpr (R == Role::numbers_2) {
        return checksum_of_array(argument, arguments.length_2);
    } else {
        return word_of(argument);
    }
}

// Adds an argument to the call, after note_all(). Inlined, like the functions below, so that unused
// parts of a Call are never made.
template <Role R, typename T> [[gnu::always_inline]] inline void take(Call &call, T argument) {
    const Significance &matter = call.matter;
    if constexpr (is_compared(R)) {
        bool matters = true;
        if constexpr (is_of_sent(R)) {
            matters = matter.sent;
        } else if constexpr (is_of_received(R)) {
            matters = matter.received;
        } else if constexpr (is_of_both(R)) {
            matters = matter.sent || matter.received;
        } else if constexpr (is_of_root(R)) {
            matters = matter.at_root;
        }
        call.add_word(matters ? word_as<R>(call.arguments, argument) : 0);
    } else if constexpr (R == Role::out || R == Role::made || R == Role::inout ||
                         R == Role::handle || R == Role::freed_type || R == Role::out_pointer ||
                         R == Role::made_pointer || R == Role::out_text || R == Role::out_array ||
                         R == Role::out_array_2) {
        take_output<R>(call, argument);
    }
}

template <Role... Roles, typename... A>
[[gnu::always_inline]] inline void note_all(RoleList<Roles...>, Arguments &arguments, A... a) {
    static_assert(sizeof...(Roles) == sizeof...(A), "functions.def: a role for each argument");
    (note<Roles>(arguments, a), ...);
}

template <Role... Roles, typename... A>
[[gnu::always_inline]] inline void take_all(RoleList<Roles...>, Call &call, A... a) {
    (take<Roles>(call, a), ...);
}

} // namespace cd::logger
