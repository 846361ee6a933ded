/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the containment-domains authors */

/* odd ODDITY: an MPI program on one rank that calls MPI_Allreduce ten times, and does something
   that programs do not all do. */

/* NOLINTNEXTLINE(bugprone-reserved-identifier): the C library says so */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void reduce_in(MPI_Comm comm, int times) {
    for (int i = 0; i < times; ++i) {
        int sum = 0;
        MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, comm);
    }
}

static void reduce(int times) { reduce_in(MPI_COMM_WORLD, times); }

/* A child that ends as programs end, while what the parent has recorded is not written yet. */
static void *look_at_the_clock(void *time) {
    *(double *)time = MPI_Wtime();
    return NULL;
}

static void forks(void) {
    reduce(5);
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        pthread_t thread;
        double time = 0;
        pthread_create(&thread, NULL, look_at_the_clock, &time);
        pthread_join(thread, NULL);
        exit(time > 0 ? 3 : 4);
    }
    int status = 0;
    waitpid(child, &status, 0);
    printf("the child: %d\n", WEXITSTATUS(status));
    reduce(5);
}

static void *be_thread(void *comm) {
    reduce_in(*(MPI_Comm *)comm, 10);
    return NULL;
}

/* Each records its own; they end one after the other. */
static void starts_threads(void) {
    pthread_t threads[3];
    MPI_Comm comms[3];
    for (int i = 0; i < 3; ++i) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
        pthread_create(&threads[i], NULL, be_thread, &comms[i]);
    }
    reduce(10);
    for (int i = 0; i < 3; ++i) {
        pthread_join(threads[i], NULL);
        MPI_Comm_free(&comms[i]);
    }
}

static void aborts(void) {
    reduce(10);
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 7);
}

/* In a library that the loader binds before the logger. */
void reduce_here(void);

/* That comes between it and the logger. */
static void has_a_tool(void) { reduce(10); }

/* Another job writes into the directory. */
static void is_beside_another_job(void) { reduce(10); }

/* And nothing else: it never calls MPI_Init. */
static int has_sessions(void) {
#if MPI_VERSION >= 4
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "odd", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    reduce_in(comm, 10);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
#endif
    return 0;
}

static void exits(void) {
    reduce(10);
    exit(0);
}

/* From now on the process gets so much more memory at most; below 0: all that it wants. */
static void limit_memory(long more) {
    struct rlimit limit;
    getrlimit(RLIMIT_AS, &limit);
    long pages = 0;
    FILE *sizes = fopen("/proc/self/statm", "r");
    if (sizes == NULL || fscanf(sizes, "%ld", &pages) != 1) {
        abort();
    }
    fclose(sizes);
    limit.rlim_cur =
        more < 0 ? limit.rlim_max : (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (rlim_t)more;
    setrlimit(RLIMIT_AS, &limit);
}

/* Not for the log's first entry, so that there is none. */
static void lacks_memory_for_the_log(void) {
    limit_memory(1 << 20);
    reduce(10);
    limit_memory(-1);
}

/* An entry fits into the log, and not into what is to be written to the file. */
static void lacks_memory_for_the_file(void) {
    enum { count = 7 << 18 };
    static int given[count];
    static int got[count];
    reduce(10);
    limit_memory(1 << 20);
    MPI_Allreduce(given, got, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    limit_memory(-1);
}

/* Of files that it has not opened, and opens its own. */
static int own_file = -1;
static void closes_descriptors(void) {
    reduce(10);
    char name[64];
    char target[256];
    for (int i = 3; i < 1024; ++i) {
        snprintf(name, sizeof name, "/proc/self/fd/%d", i);
        const ssize_t length = readlink(name, target, sizeof target - 1);
        target[length > 0 ? length : 0] = '\0';
        if (strstr(target, ".cdmpilog") != NULL) {
            const int own = open("/tmp", O_RDWR | O_TMPFILE, 0600);
            dup2(own, i);
            own_file = i;
        }
    }
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)(void);
    } oddities[] = {{"forks", forks},
                    {"starts_threads", starts_threads},
                    {"aborts", aborts},
                    {"binds_at_once", reduce_here},
                    {"exits", exits},
                    {"has_a_tool", has_a_tool},
                    {"is_beside_another_job", is_beside_another_job},
                    {"closes_descriptors", closes_descriptors},
                    {"lacks_memory_for_the_log", lacks_memory_for_the_log},
                    {"lacks_memory_for_the_file", lacks_memory_for_the_file}};
    if (argc == 2 && strcmp(argv[1], "has_sessions") == 0) {
        return has_sessions();
    }
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    for (size_t i = 0; i < sizeof oddities / sizeof oddities[0]; ++i) {
        if (argc == 2 && strcmp(argv[1], oddities[i].name) == 0) {
            oddities[i].run();
        }
    }
    printf("threads %d\n", provided == MPI_THREAD_MULTIPLE);
    MPI_Finalize();
    printf("its own file: %ld bytes\n", own_file < 0 ? 0 : (long)lseek(own_file, 0, SEEK_END));
    return 0;
}
