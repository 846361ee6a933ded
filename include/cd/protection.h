/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the containment-domains authors */
#ifndef CD_PROTECTION_H
#define CD_PROTECTION_H

/*
 * Redundancy across nodes: how libcd calls libcd_mpi. Applications do not use this.
 *
 * libcd keeps a root with redundancy in its local store like any other root. At each advance of the
 * root it also offers the new point in time. The protector writes an image of it, which is a store
 * file, makes a checkpoint of the images of all ranks, and decides when that is committed. At
 * create_cd the protector says which checkpoint all ranks start from.
 *
 * All calls of a protector are collective over the ranks whose root has the same name. The thread
 * that called libcd makes them. They return an enum cd_error and, if it is not CD_ERROR_NONE, write
 * the reason into message. The argument `own` is this rank's result, such a code with its message;
 * all ranks return the same, the first failure if any.
 */

#include "cd/cd.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct cd_protection_message {
    char text[1024];
};

/* The keys of storage_info for redundancy. */
struct cd_protection_settings {
    int scheme;         /* of redundancy=: 0 none, 1 single, 2 partner, 3 xor, 4 rs */
    int parameter;      /* partner: copies; rs: losses that it covers */
    int set_size;       /* ranks that protect each other, at least */
    int async;          /* 1: redundancy_mode=async */
    int sync;           /* 1: sync=full */
    int flush_interval; /* every so many epochs one is copied to flush */
    const char *group;  /* "": the node */
    const char *config; /* "": none */
    const char *flush;  /* "": none */
};

/* The root to protect. Valid during the call only. */
struct cd_protected_root {
    int rank;
    const char *name;
    const char *directory; /* of the local store */
    struct cd_protection_settings settings;
    const char *restart; /* CD_RESTART, or "" */
};

/* The checkpoint to start from. */
struct cd_protected_start {
    uint64_t epoch;   /* of the point in time; 0: there is none, the root begins */
    char image[4096]; /* this rank's image of it, to be copied */
};

/* A point in time to protect. It lives until release, which is called exactly once. If write_image
   is NULL, the advance to that epoch failed in this rank, which takes part so that the others do
   not wait. Then context is a text with the reason, valid during the call. Nothing is released, and
   no checkpoint is made. */
struct cd_offered_point {
    uint64_t epoch;
    void *context;
    /* Writes the image to a new file. There must be nothing at path; after a failure there is
       nothing. With sync=full the data are forced to the disk, the name is not. Any thread may
       call it, as often as wanted. */
    int (*write_image)(void *context, const char *path, struct cd_protection_message *message);
    void (*release)(void *context); /* any thread */
};

struct cd_protector {
    size_t size; /* of this struct */
    /* Called instead of open if this rank cannot create the root, for the reason in own. The
       creation fails on all ranks. name is "" if it is not a valid name. Then it fails on all ranks
       that create any root now. */
    int (*decline)(const char *name, int own, struct cd_protection_message *message);
    /* Returns in protection the argument of the other calls; none after a failure. */
    int (*open)(const struct cd_protected_root *root, void **protection,
                struct cd_protected_start *start, struct cd_protection_message *message);
    /* Called after open. own: the result of opening this rank's root from the image. After a
       failure close follows, on all ranks. */
    int (*opened)(void *protection, int own, struct cd_protection_message *message);
    /* Decides whether all ranks advance the root to that epoch. If all can, protect follows; else
       nothing has changed on any rank. Returns own if the ranks cannot communicate. */
    int (*may_advance)(void *protection, uint64_t epoch, int own,
                       struct cd_protection_message *message);
    /* Makes a checkpoint of the point. Called after may_advance. Takes ownership of the point, also
       when it fails. One rank prints a warning if it fails. */
    int (*protect)(void *protection, const struct cd_offered_point *point,
                   struct cd_protection_message *message);
    /* Returns the newest epoch that survives the losses which its level covers, with the ranks
       where they are now; or 0. Not collective. */
    uint64_t (*protected_epoch)(void *protection);
    /* Decides whether all ranks commit the root. If all can, its checkpoints are not used any more,
       and close follows; else nothing has changed on any rank. */
    int (*commit)(void *protection, int own, struct cd_protection_message *message);
    /* Ends the protection. All points are released when it returns. */
    void (*close)(void *protection);
};

/* Sets the protector of the process. There is one, and it lives as long as the process. */
CD_API int cd_protect_by(const struct cd_protector *protector);

#ifdef __cplusplus
}
#endif

#endif /* CD_PROTECTION_H */
