// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Names that a CD gives to objects: a restore brings back the ones of before.
#include "hazard.h"

#include <array>
#include <string>
#include <thread>

namespace names {

namespace {

using Names = std::array<std::string, 3>;

template <typename Object> std::string name_of(int (*get)(Object, char *, int *), Object object) {
    std::array<char, MPI_MAX_OBJECT_NAME> name{};
    int length = -1;
    get(object, name.data(), &length);
    return name.data();
}

MPI_Win window_of_all() {
    static int memory[2];
    static int used = 0;
    MPI_Win win = MPI_WIN_NULL;
    MPI_Win_create(&memory[used++], sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    return win;
}

// One of each kind that has names.
struct Objects {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Win win = MPI_WIN_NULL;

    void make() {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Type_contiguous(3, MPI_INT, &type);
        win = window_of_all();
    }

    void name(const char *name) const {
        MPI_Comm_set_name(comm, name);
        MPI_Type_set_name(type, name);
        MPI_Win_set_name(win, name);
    }

    // As MPI has them: a thread with a CD is told a window's from the log.
    Names names() const {
        Names found;
        std::thread([&] {
            found = {name_of(MPI_Comm_get_name, comm), name_of(MPI_Type_get_name, type),
                     name_of(MPI_Win_get_name, win)};
        }).join();
        return found;
    }

    void free() {
        MPI_Win_free(&win);
        MPI_Type_free(&type);
        MPI_Comm_free(&comm);
    }
};

Names all_of(const char *name) { return {name, name, name}; }

} // namespace

HAZARD_IN_THREADS(names_are_those_of_before) {
    Objects kept;
    Objects freed; // by the CD
    kept.make();
    freed.make();
    if (world_rank() == 1) {
        freed.free();
        kept.free();
        return;
    }
    const Names unnamed = kept.names();
    freed.name("old");
    Domain parent;
    const Objects freed_before = freed;
    const auto begin = [&] {
        freed = freed_before;
        kept.name("parent's");
        freed.name("parent's");
        freed.free();
    };
    begin();
    {
        Domain child(parent.handle());
        kept.name("child's");
        kept.name("child's, again");
        child.restore();
        CHECK(kept.names() == all_of("parent's"));
        kept.name("child's");
        CHECK(kept.names() == all_of("child's"));
        kept.name("child's, again");
    }
    parent.restore();
    CHECK(kept.names() == unnamed);
    CHECK(name_of(MPI_Comm_get_name, freed_before.comm) == "old");
    CHECK(name_of(MPI_Type_get_name, freed_before.type) == "old");
    begin();
    {
        const Domain child(parent.handle());
        kept.name("child's");
        kept.name("child's, again");
        CHECK(!parent.info().replaying);
    }
    CHECK(kept.names() == all_of("child's, again"));
    parent.advance();
    kept.name("later");
    parent.restore();
    CHECK(kept.names() == all_of("child's, again"));
    kept.name("later");
    kept.free();
}

// Programs name things once only, or say in the name which attempt it is.
HAZARD(names_need_not_be_repeated) {
    const std::string before = name_of(MPI_Comm_get_name, MPI_COMM_WORLD);
    Domain domain;
    int sum = 0;
    for (const char *name : {"first", "", "third"}) {
        if (*name != '\0') {
            MPI_Comm_set_name(MPI_COMM_WORLD, name);
            CHECK(name_of(PMPI_Comm_get_name, MPI_COMM_WORLD) == name);
        }
        const int one = 1;
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK(sum == world_size());
        domain.restore();
        CHECK(name_of(PMPI_Comm_get_name, MPI_COMM_WORLD) == before);
    }
}

} // namespace names
