// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Communicators that MPI frees when the program does, beside those of siblings in other threads,
// which get their handles.
#include "hazard.h"
#include "mortal.h"
#include "siblings.h"
#include "unwilling_mpi.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>

namespace siblings_communicators {

// Each thread means its own by a handle that both have had, whoever is restored.
HAZARD_IN_THREADS(mortal_communicators_of_siblings) {
    if (world_rank() == 1) {
        return;
    }
    make_communicators_mortal();
    Siblings both;
    Sibling &first = both.first;
    Sibling &second = both.second;
    const auto work = [](Sibling &sibling) {
        sibling.make();
        sibling.look();
        sibling.free();
    };
    first.begin();
    work(first);
    second.begin();
    second.make();
    first.restore();
    second.look();
    second.free();
    second.make();
    first.make();
    both.check_that_they_share_a_handle();
    second.look();
    first.look();
    first.free();
    second.look();
    const auto repeat = [&] {
        second.make();
        second.look();
        second.free();
        second.make();
        second.look();
        second.look();
        second.free();
    };
    second.restore(); // to when the first had freed its own, in its own log
    repeat();
    both.go_back();
    repeat();
    second.make(); // live, and the first one's are put back
    work(first);
    work(first);
    second.look();
    second.free();
    both.end();
}

// What it was restored for and has not replayed is nobody's, or its parent's.
HAZARD_IN_THREADS(mortal_communicators_of_a_sibling_that_ends_in_its_replay) {
    if (world_rank() == 1) {
        return;
    }
    make_communicators_mortal();
    Siblings both;
    Domain &parent = both.parent;
    Sibling &first = both.first;
    Sibling &second = both.second;
    Sibling third(parent.handle(), "third");
    both.begin();
    third.begin();
    first.make();
    first.free();
    first.restore();
    second.make();
    first.make();
    first.end();
    both.check_that_they_share_a_handle();
    third.take(second);
    third.look();
    third.rename("third");
    second.take(third);
    second.look();
    third.free();
    second.end();
    third.end();
}

// The parent goes on with the log that it shares with the one that ended, and means what that had.
HAZARD_IN_THREADS(mortal_communicators_of_an_only_child_that_ends_in_its_replay) {
    if (world_rank() == 1) {
        return;
    }
    make_communicators_mortal();
    Domain parent;
    Sibling other(parent.handle(), "other");
    Sibling third(parent.handle(), "third");
    other.begin();
    third.begin();
    MPI_Comm own = MPI_COMM_NULL;
    const auto look_at = [&own] {
        char name[MPI_MAX_OBJECT_NAME] = {};
        int length = 0;
        CHECK(MPI_Comm_get_name(own, name, &length) == MPI_SUCCESS);
        CHECK(std::string(name) == "own");
    };
    {
        Domain child(parent.handle());
        const auto make = [&own] {
            MPI_Comm_dup(MPI_COMM_SELF, &own);
            MPI_Comm_set_name(own, "own");
        };
        make();
        look_at();
        MPI_Comm_free(&own);
        child.restore();
        make();
        other.make();
    }
#ifdef MPICH
    CHECK(std::ranges::count(other.comms, own) == 1);
#endif
    third.take(other);
    third.rename("third");
    other.take(third);
    other.look();
    look_at();
    MPI_Comm_free(&own);
    third.look();
    third.free();
    other.end();
    third.end();
}

namespace {

// As long as it is there, what is made is mortal.
class ManyWait {
public:
    ManyWait() {
        setenv("CD_COMMS_KEPT", "1", 1);
        elsewhere_([this] {
            one_waits_.emplace(nullptr, "one waits");
            MPI_Comm comm = MPI_COMM_NULL;
            MPI_Comm_dup(MPI_COMM_SELF, &comm);
            MPI_Comm_free(&comm);
        });
    }
    ManyWait(const ManyWait &) = delete;
    ManyWait &operator=(const ManyWait &) = delete;
    ~ManyWait() {
        elsewhere_([this] { one_waits_.reset(); });
    }

private:
    std::optional<Domain> one_waits_;
    ToldThread elsewhere_; // the last: it uses the other
};

} // namespace

// It was made when few waited to be freed any more.
HAZARD_IN_THREADS(communicator_that_waits_with_the_handle_of_a_mortal_one) {
    if (world_rank() == 1) {
        return;
    }
    Siblings both;
    Sibling &first = both.first;
    Sibling &second = both.second;
    both.begin();
    {
        const ManyWait many_wait;
        first.make();
        first.look();
        first.free();
    }
    second.make();
    second.look();
    both.go_back();
    first.make();
    second.make();
    both.check_that_they_share_a_handle();
    second.look();
    first.look();
    first.free();
    second.look();
    second.free();
    both.end();
}

// Whose log does not say when it was made and freed.
HAZARD_IN_THREADS(mortal_communicator_of_the_parent_in_another_thread) {
    if (world_rank() == 1) {
        return;
    }
    make_communicators_mortal();
    Domain parent;
    Sibling child(parent.handle(), "parent's");
    const auto use = [&] {
        for (MPI_Comm &each : child.comms) {
            MPI_Comm_dup(MPI_COMM_SELF, &each);
        }
        child.begin();
        child.rename("renamed");
        child.look();
        for (MPI_Comm each : child.comms) {
            MPI_Comm_free(&each);
        }
        child.end();
    };
    use();
    parent.restore();
    use();
    parent.restore();
    use();
}

// MPI may make and free a communicator for itself, which gets the handle.
HAZARD_IN_THREADS(mortal_communicator_beside_those_of_mpi) {
    make_communicators_mortal();
    Siblings both;
    Domain &parent = both.parent;
    Sibling &first = both.first;
    Sibling &second = both.second;
    MPI_Wtime(); // a log of its own
    both.begin();
    first.make();
    first.look();
    first.free();
    both.end();
    parent.restore();
    MPI_Wtime();
    both.begin();
    first.make();
    second.run([] {
        MPI_File file = MPI_FILE_NULL;
        CHECK(MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_RDWR, MPI_INFO_NULL, &file) ==
              MPI_SUCCESS);
        CHECK(MPI_File_close(&file) == MPI_SUCCESS);
    });
    first.look();
    first.free();
    both.end();
}

