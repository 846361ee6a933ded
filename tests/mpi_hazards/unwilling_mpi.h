/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the containment-domains authors */
#ifndef UNWILLING_MPI_H
#define UNWILLING_MPI_H

/* What stands between the logger and MPI: MPI as it seldom is. */

#ifdef __cplusplus
extern "C" {
#endif

/* Once, in the next MPI_Wait of any thread, when MPI has given the request's handle back. */
void call_at_the_end_of_a_wait(void (*function)(void));

#ifdef __cplusplus
}
#endif

#endif
