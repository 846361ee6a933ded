/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the containment-domains authors */
#ifndef CD_PROTECTION_H
#define CD_PROTECTION_H

/*
 * How libcd_mpi offers redundancy across nodes to libcd; applications do not call this.
 *
 * libcd keeps a root with redundancy in its local store as any other. At each advance of the root
 * it also offers the new point in time; the protector takes an image of it, which is a store file
 * of its own, protects that with the images of the other ranks, and decides when it counts. At
 * create_cd the protector says which point in time all ranks start from.
 *
 * All calls of a protector are collective over the ranks whose root has the same name, and are made
 * by the thread that called libcd. They return an enum cd_error, and where it is not CD_ERROR_NONE
 * have written why into message. Calls that take an own outcome tell the others of it: it is such
 * a code, with message saying why; all ranks get the same in return, the first failure if any.
 */

#include "cd/cd.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct cd_protection_message {
    char text[1024];
};

/* What storage_info says of redundancy. */
struct cd_protection_settings {
    int scheme;         /* of redundancy=: 0 none, 1 single, 2 partner, 3 xor, 4 rs */
    int parameter;      /* partner: copies; rs: losses that it covers */
    int set_size;       /* ranks that protect each other, at least */
    int async;          /* whether redundancy_mode=async */
    int sync;           /* whether sync=full */
    int flush_interval; /* which epochs are copied to flush */
    const char *group;  /* "": the node */
    const char *config; /* "": none */
    const char *flush;  /* "": none */
};

/* Whose points in time are protected. Valid during the call only. */
struct cd_protected_root {
    int rank;
    const char *name;
    const char *directory; /* of the local store */
    struct cd_protection_settings settings;
    const char *restart; /* CD_RESTART, or "" */
};

/* What to start from. */
struct cd_protected_start {
    uint64_t epoch;   /* of the point in time; 0: there is none, the root begins */
    char image[4096]; /* this rank's image of it, to be copied */
};

/* A point in time on offer. Lives until release, which is called exactly once. Where write_image is
   NULL there is none, and nothing to release: the advance to that epoch failed in this rank after
   all, which takes part so that the others do not wait for it; context is a text that says why, for
   the time of the call. Nothing new counts then. */
struct cd_offered_point {
    uint64_t epoch;
    void *context;
    /* Writes the image as a new file that nobody else writes; there must be nothing at path, and
       after a failure there is nothing. With sync=full the file's data are on the disk then, its
       name is not. Any thread, as often as wanted. */
    int (*write_image)(void *context, const char *path, struct cd_protection_message *message);
    void (*release)(void *context); /* any thread */
};

struct cd_protector {
    size_t size; /* of this struct */
    /* Instead of open: this rank's root of that name cannot come to be, and own says why. Fails on
       all ranks. name is "" where it is none that a root can have: nobody knows whose root it was
       to be, so that it fails on all ranks of the program that create a root then. */
    int (*decline)(const char *name, int own, struct cd_protection_message *message);
    /* protection: what the other calls take. On a failure there is none. */
    int (*open)(const struct cd_protected_root *root, void **protection,
                struct cd_protected_start *start, struct cd_protection_message *message);
    /* After open: whether this rank's root could be opened from there. After a failure close
       follows, on all ranks. */
    int (*opened)(void *protection, int own, struct cd_protection_message *message);
    /* own: whether the root can be advanced to that epoch in this rank. If it can on all, protect
       follows; else nothing has changed on any. Where ranks cannot meet at all it is own. */
    int (*may_advance)(void *protection, uint64_t epoch, int own,
                       struct cd_protection_message *message);
    /* After may_advance. Takes over the point, also when it fails. People are told once, by one
       rank, of a point in time that could not be protected. */
    int (*protect)(void *protection, const struct cd_offered_point *point,
                   struct cd_protection_message *message);
    /* The newest point in time that survives, where ranks are now, what its level of redundancy
       covers, or 0. Not collective. */
    uint64_t (*protected_epoch)(void *protection);
    /* own: whether the root can be committed in this rank. If it can on all, what protects it does
       not count any more, and close follows; else nothing has changed on any. */
    int (*forget)(void *protection, int own, struct cd_protection_message *message);
    /* Ends the protection; all points have been released when it returns. */
    void (*close)(void *protection);
};

/* There is one protector in a process; it lives as long as the process. */
CD_API int cd_protect_by(const struct cd_protector *protector);

#ifdef __cplusplus
}
#endif

#endif /* CD_PROTECTION_H */
