/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the containment-domains authors */

/* Each type of cd.h with its fields numbered, for looking.f90 to compare. */
#include <cd/cd.h>

void fill_info(struct cd_info *info, size_t *size);
void fill_range(struct cd_addrspec *range, size_t *size);
void fill_mismatch(struct cd_mismatch *mismatch, size_t *size);
void fill_event(struct cd_event *event, size_t *size);

void fill_info(struct cd_info *info, size_t *size) {
    *info = (struct cd_info){1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18};
    *size = sizeof(*info);
}

void fill_range(struct cd_addrspec *range, size_t *size) {
    *range = (struct cd_addrspec){(void *)1, 2, READ_WRITE, CONSTRAINED};
    *size = sizeof(*range);
}

void fill_mismatch(struct cd_mismatch *mismatch, size_t *size) {
    *mismatch = (struct cd_mismatch){(const void *)1, 2, CD_MISMATCH_CHECKSUM};
    *size = sizeof(*mismatch);
}

void fill_event(struct cd_event *event, size_t *size) {
    *event = (struct cd_event){CD_OP_ADVANCE, CD_ERROR_COUNT, "name", 4, 5, 6};
    *size = sizeof(*event);
}