namespace {

// make: what never makes a mortal one, and is given the handles of mortal ones.
template <typename Make> void make_with_handles_of_mortal_ones(const Make &make) {
    make_communicators_mortal();
    Siblings both;
    Sibling &first = both.first;
    Sibling &second = both.second;
    both.begin();
    first.make();
    first.look();
    first.free();
    both.go_back();
    first.make();
    second.make(make);
    both.check_that_they_share_a_handle();
    second.look();
    const std::vector<MPI_Comm> live = second.comms;
    second.restore();
    second.make(make);
    CHECK(second.comms == live);
    second.look();
    first.look();
    first.free();
    second.look();
    second.free();
    both.end();
}

void duplicate_in_the_background(MPI_Comm *made) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm_idup(MPI_COMM_SELF, made, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

} // namespace

HAZARD_IN_THREADS(duplicates_with_the_handles_of_mortal_communicators) {
    if (world_rank() == 0) {
        make_with_handles_of_mortal_ones(duplicate_in_the_background);
    }
}

HAZARD_IN_THREADS(connections_with_the_handles_of_mortal_communicators) {
    if (world_rank() == 0) {
        make_with_handles_of_mortal_ones([](MPI_Comm *made) { MPI_Comm_join(-1, made); });
    }
}

// It is its maker's as before.
HAZARD_IN_THREADS(disconnect_that_mpi_refuses_of_one_with_the_handle_of_a_mortal_one) {
    const auto connect = [](MPI_Comm *made) {
        MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, 1 - world_rank(), 1, made);
        MPI_Comm_set_errhandler(*made, MPI_ERRORS_RETURN);
    };
    if (world_rank() == 1) {
        for (MPI_Comm &each : std::vector<MPI_Comm>(8)) {
            connect(&each);
        }
        return;
    }
    Siblings both;
    Sibling &first = both.first;
    Sibling &second = both.second;
    both.begin();
    {
        const ManyWait many_wait;
        first.make();
        first.look();
        first.free();
    }
    both.go_back();
    first.make();
    second.make(connect);
    let_groups_have_no_rank_in_common(1);
    let_mpi_refuse_to_disconnect(1);
    second.run([&second] {
        for (MPI_Comm each : second.comms) {
            CHECK(MPI_Comm_disconnect(&each) == MPI_ERR_OTHER);
        }
    });
    let_mpi_refuse_to_disconnect(0);
    let_groups_have_no_rank_in_common(0);
    second.rename("second's still");
    second.look();
    first.look();
    first.free();
    both.end();
}

} // namespace siblings_communicators
