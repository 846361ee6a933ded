/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the containment-domains authors */
#ifndef CD_CONTROL_H
#define CD_CONTROL_H

/*
 * Running a piece of work in a CD until it is right, and rehearsing failures.
 * docs/howto/run-again.md explains.
 */

#include "cd/cd.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Rehearsing failures ------------------------------------------------------------- */

/* Asks for failures, besides those that were asked for before. injections: text like
   "cd=2/root/1/0,at=3", several with semicolons between them; NULL takes all back. The environment
   variable CD_INJECT holds the same; it is read when a root is created. Thread-safe. */
CD_API int cd_inject(const char *injections);

/* Whether a failure that was asked for hits the CD now: 1 or 0, and FAILURE on an error. Each call
   counts as one occurrence for the CD. The program decides what failing means: it may spoil memory
   or call restore_cd. Thread-safe. */
CD_API int cd_failed(cd_handle cd);

/* ---- Running again ------------------------------------------------------------------- */

/* A piece of work; 0 means success. cd is a new child, and the thread's active CD. */
typedef int (*cd_body_fn)(cd_handle cd, void *context);

struct cd_run_options {
    int tries;                /* how often the body runs at most; 0: CD_RUN_TRIES */
    cd_body_fn check;         /* whether what the body left is right; NULL: not checked */
    const char *storage_info; /* as for create_cd */
};
#define CD_RUN_TRIES 3

/* Creates a child of parent, runs body and commits the child. When body or check returns another
   value than 0, or cd_failed says so, which is asked once after each run of body, restores the
   child and runs body again. After the last of the tries, or when the child cannot be restored or
   committed, fails: then memory is as body left it, the child and its descendants have been
   committed, so that the parent can be restored, and cd_last_error is CD_ERROR_RUN_FAILED or what
   the restore or commit failed with. (Where there is no memory to commit them they are left, and
   the parent's restore does with them what it does with all descendants.) body and check may call
   this library; a C++ exception that they throw means that they failed, and ends there. longjmp out
   of them leaves the child as it is, for the program to commit or to restore with its parent.
   options may be NULL. */
CD_API int cd_run(cd_handle parent, const struct cd_run_options *options, cd_body_fn body,
                  void *context);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
