/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the containment-domains authors */
#ifndef CD_CD_H
#define CD_CD_H

/*
 * Containment domains: keep what a piece of work needs to run again.
 *
 * Usable from C99 and from C++17. Calls return SUCCESS or FAILURE. After a FAILURE
 * cd_last_error() has the cause and cd_last_error_message() a sentence with the remedy.
 * A failed call changes nothing, except that a failed restore_cd may have written part
 * of memory and can be repeated. docs/reference/calls.md has the rules.
 *
 * Each short name (READ_ONLY, SUCCESS, CURRENT_CD, ...) also exists with the prefix CD_;
 * define CD_NO_SHORT_NAMES before the include to hide the short ones.
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define CD_API __attribute__((visibility("default")))
#else
#define CD_API
#endif

/* Opaque. Each call checks it: a committed, discarded or invented handle is an error. */
typedef void *cd_handle;

/* The calling thread's active CD: the one it created last and that still exists. */
#define CD_CURRENT_CD ((cd_handle)1)

enum cd_result {
    CD_SUCCESS = 0,
    CD_FAILURE = -1,
#ifndef CD_NO_SHORT_NAMES
    SUCCESS = CD_SUCCESS,
    FAILURE = CD_FAILURE,
#endif
};

/* READ_WRITE: the program is about to modify the memory, so the next advance copies it. */
enum addr_type {
    CD_READ_ONLY = 0,
    CD_READ_WRITE = 1,
#ifndef CD_NO_SHORT_NAMES
    READ_ONLY = CD_READ_ONLY,
    READ_WRITE = CD_READ_WRITE,
#endif
};

/* CONSTRAINED: the memory means nothing to ancestors, such as a stack variable. A commit does not
   give it to the parent, and a restore of an ancestor does not write it. */
enum addr_scope {
    CD_GLOBAL = 0,
    CD_CONSTRAINED = 1,
#ifndef CD_NO_SHORT_NAMES
    GLOBAL = CD_GLOBAL,
    CONSTRAINED = CD_CONSTRAINED,
#endif
};

enum mpi_log {
    CD_COMM_LOGGING_DISABLED = 0,
    CD_COMM_LOGGING_ENABLED = 1,
    CD_COMM_LOGGING_INHERIT = 2,
    CD_MPI_LOGGING_DISABLED = CD_COMM_LOGGING_DISABLED,
    CD_MPI_LOGGING_ENABLED = CD_COMM_LOGGING_ENABLED,
    CD_MPI_LOGGING_INHERIT = CD_COMM_LOGGING_INHERIT,
#ifndef CD_NO_SHORT_NAMES
    COMM_LOGGING_DISABLED = CD_COMM_LOGGING_DISABLED,
    COMM_LOGGING_ENABLED = CD_COMM_LOGGING_ENABLED,
    COMM_LOGGING_INHERIT = CD_COMM_LOGGING_INHERIT,
    MPI_LOGGING_DISABLED = CD_COMM_LOGGING_DISABLED,
    MPI_LOGGING_ENABLED = CD_COMM_LOGGING_ENABLED,
    MPI_LOGGING_INHERIT = CD_COMM_LOGGING_INHERIT,
#endif
};

#ifndef CD_NO_SHORT_NAMES
#define CURRENT_CD CD_CURRENT_CD
#endif

/* A range: length bytes from address on, with any alignment and any length. */
struct cd_addrspec {
    void *address;
    size_t length;
    enum addr_type addr_tp;
    enum addr_scope addr_scope;
};

/* Writes the data of the given ranges into application memory, the same data each time. Returns 0
   for success. The ranges may be split or merged differently from the add calls. restore_cd calls
   it in its own thread. It may not call this library. A C++ exception counts as a failure and ends
   here. It must not be left by longjmp, and neither must a report or observer function: the CDs
   of the operation would stay locked, and each later call of the thread would fail with
   CD_ERROR_IN_CALLBACK. */
