// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Connections to another job, that end when the program disconnects them. The ranks of this one do
// for the other job: unwilling_mpi.h.
#include "complaints.h"
#include "hazard.h"
#include "told_thread.h"
#include "unwilling_mpi.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

namespace connections {

namespace {

// From its making to its end the other rank seems to be of another job.
class Connection {
public:
    Connection() {
        MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, 1 - world_rank(), 1, &comm_);
        MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
        MPI_Comm_set_name(comm_, "connection");
        let_groups_have_no_rank_in_common(1);
    }
    Connection(const Connection &) = delete;
    Connection &operator=(const Connection &) = delete;
    ~Connection() { let_groups_have_no_rank_in_common(0); }

    MPI_Comm comm() const { return comm_; }

private:
    MPI_Comm comm_ = MPI_COMM_NULL;
};

int exchanged(MPI_Comm comm, int mine) {
    int others = 0;
    MPI_Sendrecv(&mine, 1, MPI_INT, 0, 0, &others, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE);
    return others;
}

void exchange_and_disconnect(MPI_Comm comm, int times) {
    for (int i = 0; i < times; ++i) {
        exchanged(comm, i);
    }
    MPI_Comm_disconnect(&comm);
}

bool is_called(MPI_Comm comm, const char *wanted) {
    char name[MPI_MAX_OBJECT_NAME] = {};
    int length = 0;
    return MPI_Comm_get_name(comm, name, &length) == MPI_SUCCESS && std::string(name) == wanted;
}

// Nobody has recorded its name.
bool is_called_unknown(MPI_Comm comm) {
    Complaints complaints;
    return !is_called(comm, "connection") && complaints.name("disconnected this connection");
}

} // namespace

// It is as it was, to the program and to a re-execution.
HAZARD(disconnect_that_mpi_refuses) {
    const Connection connection;
    if (world_rank() == 1) {
        exchange_and_disconnect(connection.comm(), 3);
        return;
    }
    MPI_Comm comm = MPI_COMM_NULL;
    Domain domain;
    const auto look = [&] {
        int size = 0;
        int result = MPI_UNDEFINED;
        CHECK(is_called(connection.comm(), "connection"));
        CHECK(MPI_Comm_remote_size(connection.comm(), &size) == MPI_SUCCESS && size == 1);
        CHECK(MPI_Comm_compare(connection.comm(), connection.comm(), &result) == MPI_SUCCESS);
        CHECK(result == MPI_IDENT);
    };
    const auto be_refused = [&] {
        comm = connection.comm();
        CHECK(exchanged(comm, 0) == 0);
        CHECK(MPI_Comm_disconnect(&comm) == MPI_ERR_OTHER);
        CHECK(comm == connection.comm());
        look();
        CHECK(exchanged(comm, 1) == 1);
    };
    let_mpi_refuse_to_disconnect(1);
    be_refused();
    for (int i = 0; i < 2; ++i) {
        domain.restore();
        be_refused();
    }
    let_mpi_refuse_to_disconnect(0);
    domain.advance();
    look();
    const auto end = [&] {
        comm = connection.comm();
        CHECK(exchanged(comm, 2) == 2);
        CHECK(MPI_Comm_disconnect(&comm) == MPI_SUCCESS);
        CHECK(comm == MPI_COMM_NULL);
    };
    end();
    domain.restore();
    CHECK(is_called_unknown(connection.comm()));
    end();
}

// The re-execution is given it again, though MPI has ended it.
HAZARD(connection_that_a_domain_makes_and_ends) {
    MPI_Comm comm = MPI_COMM_NULL;
    const auto talk = [&] {
        MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, 1 - world_rank(), 1, &comm);
        let_groups_have_no_rank_in_common(1);
        int size = 0;
        CHECK(MPI_Comm_remote_size(comm, &size) == MPI_SUCCESS && size == 1);
        CHECK(exchanged(comm, world_rank()) == 1 - world_rank());
        CHECK(MPI_Comm_disconnect(&comm) == MPI_SUCCESS);
        CHECK(comm == MPI_COMM_NULL);
        let_groups_have_no_rank_in_common(0);
    };
    if (world_rank() == 1) {
        talk();
        return;
    }
    Domain domain;
    talk();
    for (int i = 0; i < 2; ++i) {
        domain.restore();
        talk();
    }
}

// A thread without a CD has a communicator under the connection's handle while that is replayed.
HAZARD_IN_THREADS(handle_of_a_connection_is_given_to_another_communicator) {
    // Several: where handles are addresses, the memory of one may go to something else.
    const std::array<Connection, 16> connections;
    if (world_rank() == 1) {
        for (const Connection &connection : connections) {
            exchanged(connection.comm(), 0);
        }
        for (const Connection &connection : connections) {
            exchange_and_disconnect(connection.comm(), 0);
        }
        return;
    }
    std::array<MPI_Comm, 32> others = {};
    const auto make_others = [&] {
        for (MPI_Comm &other : others) {
            MPI_Comm_dup(MPI_COMM_SELF, &other);
            MPI_Comm_set_name(other, "another");
        }
    };
    const auto look_at_others = [&] {
        for (const MPI_Comm other : others) {
            int inter = -1;
            int result = MPI_UNDEFINED;
            CHECK(is_called(other, "another"));
            CHECK(MPI_Comm_test_inter(other, &inter) == MPI_SUCCESS && inter == 0);
            CHECK(MPI_Comm_compare(other, MPI_COMM_SELF, &result) == MPI_SUCCESS);
            CHECK(result == MPI_CONGRUENT);
        }
    };
    const auto free_others = [&] {
        for (MPI_Comm &other : others) {
            CHECK(MPI_Comm_free(&other) == MPI_SUCCESS);
        }
    };
    const auto talk = [&] {
        for (const Connection &connection : connections) {
            int size = 0;
            CHECK(exchanged(connection.comm(), 0) == 0);
            CHECK(MPI_Comm_remote_size(connection.comm(), &size) == MPI_SUCCESS && size == 1);
        }
    };
    const auto end = [&] {
        for (const Connection &connection : connections) {
            MPI_Comm comm = connection.comm();
            CHECK(MPI_Comm_disconnect(&comm) == MPI_SUCCESS);
            CHECK(comm == MPI_COMM_NULL);
        }
    };
    // It is the one that has the domain, since memory goes back to whoever made the connection.
    ToldThread helper;
    std::optional<Domain> domain;
    helper([&] {
        domain.emplace();
        talk();
        end();
    });
    make_others();
#ifdef MPICH // which has numbers for handles, and gives the one that was freed last
    CHECK(std::ranges::any_of(connections, [&](const Connection &connection) {
        return std::ranges::count(others, connection.comm()) == 1;
    }));
#endif
    helper([&] { domain->restore(); });
    look_at_others();
    helper(talk);
    look_at_others();
    free_others();
    make_others();
    helper(end);
    look_at_others();
    free_others();
    helper([&] { domain.reset(); });
}

} // namespace connections
