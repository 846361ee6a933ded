// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Communicators that MPI frees when the program does, although a replay uses them.
#include "hazard.h"
#include "helper.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>

namespace mortal_communicators {

namespace {

// From now on, all that a program makes while it logs.
void make_communicators_mortal() { setenv("CD_COMMS_KEPT", "0", 1); }

// A thread without a CD frees the one that has got the handle, and makes another one of it.
void free_another_one_with_the_handle() {
    MPI_Comm other = MPI_COMM_NULL;
    const auto elsewhere = [](const auto &work) { std::thread(work).join(); };
    const auto make_other = [&] {
        MPI_Comm_dup(MPI_COMM_SELF, &other);
        MPI_Comm_set_name(other, "another's");
    };
    MPI_Comm own = MPI_COMM_NULL;
    const auto make = [&] {
        MPI_Comm_dup(MPI_COMM_SELF, &own);
        MPI_Comm_set_name(own, "the domain's");
    };
    Domain domain(nullptr, "beside another thread");
    make();
    MPI_Comm_free(&own);
    elsewhere(make_other);
    domain.restore();
    make();
    elsewhere([&] { MPI_Comm_free(&other); });
    MPI_Comm_free(&own);
    elsewhere(make_other);
    domain.restore();
    make();
    elsewhere([&] {
        char name[MPI_MAX_OBJECT_NAME] = {};
        int length = 0;
        MPI_Comm_get_name(other, name, &length);
        CHECK(std::string(name) == "another's");
    });
    MPI_Comm_free(&own);
    elsewhere([&] { MPI_Comm_free(&other); });
}

void free_one_of_an_earlier_domain() {
    MPI_Comm comm = MPI_COMM_NULL;
    {
        const Domain earlier(nullptr, "earlier");
        MPI_Comm_dup(MPI_COMM_SELF, &comm);
    }
    const MPI_Comm before = comm;
    Domain domain(nullptr, "later");
    const auto end = [&] {
        int result = MPI_UNDEFINED;
        CHECK(MPI_Comm_compare(comm, MPI_COMM_SELF, &result) == MPI_SUCCESS);
        CHECK(result == MPI_CONGRUENT);
        MPI_Comm_free(&comm);
    };
    end();
    comm = before;
    domain.restore();
    end();
}

} // namespace

// MPI gives its handle to a later one, of which other things are true.
HAZARD_IN_THREADS(mortal_communicator_freed_while_nothing_logs) {
    make_communicators_mortal();
    // Several, since the memory of one may go to something else.
    std::vector<MPI_Comm> alone(16);
    {
        const Domain domain;
        for (MPI_Comm &each : alone) {
            MPI_Comm_split(MPI_COMM_WORLD, world_rank(), 0, &each);
        }
    }
    const std::vector<MPI_Comm> before = alone;
    for (MPI_Comm &each : alone) {
        MPI_Comm_free(&each);
    }
    Numbers ranks(2);
    Domain domain;
    domain.keep(ranks);
    const auto use_later_ones = [&] {
        bool has_been_given = false;
        for (int i = 0; i < 16; ++i) {
            destroy(ranks);
            MPI_Comm all = MPI_COMM_NULL;
            MPI_Comm_dup(MPI_COMM_WORLD, &all);
            const int rank = world_rank();
            MPI_Allgather(&rank, 1, MPI_INT, ranks.data(), 1, MPI_INT, all);
            CHECK(ranks == (Numbers{0, 1}));
            has_been_given = has_been_given || std::ranges::count(before, all) != 0;
        }
        return has_been_given;
    };
    CHECK(use_later_ones());
    if (world_rank() == 0) {
        domain.restore();
        use_later_ones();
    }
    free_another_one_with_the_handle();
    free_one_of_an_earlier_domain();
}

namespace {

int errors_handled = 0;
void count_errors(MPI_Comm *, int *, ...) { ++errors_handled; }

} // namespace

// A replay does what its error handler does, though MPI knows it no more.
HAZARD(error_handler_of_a_mortal_communicator) {
    make_communicators_mortal();
    Numbers buffer(1);
    Domain domain;
    domain.keep(buffer);
    const auto fail = [&](MPI_Comm *comm) {
        MPI_Comm_dup(MPI_COMM_WORLD, comm);
        if (world_rank() == 1) {
            MPI_Send(numbers(1, 2).data(), 2, MPI_INT, 0, 1, *comm);
            MPI_Comm_free(comm);
            return;
        }
        MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
        MPI_Comm_create_errhandler(count_errors, &handler);
        MPI_Comm_set_errhandler(*comm, handler);
        errors_handled = 0;
        CHECK(MPI_Recv(buffer.data(), 1, MPI_INT, 1, 1, *comm, MPI_STATUS_IGNORE) != MPI_SUCCESS);
        CHECK(errors_handled == 1);
        CHECK(MPI_Comm_call_errhandler(*comm, MPI_ERR_OTHER) == MPI_SUCCESS);
        CHECK(errors_handled == 2);
        MPI_Comm_set_errhandler(*comm, MPI_ERRORS_RETURN);
        MPI_Comm_call_errhandler(*comm, MPI_ERR_OTHER);
        CHECK(errors_handled == 2);
        MPI_Errhandler_free(&handler);
        MPI_Comm_free(comm);
    };
    MPI_Comm comm = MPI_COMM_NULL;
    fail(&comm);
    if (world_rank() == 0) {
        for (int i = 0; i < 2; ++i) {
            domain.restore();
            fail(&comm);
        }
    }
}

namespace {

// A domain inside another one, in a thread of its own.
class Sibling {
public:
    Sibling(cd_handle parent, const char *name) : parent_(parent), name_(name) {}