typedef int (*cd_regen_fn)(struct cd_addrspec addrlist[], int ascount);

/* One code per cause. */
enum cd_error {
    CD_ERROR_NONE = 0,

    /* handles and threads */
    CD_ERROR_INVALID_HANDLE,   /* committed, discarded, foreign or NULL */
    CD_ERROR_NO_CURRENT_CD,    /* CURRENT_CD, and this thread has no active CD */
    CD_ERROR_HAS_CHILDREN,     /* commit or advance of a CD with uncommitted children */
    CD_ERROR_ACTIVE_ELSEWHERE, /* a descendant is active in another thread */
    CD_ERROR_IN_CALLBACK,      /* call from inside a regen, verify or event function, or after
                                  longjmp out of one */

    /* create_cd */
    CD_ERROR_NAME_MISSING, /* a root needs a name */
    CD_ERROR_NAME_INVALID,
    CD_ERROR_NAME_ON_CHILD, /* a child takes none */
    CD_ERROR_NAME_IN_USE,   /* a live root of this rank has it, or memory that a CD holds */
    CD_ERROR_LOGGING_MODE,  /* not one of enum mpi_log */
    CD_ERROR_LOGGING_INHERIT_AT_ROOT,
    CD_ERROR_LOGGING_MISMATCH, /* differs from the parent's */

    /* storage_info */
    CD_ERROR_STORAGE_SYNTAX,
    CD_ERROR_STORAGE_KEY,
    CD_ERROR_STORAGE_VALUE,
    CD_ERROR_STORAGE_UNSUPPORTED, /* well-formed, but not possible here */

    /* ranges */
    CD_ERROR_NULL_LIST,    /* or a list that is shorter than its count */
    CD_ERROR_COUNT,        /* negative */
    CD_ERROR_NULL_ADDRESS, /* NULL with a length */
    CD_ERROR_RANGE_WRAPS,  /* runs past the end of the address space */
    CD_ERROR_ADDR_TYPE,
    CD_ERROR_ADDR_SCOPE,
    CD_ERROR_SCOPE_FIXED,      /* bytes are in the CD with the other scope */
    CD_ERROR_REGEN_READ_WRITE, /* READ_WRITE via regen */
    CD_ERROR_REGEN_NULL,
    CD_ERROR_NO_PARENT,     /* via parent in a root CD */
    CD_ERROR_NOT_IN_PARENT, /* via parent, and no ancestor holds the bytes as COPY */
    CD_ERROR_PARENT_REGEN,  /* via parent, and the bytes end in a REGEN entry */
    CD_ERROR_NOT_IN_CD,     /* delete of bytes that the CD does not hold */

    /* files */
    CD_ERROR_FILE_BAD_DESCRIPTOR, /* not open, or closed since it was added */
    CD_ERROR_FILE_NOT_SEEKABLE,
    CD_ERROR_FILE_CHANGED, /* the descriptor now names another file */
    CD_ERROR_FILE_NOT_IN_CD,
    CD_ERROR_FILE_SYSTEM, /* the operating system refused for another reason */

    /* restore and verify */
    CD_ERROR_REGEN_FAILED,
    CD_ERROR_CHECKSUM, /* stored data do not match their checksum */
    CD_ERROR_VERIFY_MISMATCH,

    /* MPI log */
    CD_ERROR_LOG_DISABLED,
    CD_ERROR_LOG_REPLAYING, /* add while the log replays */
    CD_ERROR_LOG_ENTRY,     /* NULL entry or negative length */
    CD_ERROR_LOG_SIBLINGS,  /* the re-execution created other siblings than the log knows */
    CD_ERROR_LOG_PENDING,   /* MPI operations under way forbid a restore; the message says which */

    CD_ERROR_NO_MEMORY,
    CD_ERROR_ARGUMENT, /* another argument is NULL or out of range; the message names it */

