/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the containment-domains authors */
#ifndef MPI_FORTRAN_CALLS_H
#define MPI_FORTRAN_CALLS_H

/* Notes a number that calls have given, which is the same in Fortran and in C. */
void note(int number);

/* Notes bytes that a replay has to give again, but that C does not have like Fortran. */
void keep(const void *bytes, int length);

/* Notes that MPI was given so many sections of arrays as descriptors. For each of these MPICH makes
   a type, and frees it, by calls that the logger sees. */
void described(int sections);

/* The calls of calls.F90 and of calls.c: the same ones in the same order. */
#define CALLS(X)                                                                                   \
    X(in_place)                                                                                    \
    X(bottom)                                                                                      \
    X(ignored)                                                                                     \
    X(unweighted)                                                                                  \
    X(statuses)                                                                                    \
    X(logicals)                                                                                    \
    X(handles)                                                                                     \
    X(strings)                                                                                     \
    X(buffers)                                                                                     \
    X(windows)                                                                                     \
    X(attributes)                                                                                  \
    X(old_attributes)                                                                              \
    X(error_handlers)

#define DECLARE(name)                                                                              \
    void fortran_##name(void);                                                                     \
    void c_##name(void);
CALLS(DECLARE)
#undef DECLARE

/* Attributes and names of objects that a domain does not make: made; noted; changed and deleted;
 * freed. */
void old_values_made(void);
void old_values_told(void);
void old_values_changed(void);
void old_values_freed(void);

#endif
