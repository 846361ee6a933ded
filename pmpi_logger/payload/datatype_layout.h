// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <mpi.h>

namespace cd::logger {

struct DatatypeFacts;

// What a datatype is made of.
struct DatatypeLayout {
    // Of the basic types in one element, in their order: the same for all types that MPI would let
    // match, however they are made. That of a basic type is its handle.
    uint64_t signature = 0;
    // The data in memory are in the order in which MPI sends them, one element behind the other.
    bool in_order = false;
    // Some basic types have bytes that nobody writes when giving them a value: they mean nothing.
    bool padded = false;
};

// MPI is asked once, when the type is first used; facts are the type's. Thread-safe.
DatatypeLayout makeup_of(MPI_Datatype type, const DatatypeFacts &facts);

// Whether MPI has it from the start, and nobody may free it.
bool is_basic(MPI_Datatype type);

// Of how many types the program has made it.
size_t count_parts(MPI_Datatype type);

// The type is about to be freed; its handle may come to mean another one.
void forget_makeup(MPI_Datatype type);

} // namespace cd::logger