    /* stores in files */
    CD_ERROR_STORE_DIRECTORY, /* not there, or not safe to use */
    CD_ERROR_STORE_LOCKED,    /* another process has it open */
    CD_ERROR_STORE_DAMAGED,
    CD_ERROR_STORE_VERSION,    /* its format is not one that this library reads */
    CD_ERROR_STORE_IO,         /* the operating system refused to read or write */
    CD_ERROR_STORE_FULL,       /* no room on the disk */
    CD_ERROR_STORE_FORKED,     /* the store belongs to the process that this one was forked from */
    CD_ERROR_RESTART_MISMATCH, /* the program adds something else than the store holds */
    CD_ERROR_RESTART_UNBOUND,  /* the store holds bytes that the program has not added yet */

    CD_ERROR_REDUNDANCY_EXCEEDED, /* more is lost than the redundancy can rebuild */

    /* cd_run */
    CD_ERROR_RUN_FAILED, /* the body failed as often as it may run */

    CD_ERROR_LOG_SPILL,      /* the file of what exceeds log_limit cannot be written or read */
    CD_ERROR_LOG_DIVERGED,   /* advance: the re-execution differs from the log */
    CD_ERROR_LOG_INCOMPLETE, /* restore: there was no memory to log some calls */
};

/* ---- Life of a CD ------------------------------------------------------------------ */

/* Creates a CD and makes it the calling thread's active one.
   parent: NULL for a root, else a handle or CURRENT_CD. storage_info: "key=value,...", or NULL
   for CD_STORAGE_INFO from the environment (root) or the parent's (child). name: for a root,
   unique in the rank; NULL for a child. error may be NULL; it gets the enum cd_error code.
   Returns NULL on failure. Thread-safe. */
CD_API cd_handle create_cd(cd_handle parent, const char *storage_info, enum mpi_log log_mpi_traffic,
                           const char *name, int *error);

/* Gives the parent the bytes that it does not hold (the older data win), and ends the CD.
   A root just ends. Refused while the CD has children. */
CD_API int commit_cd(cd_handle cd);

/* Brings application memory and file positions back to the CD's point in time, discards its
   descendants, and lets the MPI log replay. The CD itself stays. */
CD_API int restore_cd(cd_handle cd);

/* Moves the CD's point in time to now, all or nothing: copies its READ_WRITE bytes and makes them
   READ_ONLY. Refused while the CD has children. A child first gives its parent what a commit would
   give, and stays. */
CD_API int advance_cd_point_in_time(cd_handle cd);

/* Returns 1 if it is time to advance, else 0. It compares what this CD's advances have cost with
   two environment variables, read when the root is created: CD_MTBF is the mean time between
   failures in seconds, CD_OVERHEAD the largest share of time for advances in percent. Returns 1
   when neither is set, before the first advance, and on an error. Each process has its own
   answer: ranks that advance together take the answer of one of them. */
CD_API int cd_need_advance(cd_handle cd);

/* ---- What a CD holds --------------------------------------------------------------- */

/* Copies ranges into the CD, all or nothing. Bytes that the CD holds are not copied again; they
   take the given access type. storage_info: how these entries are kept; NULL means as the CD. It
   may be left out in C and C++. Thread-safe. */
CD_API int add_to_cd_via_copy(cd_handle cd, const struct cd_addrspec *addrlist, int ascount,
                              const char *storage_info);

/* Keeps no data: a restore takes them from the nearest ancestor that holds them as COPY. */
CD_API int add_to_cd_via_parent(cd_handle cd, const struct cd_addrspec *addrlist, int ascount,
                                const char *storage_info);

/* Keeps no data: a restore calls regen. READ_ONLY ranges only. */
CD_API int add_to_cd_via_regen(cd_handle cd, const struct cd_addrspec *addrlist, int ascount,
                               const char *storage_info, cd_regen_fn regen);