    void begin() {
        thread_([this] { domain_.emplace(parent_); });
    }
    void restore() {
        thread_([this] { domain_->restore(); });
    }
    void end() {
        thread_([this] { domain_.reset(); });
    }
    void make() {
        thread_([this] {
            for (MPI_Comm &each : comms) {
                MPI_Comm_dup(MPI_COMM_SELF, &each);
                MPI_Comm_set_name(each, name_);
            }
        });
    }
    void free() {
        thread_([this] {
            for (MPI_Comm &each : comms) {
                CHECK(MPI_Comm_free(&each) == MPI_SUCCESS);
            }
        });
    }
    // What the program and MPI know of them.
    void look() {
        thread_([this] {
            for (const MPI_Comm each : comms) {
                char name[MPI_MAX_OBJECT_NAME] = {};
                int length = 0;
                CHECK(MPI_Comm_get_name(each, name, &length) == MPI_SUCCESS);
                CHECK(std::string(name) == name_);
            }
        });
    }

    std::vector<MPI_Comm> comms = std::vector<MPI_Comm>(8);

private:
    cd_handle parent_;
    const char *name_;
    std::optional<Domain> domain_;
    Helper thread_; // the last: it uses the others
};

} // namespace

// Each thread means its own by a handle that both have had, whoever is restored.
namespace {

bool refuses = false;
int errors_of_its_own = 0;

int refuse_if_told(MPI_Comm, int, void *, void *) { return refuses ? MPI_ERR_OTHER : MPI_SUCCESS; }
void count_error(MPI_Comm *, int *, ...) { ++errors_of_its_own; }

} // namespace

// MPI has freed it since: whose error handler is called in the re-execution is known all the same.
HAZARD(mortal_communicator_that_mpi_refused_to_free_first) {
    make_communicators_mortal();
    int key = MPI_KEYVAL_INVALID;
    MPI_Errhandler counts = MPI_ERRHANDLER_NULL;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, refuse_if_told, &key, nullptr);
    MPI_Comm_create_errhandler(count_error, &counts);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); // MPICH tells it, the first time
    Domain domain;
    int refusal = MPI_SUCCESS;
    const auto be_refused_and_free = [&] {
        MPI_Comm comm = MPI_COMM_NULL;
        MPI_Comm_dup(MPI_COMM_SELF, &comm);
        MPI_Comm_set_errhandler(comm, counts);
        MPI_Comm_set_attr(comm, key, nullptr);
        refuses = true;
        refusal = MPI_Comm_free(&comm);
        refuses = false;
        CHECK(comm != MPI_COMM_NULL);
        int size = 0;
        CHECK(MPI_Comm_size(comm, &size) == MPI_SUCCESS && size == 1);
        CHECK(MPI_Comm_free(&comm) == MPI_SUCCESS);
        CHECK(comm == MPI_COMM_NULL);
    };
    be_refused_and_free();
    const int first_refusal = refusal;
    CHECK(first_refusal != MPI_SUCCESS);
    for (int i = 0; i < 2; ++i) {
        domain.restore();
        errors_of_its_own = 0;
        be_refused_and_free();
        CHECK(refusal == first_refusal);
        CHECK(errors_of_its_own == 1);
    }
    domain.advance();
    MPI_Errhandler_free(&counts);
    MPI_Comm_free_keyval(&key);
}

HAZARD_IN_THREADS(mortal_communicators_of_siblings) {
    if (world_rank() == 1) {
        return;
    }
    make_communicators_mortal();
    Domain parent;
    Sibling first(parent.handle(), "first");
    Sibling second(parent.handle(), "second");
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
#ifdef MPICH // has numbers for handles, and gives the one that was freed last
    CHECK(std::ranges::count(second.comms, first.comms.back()) == 1);
#endif
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
    first.end();
    second.end();
    CHECK(restore_cd(parent.handle()) == SUCCESS); // whose own log is empty
    first.begin();
    second.begin();
    repeat();
    second.make(); // live, and the first one's are put back
    work(first);
    work(first);
    second.look();
    second.free();
    first.end();
    second.end();
}

} // namespace mortal_communicators
