/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the containment-domains authors */
#ifndef CD_MPI_LOG_H
#define CD_MPI_LOG_H

/*
 * What the MPI interposition layer calls; applications do not.
 *
 * The log is chronological. A CD and its only child share one log, of which each owns what came
 * after its point in time; concurrent siblings have a log each, kept by sibling index (of those
 * that the parent's thread makes, and of the others).
 * docs/inside/mpi-log.md explains. All calls take CURRENT_CD and are thread-safe.
 */

#include "cd/cd.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Appends logent, which the caller malloc'ed; after a SUCCESS the CD frees it. An error while the
   log replays. */
CD_API int add_MPI_log_to_cd(cd_handle cd, void *logent, int loglen);

/* The next entry to replay, or NULL at the end of the log. The CD keeps it: it stays valid until
   the CD's family next advances, deletes the log or ends; with log_limit, until the log is read
   again. error may be NULL. */
CD_API void *get_MPI_log_from_cd(cd_handle cd, int *error);

/* Forgets the CD's log; ancestors keep theirs. Ends a replay, unless it is an ancestor's, which is
   an error. */
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

/*
 * What follows is the interposition layer's hot path. It concerns the calling thread's active CD,
 * allocates nothing per call, and leaves cd_last_error and its message alone.
 */

enum cd_log_mode {
    CD_LOG_OFF = 0, /* no active CD, one that does not log, or a call from inside a callback */
    CD_LOG_RECORDING = 1,
    CD_LOG_REPLAYING = 2 /* entries are left to be read; nothing can be written */
};
CD_API int cd_log_mode(void);

/* Where the calling thread finds, as long as it lives, whether it may have an active CD: while 0
   stands there, the mode is CD_LOG_OFF, and need not be asked for. */
CD_API const int *cd_log_possible(void);

/* Where every thread finds, at any time, how many logs of the process are being replayed; to be
   read as an atomic. */
CD_API const int *cd_log_replays(void);

/*
 * An entry is written in place: opened, written into the room, closed with its length. Until then
 * the log is this thread's, and others wait; the thread calls nothing of the library meanwhile but
 * what is in this group, and cd_log_mode and cd_log_here.
 */
struct cd_log_room {
    void *at; /* 16-byte aligned */
    size_t size;
};

/* Room for an entry of at least size bytes at the end of the log. An entry that this thread has
   left open is dropped. At NULL if there is no memory, or the mode is not CD_LOG_RECORDING. Where
   there is no memory, here or in cd_log_widen, the log lacks the entry, and what has that log
   cannot be restored (CD_ERROR_LOG_INCOMPLETE) until it is advanced or the log deleted. */
CD_API struct cd_log_room cd_log_open(size_t size);

/* The same for an entry of which the length is known, in fewer steps: it is in the log, and the log
   is this thread's until cd_log_written, which has to come at once. At NULL wherever this takes
   more than a few steps, too: then cd_log_open tells. */
struct cd_log_entry {
    void *at;            /* 16-byte aligned */
    char *being_written; /* for cd_log_written */
};
CD_API struct cd_log_entry cd_log_enter(size_t length);
static inline void cd_log_written(struct cd_log_entry entry) {
    __atomic_store_n(entry.being_written, 0, __ATOMIC_RELEASE);
}

/* At least size bytes for the open entry, whose first used bytes have been written; they may move.
   False if there is no memory: then the entry is dropped. */
CD_API int cd_log_widen(struct cd_log_room *room, size_t used, size_t size);

/* The first length bytes are an entry now. The caller may change them as long as it is the log's
   last. */
CD_API void cd_log_close(size_t length);

/* The same; a re-execution may do without the entry, as without a poll that found nothing: a log in
   which only such ones are left has been replayed. */
CD_API void cd_log_close_optional(size_t length);

/* A call cannot be recorded after all, for want of memory: the open entry, if there is one, is
   none, and the log lacks it as where cd_log_open fails. */
CD_API void cd_log_drop(void);

/* The next entry to replay, or NULL. It lives as long as one of get_MPI_log_from_cd, with log_limit
   until this log is read again. */
CD_API const void *cd_log_read(size_t *length);

/* The entry that was read last will be read again. */
CD_API void cd_log_unread(void);