/* Removes ranges. Bytes that the CD does not hold are an error. Type and scope do not matter. */
CD_API int delete_from_cd(cd_handle cd, const struct cd_addrspec *addrlist, int ascount);

/* Keeps the position of the descriptor, not the data of the file. Thread-safe. */
CD_API int add_file_to_cd(cd_handle cd, int filedes);
CD_API int delete_file_from_cd(cd_handle cd, int filedes);

/* Names length bytes at address, so that a restarted program finds them again in its stores; length
   0 takes the name back. Use it for memory that is neither in the data of a program or library nor
   always added in the same order. Names count for the whole process. Name memory before you add
   it. While a CD with store=file holds bytes of the region, the name cannot be taken back or given
   to other bytes. Thread-safe. */
CD_API int cd_name_region(const char *name, void *address, size_t length);

/* ---- Errors ------------------------------------------------------------------------ */

/* Returns the code of the calling thread's last call; CD_ERROR_NONE if it succeeded. */
CD_API enum cd_error cd_last_error(void);

/* Returns a sentence with the values involved and the remedy; "" after a success. Valid until
   the thread's next call of this library, or its end. */
CD_API const char *cd_last_error_message(void);

/* Returns a fixed short text for a code; never NULL. */
CD_API const char *cd_strerror(int error);

/* ---- Looking at a CD --------------------------------------------------------------- */

/* Returns "rank/name/depth/sibling", as "3/root/1/0"; NULL on error. Valid while the CD lives. */
CD_API const char *cd_name(cd_handle cd);

struct cd_info {
    int depth;            /* 0 for a root */
    int sibling;          /* index among the parent's live children */
    int children;         /* live children */
    int logging;          /* 1 when MPI traffic is logged */
    int replaying;        /* 1 between restore_cd and the end of the log */
    int restarted;        /* 1 when the CD comes from a store of an earlier process, until it is
                             restored or advanced */
    uint64_t epoch;       /* how often the CD was advanced */
    size_t entries;       /* runs of adjacent bytes with equal labels, from one added range; after a
                             restart, of stored bytes from any range */
    size_t bytes;         /* bytes in these entries */
    size_t read_write;    /* how many of these bytes are READ_WRITE */
    size_t stored_bytes;  /* memory in use for their data, shadow copies included */
    size_t files;         /* descriptors held */
    size_t log_length;    /* MPI log entries since the CD's point in time */
    size_t log_bytes;     /* their size */
    size_t log_remaining; /* entries still to be replayed */
    size_t unbound;       /* stored bytes that this process has not added yet */
    uint64_t protected_epoch; /* of a root with redundancy: the newest epoch that survives the loss
                                 of nodes, with the ranks where they are now; 0 if there is
                                 none, and for other CDs */
    size_t log_in_files;      /* bytes that log_limit has moved to files, for the logs of the whole
                                 family; log_bytes counts these entries too */
};

CD_API int cd_query(cd_handle cd, struct cd_info *info);

enum cd_mismatch_kind {
    CD_MISMATCH_MEMORY = 1,  /* a READ_ONLY range differs from application memory */
    CD_MISMATCH_CHECKSUM = 2 /* the stored data of a range do not match their checksum */
};

struct cd_mismatch {
    const void *address; /* in application memory */
    size_t length;
    enum cd_mismatch_kind kind;
};

/* Receives a range that differs. It may not call this library. A C++ exception ends here, and the
   next range is reported all the same. */
typedef void (*cd_mismatch_fn)(const struct cd_mismatch *mismatch, void *context);

/* Compares READ_ONLY bytes with live memory, and stored data with their checksums. PARENT bytes are
   compared with the ancestor's copy that a restore would use. It skips bytes that no ancestor holds
   any more, bytes of regen functions, and memory that a descendant holds as READ_WRITE. Reports
   each range that differs (report may be NULL), then fails with CD_ERROR_VERIFY_MISMATCH. */
