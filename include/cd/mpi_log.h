/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the containment-domains authors */
#ifndef CD_MPI_LOG_H
#define CD_MPI_LOG_H

/*
 * Calls for a library that intercepts MPI; applications do not use them.
 *
 * The log is chronological. A CD and its only child share one log; each owns the part after its
 * point in time. Concurrent siblings have a log each, known by a number. Children of the parent's
 * thread and those of other threads are counted apart.
 * docs/inside/mpi-log.md explains. All calls take CURRENT_CD and are thread-safe.
 */

#include "cd/cd.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Appends a copy of logent, which the caller has malloc'ed, and frees logent. On failure, as while
   the log replays, logent stays the caller's. */
CD_API int add_MPI_log_to_cd(cd_handle cd, void *logent, int loglen);

/* Returns the next entry to replay, or NULL at the end of the log. The CD owns it. It stays valid
   until the CD's family advances, deletes the log or ends; with log_limit, until the log is read
   again. error may be NULL. */
CD_API void *get_MPI_log_from_cd(cd_handle cd, int *error);

/* Forgets the CD's log; ancestors keep theirs. Ends a replay. Fails if an ancestor's replay has
   entries left in this log. */
CD_API int delete_MPI_log_from_cd(cd_handle cd);

/* One piece of an entry. */
struct cd_log_part {
    const void *data;
    size_t length;
};

/* Appends one entry made of count parts. They are copied into the log's own memory, without an
   allocation for each entry. */
CD_API int cd_log_append(cd_handle cd, const struct cd_log_part *parts, int count);

/* Does what get_MPI_log_from_cd does, and returns the entry's length. */
CD_API const void *cd_log_next(cd_handle cd, size_t *length, int *error);

/*
 * The rest is for the logger's hot path. These calls use the calling thread's active CD, allocate
 * nothing per call, and leave cd_last_error and its message alone.
 */

enum cd_log_mode {
    CD_LOG_OFF = 0, /* no active CD, one that does not log, or a call from inside a callback */
    CD_LOG_RECORDING = 1,
    CD_LOG_REPLAYING = 2 /* entries are left to be read; nothing can be written */
};
CD_API int cd_log_mode(void);

/* Returns the address of a number of the calling thread, valid as long as the thread lives. While
   the number is 0, the mode is CD_LOG_OFF. */
CD_API const int *cd_log_possible(void);

/* Returns the address of the number of logs in the process that replay now. Any thread may read it,
   as an atomic. */
CD_API const int *cd_log_replays(void);

/*
 * An entry is written in place: open it, write into the room, close it with its length. Until then
 * the thread holds the log's lock, and others wait. Meanwhile the thread calls only the functions
 * of this group, cd_log_mode and cd_log_here.
 */
struct cd_log_room {
    void *at; /* 16-byte aligned */
    size_t size;
};

/* Returns room for an entry of at least size bytes at the end of the log. Drops an entry that this
   thread left open. Returns NULL in at without memory, or if the mode is not CD_LOG_RECORDING.
   Without memory, here or in cd_log_widen, the log is incomplete: its CDs cannot be restored
   (CD_ERROR_LOG_INCOMPLETE) until they advance or the log is deleted. */
CD_API struct cd_log_room cd_log_open(size_t size);

/* Adds an entry of known length in fewer steps. The thread holds the log's lock until it calls
   cd_log_written, which has to come at once. Returns NULL in at also where this would take more
   than a few steps: call cd_log_open then. */
struct cd_log_entry {
    void *at;            /* 16-byte aligned */
    char *being_written; /* for cd_log_written */
};
CD_API struct cd_log_entry cd_log_enter(size_t length);
static inline void cd_log_written(struct cd_log_entry entry) {
    __atomic_store_n(entry.being_written, 0, __ATOMIC_RELEASE);
}

/* Grows the room of the open entry to at least size bytes. The first used bytes are kept and may
   move. Returns 0 without memory; the entry is dropped then. */
CD_API int cd_log_widen(struct cd_log_room *room, size_t used, size_t size);

/* Makes the first length bytes an entry. The caller may change them while it is the last entry of
   the log. */
CD_API void cd_log_close(size_t length);