/* The re-execution does something else than the entry has that would be read next: the log is not
   to answer it any more, and the CD cannot be advanced. Holds until a restore, or until the log is
   forgotten. */
CD_API void cd_log_stop(void);

/* Whether it has come to that. */
CD_API int cd_log_stopped(void);

/* Why cd_log_open, cd_log_widen or cd_log_read has failed, if the reason is the file that takes
   what exceeds log_limit, with the remedy, or how large an entry there was no memory for: a
   sentence, cut to size bytes. False if neither is known: there is no memory to read, or nothing
   left. What could not be read leaves the mode at CD_LOG_REPLAYING. */
CD_API int cd_log_trouble(char *text, size_t size);

/* Where an entry lies, or would lie. Entries are counted from when the log began. */
struct cd_log_place {
    uint64_t family; /* one root's logs */
    uint64_t stream; /* one log */
    uint64_t entry;
};

/* Where the thread's next entry goes or comes from. False if the mode is CD_LOG_OFF. */
CD_API int cd_log_here(struct cd_log_place *place);

/* As create_cd, of a root that logs, for what is no business of the program's: whatever
   CD_STORAGE_INFO says, it has the defaults of storage_info, and so lies in memory. */
CD_API cd_handle cd_log_create_root(const char *name, int *error);

/* For a root that nobody restores: from now on the log of the thread's active CD keeps its newest
   entries, in as many chunks as fit into bytes of memory, and forgets the others; 0: it keeps all
   from now on. False if the mode is CD_LOG_OFF. */
CD_API int cd_log_keep_newest(size_t bytes);

/* Whether a restore of cd replays the entry at place. False if cd is not alive. This one and the
   two below are false inside a function that the library has called. */
CD_API int cd_log_covers(cd_handle cd, const struct cd_log_place *place);

/* Whether a restore of the thread's active CD, or of an ancestor, replays the entry at later and
   not the one at earlier. */
CD_API int cd_log_parts(const struct cd_log_place *earlier, const struct cd_log_place *later);

/* Whether cd is alive, and the thread's active CD is cd or inside it. Takes no lock. */
CD_API int cd_log_inside(cd_handle cd);

/* Where a restore of cd begins in each log that it replays: writes the first of them, count at
   most, and returns how many there are. None if cd is not alive, or inside a function that the
   library has called. */
CD_API int cd_log_begins(cd_handle cd, struct cd_log_place *begins, int count);

/* When the point in time of cd was, whether it logs or not, or, for NULL, when now is: what comes
   later has a greater number. 0 if cd is not alive, or inside a function that the library has
   called. */
CD_API uint64_t cd_log_moment(cd_handle cd);

/* What the interposition layer wants to hear of. All are called in the thread of the operation,
   outside of locks; they may call the functions of this section, and nothing else of the library.
 */
struct cd_log_listener {
    /* A CD was or will be created, committed or advanced by this thread: an entry that was last is
       not any more. */
    void (*boundary)(void);
    /* restore_cd begins. Returns NULL, or why the CD cannot be restored. */
    const char *(*restoring)(cd_handle cd);
    /* ... and has ended; each restoring that returned NULL has its restored. */
    void (*restored)(cd_handle cd, int success);
    /* Entries of the family have been forgotten. root is its root, NULL if that has ended. */
    void (*forgotten)(uint64_t family, cd_handle root);
    /* delete_MPI_log_from_cd is about to forget what is left of a replay of the log of cd, and of
       those of its descendants, whichever threads replay them: the entries, log by log, and NULL
       behind the last. An entry lives until the function returns. It may throw std::bad_alloc:
       then, and where the operation fails after all, the replay goes on as before. Not after
       cd_log_stop. */
    void (*left)(cd_handle cd, const void *entry, size_t length);
};

/* There is one listener at most; it stays for good. */
CD_API void cd_log_listen(const struct cd_log_listener *listener);

/* The rank in the names of roots created from now on, once MPI knows it. Until then it comes from
   the launcher's environment (PMIX_RANK, PMI_RANK, OMPI_COMM_WORLD_RANK, SLURM_PROCID), else 0. */
CD_API int cd_set_rank(int rank);

#ifdef __cplusplus
}
#endif

#endif
