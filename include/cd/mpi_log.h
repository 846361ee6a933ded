/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the containment-domains authors */
#ifndef CD_MPI_LOG_H
#define CD_MPI_LOG_H

/*
 * What the MPI interposition layer calls; applications do not.
 *
 * The log is chronological. A CD and its only child share one log, of which each owns what came
 * after its point in time; concurrent siblings have a log each, kept by sibling index.
 * docs/mpi-log.md explains. All calls take CURRENT_CD and are thread-safe.
 */

#include "cd/cd.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Appends logent, which the caller malloc'ed; after a SUCCESS the CD frees it. An error while the
   log replays. */
CD_API int add_MPI_log_to_cd(cd_handle cd, void *logent, int loglen);

/* The next entry to replay, or NULL at the end of the log. The CD keeps it: it stays valid until
   the CD's family next advances, deletes the log or ends. error may be NULL. */
CD_API void *get_MPI_log_from_cd(cd_handle cd, int *error);

/* Forgets the CD's log; ancestors keep theirs. Ends a replay. */
CD_API int delete_MPI_log_from_cd(cd_handle cd);

/* One piece of an entry. */
struct cd_log_part {
    const void *data;
    size_t length;
};

/* Appends one entry made of count parts, copied into the log's own memory: no allocation per
   entry. For the logger's hot path. */
CD_API int cd_log_append(cd_handle cd, const struct cd_log_part *parts, int count);

/* As get_MPI_log_from_cd, and tells the entry's length. */
CD_API const void *cd_log_next(cd_handle cd, size_t *length, int *error);

/* The rank in the names of roots created from now on, once MPI knows it. Until then it comes from
   the launcher's environment (PMIX_RANK, PMI_RANK, OMPI_COMM_WORLD_RANK, SLURM_PROCID), else 0. */
CD_API int cd_set_rank(int rank);

#ifdef __cplusplus
}
#endif

#endif
