/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the containment-domains authors */
/* A library with data, so many pages; BUILD makes it another one under the same name, of other data
   and of other code. */
#ifndef PAGES
#define PAGES 1
#endif
unsigned char object_data[PAGES * 4096] = {BUILD};
int object_build(void);
int object_build(void) { return BUILD; }
