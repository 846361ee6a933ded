// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// alone DIRECTORY STORAGE: what becomes of the others when rank 1 fails alone to create, to advance
// and to commit the root. All ranks say the same of it; none waits for ever.

#include "must.h"

#include "cd/cd.hpp"

#include <mpi.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

namespace {

std::string storage;

// The last error is the same on all ranks, and says which rank it was.
void must_be_told(cd_error code, const char *what) {
    must(cd_last_error() == code, what);
    char text[1024] = "";
    std::strncpy(text, cd_last_error_message(), sizeof text - 1);
    must(std::strncmp(text, "rank 1: ", 8) == 0, what);
    char first[1024] = "";
    std::memcpy(first, text, sizeof first);
    MPI_Bcast(first, sizeof first, MPI_CHAR, 0, MPI_COMM_WORLD);
    must(std::strcmp(first, text) == 0, what);
}

cd_handle create() {
    return create_cd(nullptr, storage.c_str(), COMM_LOGGING_DISABLED, "alone", nullptr);
}

// What one rank cannot read is told to all.
void cannot_read(bool alone) {
    const std::string given = storage + (alone ? ",set_size=many" : "");
    must(create_cd(nullptr, given.c_str(), COMM_LOGGING_DISABLED, "alone", nullptr) == nullptr,
         "a root was created whose storage_info rank 1 cannot read");
    must_be_told(CD_ERROR_STORAGE_VALUE, "the storage_info that rank 1 cannot read");
}

// Nobody knows which root it is: the others do not get theirs without it, nor fail for reasons of
// their own.
void cannot_read_the_name(bool alone) {
    for (const std::string &others : {storage, storage + ",set_size=many"}) {
        must(create_cd(nullptr, alone ? storage.c_str() : others.c_str(), COMM_LOGGING_DISABLED,
                       alone ? "no/name" : "alone", nullptr) == nullptr,
             "a root was created that has no name in rank 1");
        must_be_told(CD_ERROR_NAME_INVALID, "the name that rank 1 has");
    }
}

// MPI is its parent's, of which it learns nothing and for which it does not wait.
void cannot_be_forked() {
    const pid_t child = fork();
    if (child == 0) {
        const bool refused = create() == nullptr && cd_last_error() == CD_ERROR_ARGUMENT;
        const std::string bad = storage + ",set_size=many";
        const auto error_of = [](const char *storage_info, const char *name) {
            int error = 0;
            (void)create_cd(nullptr, storage_info, COMM_LOGGING_DISABLED, name, &error);
            return error;
        };
        _exit(refused && error_of(bad.c_str(), "alone") == CD_ERROR_STORAGE_VALUE &&
                      error_of(storage.c_str(), "no/name") == CD_ERROR_NAME_INVALID
                  ? 0
                  : 1);
    }
    int status = 0;
    must(waitpid(child, &status, 0) == child && status == 0, "a process that was forked");
}

// How often somebody copies what the program has attached to MPI_COMM_WORLD.
int copies_of_attribute = 0;

int copy_attribute(MPI_Comm, int, void *, void *, void *, int *copied) {
    ++copies_of_attribute;
    *copied = 1;
    return MPI_SUCCESS;
}

void attach_to_world() {
    int key = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(copy_attribute, MPI_COMM_NULL_DELETE_FN, &key, nullptr);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, nullptr);
}

// It has the name already, and does not let the others wait.
void cannot_create_at_all(bool alone) {
    cd_handle other = nullptr;
    if (alone) {
        other = create_cd(nullptr, "store=memory", COMM_LOGGING_DISABLED, "alone", nullptr);
        must(other != nullptr, "another root of the name");
    }
    must(create() == nullptr, "a root was created whose name rank 1 has already");
    must_be_told(CD_ERROR_NAME_IN_USE, "the name that rank 1 has already");
    must(!alone || commit_cd(other) == SUCCESS, "the commit of the other root");
}

cd_info query(cd_handle cd) {
    cd_info info = {};
    must(cd_query(cd, &info) == SUCCESS, "cd_query");
    return info;
}

