// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Names that a CD gives to objects: a restore brings back the ones of before.
#include "window.h"

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

} // namespace

// Programs name things once only, or say in the name which attempt it is.
HAZARD_IN_THREADS(names_need_not_be_repeated) {
    Numbers memory(eager);
    MPI_Win window = window_over(memory);
    const auto names = [window] { // as MPI has them: a thread with a CD has some from the log
        Names found;
        std::thread([&] {
            found = {name_of(MPI_Comm_get_name, MPI_COMM_WORLD),
                     name_of(MPI_Type_get_name, MPI_INT), name_of(MPI_Win_get_name, window)};
        }).join();
        return found;
    };
    const Names before = names();
    {
        Domain domain;
        int sum = 0;
        for (const char *name : {"first", "", "third"}) {
            if (*name != '\0') {
                MPI_Comm_set_name(MPI_COMM_WORLD, name);
                MPI_Type_set_name(MPI_INT, name);
                MPI_Win_set_name(window, name);
                CHECK((names() == Names{name, name, name}));
            }
            const int one = 1;
            MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
            CHECK(sum == world_size());
            domain.restore();
            CHECK(names() == before);
        }
    }
    MPI_Win_free(&window);
}

} // namespace names
