/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the containment-domains authors */

/* Calls of the system that units_gnu.f90 needs and Fortran lacks. */
#define _XOPEN_SOURCE 700 /* NOLINT(bugprone-reserved-identifier): POSIX says so */
#include <pthread.h>
#include <stdint.h>
#include <sys/stat.h>

int cd_fortran_lock_units(void);
void cd_fortran_unlock_units(void);
void cd_fortran_file_behind(int descriptor, int64_t identity[2]);

static pthread_mutex_t units;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_units(void) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&units, &attributes);
    pthread_mutexattr_destroy(&attributes);
}

/* Returns an error if the thread holds the lock already: a forbidden call from inside a callback is
   then an error and no deadlock. */
int cd_fortran_lock_units(void) {
    pthread_once(&once, make_units);
    return pthread_mutex_lock(&units);
}

void cd_fortran_unlock_units(void) { pthread_mutex_unlock(&units); }

/* Writes two numbers that identify the open file; -1 if there is none. */
void cd_fortran_file_behind(int descriptor, int64_t identity[2]) {
    struct stat file;
    if (fstat(descriptor, &file) != 0) {
        identity[0] = identity[1] = -1;
    } else {
        identity[0] = (int64_t)file.st_dev;
        identity[1] = (int64_t)file.st_ino;
    }
}
