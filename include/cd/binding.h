/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the containment-domains authors */
#ifndef CD_BINDING_H
#define CD_BINDING_H

/* What bindings for other languages call; applications do not. */

#include "cd/cd.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Makes code, which is not CD_ERROR_NONE, and sentence the calling thread's last error, for what a
   binding refuses before it reaches a call of cd.h. Returns FAILURE. A long sentence is cut. */
CD_API int cd_fail(enum cd_error code, const char *sentence);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