// Ends MPI: what it did not protect before stays what it is, and nobody is ended by MPI.
void outlives_mpi() {
    const cd_handle cd = create();
    must(cd != nullptr, "a root that is to outlive MPI");
    must(advance_cd_point_in_time(cd) == SUCCESS, "its advance");
    MPI_Finalize();
    const uint64_t before = query(cd).protected_epoch;
    const bool all_the_same = before == 1 && advance_cd_point_in_time(cd) == SUCCESS &&
                              query(cd).protected_epoch == 1 && commit_cd(cd) == FAILURE &&
                              cd_last_error() == CD_ERROR_ARGUMENT &&
                              std::strstr(cd_last_error_message(), "MPI has ended") != nullptr &&
                              commit_cd(cd) == FAILURE &&
                              std::strstr(cd_last_error_message(), "MPI has ended") != nullptr;
    if (!all_the_same) {
        std::printf("rank %d: a root that outlives MPI: code %d: %s\n", rank, cd_last_error(),
                    cd_last_error_message());
        std::exit(4);
    }
}

} // namespace

int main(int argc, char **argv) {
    if (argc != 3) {
        return 2;
    }
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const bool alone = rank == 1;
    const bool waits = std::strstr(argv[2], "async") == nullptr;
    const std::filesystem::path directory =
        std::filesystem::path(argv[1]) / ("n" + std::to_string(rank));
    setenv("CD_GROUP", std::to_string(rank).c_str(), 1);
    storage = "store=file,sync=none,dir=" + directory.string() + "," + argv[2];

    attach_to_world();
    cannot_read(alone);
    cannot_read_the_name(alone);
    cannot_be_forked();
    cannot_create_at_all(alone);
    const auto obstacle = directory / (std::to_string(rank) + "-alone.cds");
    if (alone) {
        std::filesystem::create_directories(obstacle);
        std::filesystem::permissions(directory, std::filesystem::perms::owner_all);
    }
    must(create() == nullptr, "a root was created that rank 1 cannot have");
    must_be_told(CD_ERROR_STORE_DIRECTORY, "the store of rank 1 cannot be opened");
    if (alone) {
        std::filesystem::remove(obstacle);
    }
    const cd_handle cd = create();
    must(cd != nullptr, "create_cd");

    must(copies_of_attribute == 0, "an attribute of MPI_COMM_WORLD was copied");

    int value = 1;
    const cd_addrspec keep = {&value, sizeof value, READ_WRITE, GLOBAL};
    must(add_to_cd_via_copy(cd, &keep, 1) == SUCCESS, "add_to_cd_via_copy");
    must(advance_cd_point_in_time(cd) == SUCCESS, "the first advance");
    cd_handle child = nullptr;
    if (alone) {
        child = create_cd(cd, nullptr, COMM_LOGGING_DISABLED, nullptr, nullptr);
        must(child != nullptr, "a child");
    }
    must(advance_cd_point_in_time(cd) == CD_FAILURE, "the advance that rank 1 cannot do");
    must_be_told(CD_ERROR_HAS_CHILDREN, "the advance that rank 1 cannot do");
    must(query(cd).epoch == 1, "the epoch after it");
    must(!waits || query(cd).protected_epoch == 1, "what is protected after it");
    must(!alone || commit_cd(child) == SUCCESS, "the commit of the child");
    must(add_to_cd_via_copy(cd, &keep, 1) == SUCCESS, "add_to_cd_via_copy");
    must(advance_cd_point_in_time(cd) == SUCCESS, "the next advance");
    must(query(cd).epoch == 2, "the epoch after the next");
    must(!waits || query(cd).protected_epoch == 2, "what is protected after the next");

    if (alone) {
        child = create_cd(cd, nullptr, COMM_LOGGING_DISABLED, nullptr, nullptr);
    }
    must(commit_cd(cd) == FAILURE, "a root was committed that has a child in rank 1");
    must_be_told(CD_ERROR_HAS_CHILDREN, "the commit that rank 1 cannot do");
    must(query(cd).protected_epoch == 2, "what is protected after the commit that failed");
    must(!alone || commit_cd(child) == SUCCESS, "the commit of the child");
    must(commit_cd(cd) == SUCCESS, "the commit that all can do");
    must(std::filesystem::is_empty(directory), "something is left");
    outlives_mpi();
    std::printf("rank %d has come through\n", rank);
    return 0;
}
