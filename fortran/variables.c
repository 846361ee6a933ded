/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the containment-domains authors */

/* cd_preserve and cd_forget: turn a variable of any type and rank into ranges of bytes. Fortran
   passes a descriptor as in the compiler's ISO_Fortran_binding.h. */
#include <cd/binding.h>
#include <cd/cd.h>

#include <ISO_Fortran_binding.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cd_fortran_preserve(cd_handle cd, CFI_cdesc_t *variable, const int *access,
                        const int *addr_scope, const CFI_cdesc_t *storage_info);
int cd_fortran_forget(cd_handle cd, CFI_cdesc_t *variable);

/* The memory of a variable: runs of equal length at the points of a grid. The order of elements
   does not matter, so a section with a negative stride is stored with a positive one. */
struct shape {
    char *first;
    size_t run;
    int dimensions;
    struct {
        size_t extent;
        ptrdiff_t stride;
    } dimension[CFI_MAX_RANK];
};

/* Makes one run of neighbouring elements without a gap. run is 0 for an empty variable. */
static void take_shape(const CFI_cdesc_t *variable, struct shape *shape) {
    shape->first = variable->base_addr;
    shape->run = variable->elem_len;
    shape->dimensions = 0;
    for (int i = 0; i < variable->rank; i++) {
        const size_t extent = (size_t)variable->dim[i].extent;
        ptrdiff_t stride = variable->dim[i].sm;

        if (extent == 0) {
            shape->run = 0;
            shape->dimensions = 0;
            return;
        }
        if (stride < 0) {
            shape->first += (ptrdiff_t)(extent - 1) * stride;
            stride = -stride;
        }
        if (shape->dimensions == 0 && (size_t)stride == shape->run) {
            shape->run *= extent;
        } else if (extent > 1) {
            shape->dimension[shape->dimensions].extent = extent;
            shape->dimension[shape->dimensions].stride = stride;
            shape->dimensions++;
        }
    }
}

/* Returns the number of runs, or SIZE_MAX if a list cannot have so many. */
static size_t count_runs(const struct shape *shape) {
    size_t count = 1;
    for (int i = 0; i < shape->dimensions; i++) {
        if (shape->dimension[i].extent > INT_MAX / count)
            return SIZE_MAX;
        count *= shape->dimension[i].extent;
    }
    return count;
}

static void list_runs(const struct shape *shape, struct cd_addrspec pattern,
                      struct cd_addrspec *list, size_t count) {
    size_t index[CFI_MAX_RANK] = {0};
    char *address = shape->first;

    pattern.length = shape->run;
    for (size_t i = 0; i < count; i++) {
        pattern.address = address;
        list[i] = pattern;
        for (int d = 0; d < shape->dimensions; d++) {
            address += shape->dimension[d].stride;
            if (++index[d] < shape->dimension[d].extent)
                break;
            address -= (ptrdiff_t)index[d] * shape->dimension[d].stride;
            index[d] = 0;
        }
    }
}

static bool is_assumed_size(const CFI_cdesc_t *variable) {
    return variable->rank > 0 && variable->dim[variable->rank - 1].extent == -1;
}

/* An operation on a list of ranges. */
struct action {
    cd_handle cd;
    const char *storage_info;
    int (*perform)(const struct action *action, const struct cd_addrspec *list, int count);
};

static int add(const struct action *action, const struct cd_addrspec *list, int count) {
    return (add_to_cd_via_copy)(action->cd, list, count, action->storage_info);
}

static int delete (const struct action *action, const struct cd_addrspec *list, int count) {
    return delete_from_cd(action->cd, list, count);
}

/* Performs action on the ranges of the variable. pattern: their type and scope. */
static int with_ranges(const CFI_cdesc_t *variable, struct cd_addrspec pattern,
                       const struct action *action) {
    struct shape shape;
    struct cd_addrspec *list = &pattern;
    size_t count;
    int result;

    if (variable->base_addr == NULL)
        return cd_fail(CD_ERROR_NULL_ADDRESS,
                       "the variable is not allocated, or the pointer not associated; allocate it "
                       "before it is preserved");
    if (is_assumed_size(variable))
        return cd_fail(
            CD_ERROR_COUNT,
            "the array is an assumed-size dummy argument, a(*), whose length is unknown; give a "
            "section of it, a(1:n), or declare its shape");
    take_shape(variable, &shape);
    count = count_runs(&shape);
    if (count == SIZE_MAX)
        return cd_fail(CD_ERROR_COUNT, "the section has more pieces than an add call can take "
                                       "(2147483647); preserve the whole "
                                       "array");
    if (count > 1 && (list = malloc(count * sizeof(*list))) == NULL) {
        char sentence[200];

        snprintf(sentence, sizeof(sentence),
                 "no memory for the list of the section's %zu pieces; free some, or preserve the "
                 "whole array",
                 count);
        return cd_fail(CD_ERROR_NO_MEMORY, sentence);
    }
    list_runs(&shape, pattern, list, count);
    result = action->perform(action, list, (int)count);
    if (list != &pattern)
        free(list);
    return result;
}

/* Returns a Fortran string as a C string without trailing blanks; NULL without memory. */
static char *c_string_of(const CFI_cdesc_t *string) {
    const char *characters = string->base_addr;
    size_t length = string->elem_len;
    char *copy;

    while (length > 0 && characters[length - 1] == ' ')
        length--;
    if ((copy = malloc(length + 1)) == NULL)
        return NULL;
    memcpy(copy, characters, length);
    copy[length] = '\0';
    return copy;
}

int cd_fortran_preserve(cd_handle cd, CFI_cdesc_t *variable, const int *access,
                        const int *addr_scope, const CFI_cdesc_t *storage_info) {
    const struct cd_addrspec pattern = {
        NULL, 0, (enum addr_type)(access != NULL ? *access : READ_WRITE),
        (enum addr_scope)(addr_scope != NULL ? *addr_scope : GLOBAL)};
    char *storage = NULL;
    int result;

    if (storage_info != NULL && (storage = c_string_of(storage_info)) == NULL)
        return cd_fail(CD_ERROR_NO_MEMORY, "no memory for a copy of storage_info; free some");
    result = with_ranges(variable, pattern, &(const struct action){cd, storage, add});
    free(storage);
    return result;
}

int cd_fortran_forget(cd_handle cd, CFI_cdesc_t *variable) {
    const struct cd_addrspec pattern = {NULL, 0, READ_WRITE, GLOBAL};

    return with_ranges(variable, pattern, &(const struct action){cd, NULL, delete});
}
