/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the containment-domains authors */
/* A library with data; BUILD makes it another one under the same name, of other data and code. */
unsigned char object_data[4096] = {BUILD};
int object_build(void);
int object_build(void) { return BUILD; }