CD_API int cd_verify(cd_handle cd, cd_mismatch_fn report, void *context);

/* ---- Watching ---------------------------------------------------------------------- */

/* Operations that are observed. Each call of the first group is reported when it ends, also when it
   failed; cd_run is reported as the calls that it makes. The second group is what a successful call
   did to other CDs and to logs. It is reported just before the call, with no bytes, no duration,
   and the call's start. Not observed: the logger's calls for the thread's active log
   (cd/mpi_log.h), except that they end a replay; questions; names of regions; injections; calls
   refused inside a callback. */
enum cd_operation {
    CD_OP_CREATE,
    CD_OP_ADD_COPY,
    CD_OP_ADD_PARENT,
    CD_OP_ADD_REGEN,
    CD_OP_ADD_FILE,
    CD_OP_DELETE,
    CD_OP_DELETE_FILE,
    CD_OP_COMMIT,
    CD_OP_RESTORE,
    CD_OP_ADVANCE,
    CD_OP_VERIFY,
    CD_OP_LOG_ADD, /* add_MPI_log_to_cd, cd_log_append */
    CD_OP_LOG_GET, /* get_MPI_log_from_cd, cd_log_next */
    CD_OP_LOG_DELETE,

    CD_OP_DISCARD,         /* a descendant ended in a restore */
    CD_OP_IMPLICIT_COMMIT, /* a child committed to its parent before its advance */
    CD_OP_REPLAY_BEGIN,    /* a restore set the CD's log to replay, or a child was created
                              that replays a log of its own */
    CD_OP_REPLAY_END,      /* the last entry was returned to the CD, or its log was deleted; none
                              for a CD that ends before */
    CD_OP_PROTECT          /* an advance of a root with redundancy made a checkpoint; error says
                              why it failed, if it did */
};

struct cd_event {
    enum cd_operation operation;
    enum cd_error error; /* CD_ERROR_NONE: it succeeded */
    const char *name;    /* the CD's identity, "" when there was none; valid during the call */
    size_t bytes;        /* copied into the store by an add or an advance, or from it by a restore;
                            or the size of a log's entry. 0 for a failed call, for a commit, and
                            for regen functions */
    uint64_t start_ns;   /* CLOCK_MONOTONIC */
    uint64_t duration_ns;
};

typedef void (*cd_event_fn)(const struct cd_event *event, void *context);

/* Calls observer after every operation, in the thread of the operation; NULL turns it off. When off
   it costs one load for each operation. The observer may not call this library. A C++ exception
   ends here and changes nothing. cd_observe waits for calls of an earlier observer, in any thread,
   before it returns. */
CD_API int cd_observe(cd_event_fn observer, void *context);

/* ---- Both call forms: with and without storage_info ------------------------------------ */

/* Targets of the C macros: the optional arguments, then CD_END_OF_ARGUMENTS. */
#define CD_END_OF_ARGUMENTS ((const char *)-1)
CD_API int cd_add_via_copy_va(cd_handle cd, const struct cd_addrspec *addrlist, int ascount, ...);
CD_API int cd_add_via_parent_va(cd_handle cd, const struct cd_addrspec *addrlist, int ascount, ...);
CD_API int cd_add_via_regen_va(cd_handle cd, const struct cd_addrspec *addrlist, int ascount, ...);

#ifdef __cplusplus
} /* extern "C" */

#include "cd/overloads.hpp"
#else
#define add_to_cd_via_copy(...) cd_add_via_copy_va(__VA_ARGS__, CD_END_OF_ARGUMENTS)
#define add_to_cd_via_parent(...) cd_add_via_parent_va(__VA_ARGS__, CD_END_OF_ARGUMENTS)
#define add_to_cd_via_regen(...) cd_add_via_regen_va(__VA_ARGS__, CD_END_OF_ARGUMENTS)
#endif

#include "cd/control.h"

#endif
