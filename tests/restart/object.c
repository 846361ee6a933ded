/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the containment-domains authors */
/* A library with data, so many pages; BUILD makes it another one under the same name. */
#ifndef PAGES
#define PAGES 1
#endif
unsigned char object_data[PAGES * 4096] = {BUILD};
