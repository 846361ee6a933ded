/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the containment-domains authors */

/* plugged LIBRARY: a program in C loads Fortran, and with it MPI's library for Fortran, where
   nobody else sees that. The logger finds MPI's routines all the same. */

#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
    int (*plugin)(void);
    void *library, *found;
    int failures;

    MPI_Init(&argc, &argv);
    library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    found = library != NULL ? dlsym(library, "plugin") : NULL;
    if (found == NULL) {
        fprintf(stderr, "plugged: %s\n", dlerror());
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    memcpy(&plugin, &found, sizeof(plugin));
    failures = plugin();
    if (failures != 0)
        fprintf(stderr, "plugged: %d calls of Fortran fail\n", failures);
    MPI_Finalize();
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