/* Does the same for an entry that a re-execution need not read, such as a poll that found nothing.
   A log in which only such entries are left has been replayed. */
CD_API void cd_log_close_optional(size_t length);

/* Drops the open entry, if any, and marks the log incomplete, as when cd_log_open fails. For a call
   that cannot be recorded for lack of memory. */
CD_API void cd_log_drop(void);

/* Returns the next entry to replay, or NULL. It stays valid as long as one of get_MPI_log_from_cd;
   with log_limit until this log is read again. */
CD_API const void *cd_log_read(size_t *length);

/* Steps back: the entry that was read last will be read again. */
CD_API void cd_log_unread(void);

/* Stops the replay, as the re-execution differs from the next entry. The log gives no entries any
   more, and the CD cannot be advanced. This holds until a restore, or until the log is
   forgotten. */
CD_API void cd_log_stop(void);

/* Returns 1 if the replay was stopped. */
CD_API int cd_log_stopped(void);

/* Writes why cd_log_open, cd_log_widen or cd_log_read failed, as a sentence cut to size bytes: the
   error of the file that log_limit uses, with the remedy. Returns 0 if there is none: no memory, or
   no entry left. After a failed read the mode stays CD_LOG_REPLAYING. */
CD_API int cd_log_trouble(char *text, size_t size);

/* The place of an entry. Entries are counted from the beginning of the log. */
struct cd_log_place {
    uint64_t family; /* one root's logs */
    uint64_t stream; /* one log */
    uint64_t entry;
};

/* Returns the place of the thread's next entry, to write or to read. 0 if the mode is OFF. */
CD_API int cd_log_here(struct cd_log_place *place);

/* Creates a root that logs, for the logger's own use. It has the defaults of storage_info, whatever
   CD_STORAGE_INFO says, so it lies in memory. */
CD_API cd_handle cd_log_create_root(const char *name, int *error);

/* Lets the log of the thread's active CD keep only its newest entries, in as many chunks as fit
   into bytes of memory; 0: it keeps all from now on. For a root that nobody restores. Returns 0 if
   the mode is CD_LOG_OFF. */
CD_API int cd_log_keep_newest(size_t bytes);

/* Returns 1 if a restore of cd replays the entry at place, else 0, also if cd is not alive. This
   function and the next one return 0 inside a callback of the library. */
CD_API int cd_log_covers(cd_handle cd, const struct cd_log_place *place);

/* Returns 1 if a restore of the thread's active CD, or of an ancestor, replays the entry at later
   but not the one at earlier. */
CD_API int cd_log_parts(const struct cd_log_place *earlier, const struct cd_log_place *later);

/* Writes where a restore of cd begins in each log that it replays, count places at most. Returns
   the number of these places; 0 if cd is not alive, or inside a callback of
   the library. */
CD_API int cd_log_begins(cd_handle cd, struct cd_log_place *begins, int count);

/* Functions of the logger that the library calls, in the thread of the operation and outside of
   locks. They may call the functions of this section, and no others of the library.
 */
struct cd_log_listener {
    /* This thread creates, commits or advances a CD: the last entry of the log may not be changed
       any more. */
    void (*boundary)(void);
    /* restore_cd begins. Returns NULL, or the reason why the CD cannot be restored. */
    const char *(*restoring)(cd_handle cd);
    /* restore_cd has ended. Called once for each restoring that returned NULL. */
    void (*restored)(cd_handle cd, int success);
    /* Entries of the family were forgotten. root is its root, or NULL if the root has ended. */
    void (*forgotten)(uint64_t family, cd_handle root);
    /* delete_MPI_log_from_cd will end a replay of the log of cd or of a descendant. It may throw
       std::bad_alloc; then the operation fails and the replay goes on. Not called after
       cd_log_stop. */
    void (*deleting)(cd_handle cd);
};

/* Sets the listener. There is at most one, and it stays. */
CD_API void cd_log_listen(const struct cd_log_listener *listener);

/* Sets the rank in the names of roots that are created from now on. Before that it comes from the
   launcher's environment (PMIX_RANK, PMI_RANK, OMPI_COMM_WORLD_RANK, SLURM_PROCID), else 0. */
CD_API int cd_set_rank(int rank);

#ifdef __cplusplus
}
#endif

#endif
