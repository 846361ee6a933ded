/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the containment-domains authors */
#ifndef CD_CONTROL_H
#define CD_CONTROL_H

/*
 * Runs a piece of work in a CD until it is right, and injects failures to rehearse recovery.
 * docs/howto/run-again.md explains.
 */

#include "cd/cd.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Injecting failures -------------------------------------------------------------- */

/* Asks for failures, in addition to earlier ones. injections: text like "cd=2/root/1/0,at=3",
   several with semicolons between them; NULL takes all back. The environment variable CD_INJECT
   holds the same; it is read when a root is created. Thread-safe. */
CD_API int cd_inject(const char *injections);

/* Returns 1 if an injected failure hits the CD now, else 0; FAILURE on an error. Each call counts
   as one occurrence for the CD. The program decides what a failure means: it may spoil memory or
   call restore_cd. Thread-safe. */
CD_API int cd_failed(cd_handle cd);

/* ---- Running again ------------------------------------------------------------------- */

/* A piece of work; 0 means success. cd is a new child, and the thread's active CD. */
typedef int (*cd_body_fn)(cd_handle cd, void *context);

struct cd_run_options {
    int tries;                /* how often the body runs at most; 0: CD_RUN_TRIES */
    cd_body_fn check;         /* returns 0 if the result of the body is right; NULL: no check */
    const char *storage_info; /* as for create_cd */
};
#define CD_RUN_TRIES 3

/* Creates a child of parent, runs body and commits the child. A run has failed if body or check
   returns another value than 0, or if cd_failed returns 1; it is called once after each run. Then
   the child is restored and body runs again. The call fails after the last try, or when the child
   cannot be restored or committed. Memory is then as body left it, and the child and its
   descendants are committed, so that the parent can be restored. cd_last_error is
   CD_ERROR_RUN_FAILED, or the error of the restore or commit. If there is no memory for that commit
   they stay, and a restore of the parent discards them. body and check may call this library. A C++
   exception counts as a failure and ends here. After a longjmp out of them the child stays; the
   program commits it, or restores its parent. options may be NULL. */
CD_API int cd_run(cd_handle parent, const struct cd_run_options *options, cd_body_fn body,
                  void *context);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
