/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the containment-domains authors */
#ifndef CD_BINDING_H
#define CD_BINDING_H

/* A call for bindings of other languages; applications do not use it. */

#include "cd/cd.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sets the calling thread's last error, for arguments that a binding refuses before it reaches a
   call of cd.h. code is not CD_ERROR_NONE. A long sentence is cut. Returns FAILURE. */
CD_API int cd_fail(enum cd_error code, const char *sentence);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
