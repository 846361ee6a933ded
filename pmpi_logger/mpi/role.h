// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

namespace cd::logger {

// Says how an argument of an MPI function is recorded and replayed. functions.def names one role
// for each argument.
enum class Role {
    // Compared with the log in a replay, as a number or handle.
    value,
    comm,
    peer, // rank of the sender or receiver
    tag,
    root,
    length,     // of an array that follows
    length_2,   // of a second one
    both_count, // of the data sent and of the data received
    partitions, // each with as many elements as the count says
    both_type,
    send_count,
    send_type,
    recv_count,
    recv_type,
    window,
    target,    // rank of the one whose window is concerned
    assertion, // about an epoch
    operation,
    type,           // a datatype that says nothing of what is sent or received
    types,          // as many as the length says
    numbers,        // integers, as many as the length says; a checksum of them is compared
    numbers_2,      // the same by the second length
    value_at_root,  // the others may give anything
    length_at_root, // the same
    text,           // a string, of which a hash is compared
    text_at_root,

    // Addresses, which may differ in a re-execution.
    address, // of something that nothing here looks at
    send_buf,
    send_counts,
    send_displs,
    send_types,
    recv_buf,
    recv_counts,
    recv_displs,
    recv_types,
    compare_buf,   // one element
    displacements, // of as many parts of a type as the length says: they may be addresses

    // Where the call writes one thing, which is logged and written again.
    out,
    made,         // the handle of an object that the program has to free
    made_pointer, // the same of memory, passed as void *
    out_pointer,  // a pointer, passed as void *
    out_text,     // a string that ends with a NUL
    out_array,    // of as many elements as the length says
    out_array_2,  // the same by the second length
    inout,        // also compared
    flag,         // whether a poll found something

    // Arguments that handlers treat in their own ways.
    status,
    statuses,
    request,       // that the call makes, or changes
    plain_request, // passed by value
    requests,
    index, // or how many
    indices,
    handle,    // that the call frees
    freed_type // the same of a type
};

constexpr bool is_compared(Role role) { return role <= Role::text_at_root; }

} // namespace cd::logger
