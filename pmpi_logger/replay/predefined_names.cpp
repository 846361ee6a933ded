// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "replay/predefined_names.h"

#include "call/handle_word.h"

#include <mpi.h>
#include <span>

namespace cd::logger {
namespace {

struct Predefined {
    uint64_t word;
    const char *name;
};

// An MPI that lacks a type has the null handle instead.
const char *find(std::span<const Predefined> all, uint64_t word) {
    for (const Predefined &each : all) {
        if (each.word == word) {
            return each.name;
        }
    }
    return nullptr;
}

} // namespace

#define CD_NAMED(constant)                                                                         \
    Predefined { word_of(constant), #constant }

const char *name_of_type(uint64_t word) {
    static const Predefined all[] = {
        CD_NAMED(MPI_DATATYPE_NULL),
        CD_NAMED(MPI_BYTE),
        CD_NAMED(MPI_PACKED),
        CD_NAMED(MPI_CHAR),
        CD_NAMED(MPI_SIGNED_CHAR),
        CD_NAMED(MPI_UNSIGNED_CHAR),
        CD_NAMED(MPI_WCHAR),
        CD_NAMED(MPI_SHORT),
        CD_NAMED(MPI_UNSIGNED_SHORT),
        CD_NAMED(MPI_INT),
        CD_NAMED(MPI_UNSIGNED),
        CD_NAMED(MPI_LONG),
        CD_NAMED(MPI_UNSIGNED_LONG),
        CD_NAMED(MPI_LONG_LONG),
        CD_NAMED(MPI_UNSIGNED_LONG_LONG),
        CD_NAMED(MPI_FLOAT),
        CD_NAMED(MPI_DOUBLE),
        CD_NAMED(MPI_LONG_DOUBLE),
        CD_NAMED(MPI_INT8_T),
        CD_NAMED(MPI_INT16_T),
        CD_NAMED(MPI_INT32_T),
        CD_NAMED(MPI_INT64_T),
        CD_NAMED(MPI_UINT8_T),
        CD_NAMED(MPI_UINT16_T),
        CD_NAMED(MPI_UINT32_T),
        CD_NAMED(MPI_UINT64_T),
        CD_NAMED(MPI_C_BOOL),
        CD_NAMED(MPI_C_FLOAT_COMPLEX),
        CD_NAMED(MPI_C_DOUBLE_COMPLEX),
        CD_NAMED(MPI_C_LONG_DOUBLE_COMPLEX),
        CD_NAMED(MPI_CXX_BOOL),
        CD_NAMED(MPI_CXX_FLOAT_COMPLEX),
        CD_NAMED(MPI_CXX_DOUBLE_COMPLEX),
        CD_NAMED(MPI_CXX_LONG_DOUBLE_COMPLEX),
        CD_NAMED(MPI_AINT),
        CD_NAMED(MPI_COUNT),
        CD_NAMED(MPI_OFFSET),
        CD_NAMED(MPI_FLOAT_INT),
        CD_NAMED(MPI_DOUBLE_INT),
        CD_NAMED(MPI_LONG_INT),
        CD_NAMED(MPI_2INT),
        CD_NAMED(MPI_SHORT_INT),
        CD_NAMED(MPI_LONG_DOUBLE_INT),
        CD_NAMED(MPI_CHARACTER),
        CD_NAMED(MPI_LOGICAL),
        CD_NAMED(MPI_INTEGER),
        CD_NAMED(MPI_REAL),
        CD_NAMED(MPI_DOUBLE_PRECISION),
        CD_NAMED(MPI_COMPLEX),
        CD_NAMED(MPI_DOUBLE_COMPLEX),
        CD_NAMED(MPI_2INTEGER),
        CD_NAMED(MPI_2REAL),
        CD_NAMED(MPI_2DOUBLE_PRECISION),
        CD_NAMED(MPI_INTEGER1),
        CD_NAMED(MPI_INTEGER2),
        CD_NAMED(MPI_INTEGER4),
        CD_NAMED(MPI_INTEGER8),
        CD_NAMED(MPI_REAL4),
        CD_NAMED(MPI_REAL8),
        CD_NAMED(MPI_COMPLEX8),
        CD_NAMED(MPI_COMPLEX16),
    };
    return find(all, word);
}

const char *name_of_operation(uint64_t word) {
    static const Predefined all[] = {
        CD_NAMED(MPI_SUM),   CD_NAMED(MPI_PROD),   CD_NAMED(MPI_MAX),    CD_NAMED(MPI_MIN),
        CD_NAMED(MPI_LAND),  CD_NAMED(MPI_BAND),   CD_NAMED(MPI_LOR),    CD_NAMED(MPI_BOR),
        CD_NAMED(MPI_LXOR),  CD_NAMED(MPI_BXOR),   CD_NAMED(MPI_MAXLOC), CD_NAMED(MPI_MINLOC),
        CD_NAMED(MPI_NO_OP), CD_NAMED(MPI_REPLACE)};
    return find(all, word);
}

const char *name_of_comm(uint64_t word) {
    static const Predefined all[] = {CD_NAMED(MPI_COMM_WORLD), CD_NAMED(MPI_COMM_SELF),
                                     CD_NAMED(MPI_COMM_NULL)};
    return find(all, word);
}

const char *name_of_rank(uint64_t word) {
    static const Predefined all[] = {CD_NAMED(MPI_ANY_SOURCE), CD_NAMED(MPI_PROC_NULL),
                                     CD_NAMED(MPI_ROOT)};
    return find(all, word);
}

const char *name_of_tag(uint64_t word) {
    static const Predefined all[] = {CD_NAMED(MPI_ANY_TAG)};
    return find(all, word);
}

#undef CD_NAMED

} // namespace cd::logger
