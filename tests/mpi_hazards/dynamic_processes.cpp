// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Processes that a domain starts, or meets.
#include "complaints.h"
#include "hazard.h"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace dynamic_processes {

namespace {

// Tells who it is, as often as it is asked: once for what is replayed, and once live.
void be_the_child(MPI_Comm parent) {
    const int own = static_cast<int>(getpid());
    for (int i = 0; i < 2; ++i) {
        int question = 0;
        MPI_Recv(&question, 1, MPI_INT, 0, i, parent, MPI_STATUS_IGNORE);
        const int answer[] = {own, question + 1};
        MPI_Send(answer, 2, MPI_INT, 0, i, parent);
    }
    MPI_Comm_disconnect(&parent);
}

Numbers ask(MPI_Comm child, int tag, int question) {
    Numbers answer(2);
    MPI_Send(&question, 1, MPI_INT, 0, tag, child);
    MPI_Recv(answer.data(), 2, MPI_INT, 0, tag, child, MPI_STATUS_IGNORE);
    CHECK(answer[1] == question + 1);
    return answer;
}

// That runs the hazard, too, with the logger, which Open MPI's launcher does not hand on.
MPI_Comm start_child(const char *hazard) {
    const char *const logger = std::getenv("LD_PRELOAD");
    std::string preload = std::string("LD_PRELOAD=") + (logger != nullptr ? logger : "");
    char path[4096] = {};
    CHECK(readlink("/proc/self/exe", path, sizeof path - 1) > 0);
    std::string name = hazard;
    char *arguments[] = {preload.data(), path, name.data(), nullptr};
    MPI_Comm child = MPI_COMM_NULL;
    int error = -1;
    MPI_Comm_spawn("env", arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &child, &error);
    CHECK(error == MPI_SUCCESS);
    return child;
}

// Whether it has a name and can be compared, or says that it is ended.
bool is_known(MPI_Comm child) {
    char name[MPI_MAX_OBJECT_NAME] = {};
    int length = 0;
    int result = MPI_UNDEFINED;
    bool named = false;
    bool compared = false;
    std::string said;
    {
        Complaints complaints;
        named = MPI_Comm_get_name(child, name, &length) == MPI_SUCCESS;
        compared = MPI_Comm_compare(child, child, &result) == MPI_SUCCESS;
        said = complaints.text();
    }
    CHECK(named == compared);
    for (const char *call : {"MPI_Comm_get_name", "MPI_Comm_compare"}) {
        const std::string unknown = std::string(call) +
                                    " cannot be answered in a re-execution: the "
                                    "program disconnected this communicator";
        CHECK((said.find(unknown) == std::string::npos) == named);
    }
    return named;
}

} // namespace

// A re-execution talks to the one that there is.
HAZARD(child_is_started_once) {
    MPI_Comm parent = MPI_COMM_NULL;
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        be_the_child(parent);
        return;
    }
    if (world_rank() == 1) {
        return;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm child = MPI_COMM_NULL;
    int key = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, nullptr);
    Domain domain;
    const auto start = [&] {
        child = start_child("child_is_started_once");
        return ask(child, 0, 41);
    };
    const Numbers first = start();
    const MPI_Comm before = child;
    for (int i = 0; i < 2; ++i) {
        child = MPI_COMM_NULL;
        domain.restore();
        CHECK(start() == first);
        CHECK(child == before);
    }
    // What is changed in a connection that is ended then is not taken back.
    const auto end = [&](bool again) {
        CHECK(ask(child, 1, 51)[0] == first[0]);
        MPI_Comm_set_attr(child, key, &key);
        MPI_Comm_set_errhandler(child, MPI_ERRORS_RETURN);
        CHECK(is_known(child) == !again);
        int size = 0;
        MPI_Comm_remote_size(child, &size);
        CHECK(size == 1);
        MPI_Comm_disconnect(&child);
        CHECK(child == MPI_COMM_NULL);
    };
    end(false);
    for (int i = 0; i < 2; ++i) {
        domain.restore();
        CHECK(start() == first);
        end(true);
    }
    MPI_Comm_free_keyval(&key);
}

// MPI forgets it where the two part.
HAZARD(child_finds_the_parent_again_that_it_has_left) {
    MPI_Comm parent = MPI_COMM_NULL;
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        Domain domain;
        const auto execute = [] {
            MPI_Comm found = MPI_COMM_NULL;
            MPI_Comm_get_parent(&found);
            CHECK(found != MPI_COMM_NULL);
            int question = 0;
            MPI_Recv(&question, 1, MPI_INT, 0, 0, found, MPI_STATUS_IGNORE);
            CHECK(question == 41);
            MPI_Comm_disconnect(&found);
        };
        execute();
        for (int i = 0; i < 2; ++i) {
            domain.restore();
            execute();
        }
        return;
    }
    if (world_rank() == 0) {
        MPI_Comm child = start_child("child_finds_the_parent_again_that_it_has_left");
        const int question = 41;
        MPI_Send(&question, 1, MPI_INT, 0, 0, child);
        MPI_Comm_disconnect(&child);
    }
}

namespace {

// Both ends of a connection, each at one rank.
int connection() {
    int meeting = getpid();
    MPI_Bcast(&meeting, 1, MPI_INT, 0, MPI_COMM_WORLD);
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    // Behind a zero: a name in no directory.
    std::snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "cd_join.%d", meeting);
    const int here = socket(AF_UNIX, SOCK_STREAM, 0);
    auto *const place = reinterpret_cast<sockaddr *>(&address);
    if (world_rank() == 1) {
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK(connect(here, place, sizeof address) == 0);
        return here;
    }
    CHECK(bind(here, place, sizeof address) == 0);
    CHECK(listen(here, 1) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    const int other = accept(here, nullptr, nullptr);
    CHECK(other >= 0);
    return other;
}

int exchanged(MPI_Comm comm, int mine) {
    int others = 0;
    MPI_Sendrecv(&mine, 1, MPI_INT, 0, 0, &others, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE);
    return others;
}

} // namespace

HAZARD(ranks_that_meet_over_a_socket) {
    int descriptor = connection();
    MPI_Comm other = MPI_COMM_NULL;
    const auto meet = [&] {
        CHECK(MPI_Comm_join(descriptor, &other) == MPI_SUCCESS);
        CHECK(exchanged(other, world_rank()) == 1 - world_rank());
    };
    if (world_rank() == 1) {
        meet();
    } else {
        Numbers state(eager);
        Domain domain;
        domain.keep(state);
        meet();
        for (int i = 0; i < 2; ++i) {
            const MPI_Comm before = other;
            other = MPI_COMM_NULL;
            domain.restore();
            meet();
            CHECK(other == before);
        }
        domain.advance();
        CHECK(exchanged(other, 5) == 6);
        MPI_Comm_disconnect(&other);
        return;
    }
    CHECK(exchanged(other, 6) == 5);
    MPI_Comm_disconnect(&other);
}

} // namespace dynamic_processes
