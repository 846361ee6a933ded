// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Communicators that MPI frees when the program does, although a replay uses them.
#include "hazard.h"
#include "mortal.h"

#include <algorithm>
#include <chrono>
#include <malloc.h>
#include <string>
#include <thread>

namespace mortal_communicators {

namespace {

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

// The time is in proportion to what is taken back, however often MPI has given one handle.
HAZARD(restore_of_many_mortal_communicators) {
    make_communicators_mortal();
    const auto use = [] {
        for (int i = 0; i < 16000; ++i) {
            MPI_Comm comm = MPI_COMM_NULL;
            MPI_Comm_dup(MPI_COMM_SELF, &comm);
            MPI_Comm_free(&comm);
        }
    };
    using Clock = std::chrono::steady_clock; // a replay gives MPI_Wtime as it was
    Clock::duration using_them = {};
    Clock::duration restoring = {};
    for (int i = 0; i < 3; ++i) {
        Domain domain;
        const auto begin = Clock::now();
        use();
        const auto used = Clock::now();
        domain.restore();
        using_them += used - begin;
        restoring += Clock::now() - used;
        use();
    }
    CHECK(restoring < 4 * using_them); // about a fifth
}

// A re-execution frees what the first execution has freed, and what is to be done when the log is
// forgotten is known already.
HAZARD(replayed_frees_take_no_memory) {
    if (world_rank() == 1) {
        return;
    }
    make_communicators_mortal();
    Domain domain;
    const auto use = [] {
        for (int i = 0; i < 500; ++i) {
            MPI_Comm comm = MPI_COMM_NULL;
            MPI_Comm_dup(MPI_COMM_SELF, &comm);
            MPI_Comm_free(&comm);
            MPI_File file = MPI_FILE_NULL;
            MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_RDWR, MPI_INFO_NULL, &file);
            MPI_File_close(&file);
        }
    };
    const auto replay = [&](int times) {
        for (int i = 0; i < times; ++i) {
            domain.restore();
            use();
        }
    };
    use();
    replay(2);
    const auto memory = [] {
        const struct mallinfo2 now = mallinfo2();
        return now.uordblks + now.hblkhd;
    };
    const size_t before = memory();
    replay(100); // of 1000 frees each
    CHECK(memory() < before + 100000);
}

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

namespace {

int early_errors = 0;
int late_errors = 0;
template <typename Object> void count_early(Object *, int *, ...) { ++early_errors; }
template <typename Object> void count_late(Object *, int *, ...) { ++late_errors; }

// What a child frees has the handler that the parent gives it until then; both are restored.
// raise: does an error of it; set: gives it the later handler.
template <typename Object, typename Raise, typename Set, typename Free>
void free_in_a_child_with_another_handler(Object object, const Raise &raise, const Set &set,
                                          const Free &free) {
    const Object kept = object;
    Domain parent;
    const auto change = [&] {
        early_errors = 0;
        late_errors = 0;
        raise(object);
        CHECK(early_errors == 1 && late_errors == 0);
        set(object);
        raise(object);
        CHECK(early_errors == 1 && late_errors == 1);
    };
    change();
    {
        Domain child(parent.handle());
        free(&object);
        object = kept;
        child.restore();
        parent.restore();
    }
    change();
    {
        const Domain child(parent.handle());
        free(&object);
    }
}

} // namespace

HAZARD(error_handler_of_what_a_restored_child_has_freed) {
    make_communicators_mortal();
    MPI_Comm comm = MPI_COMM_NULL;
    {
        const Domain earlier;
        MPI_Comm_dup(MPI_COMM_SELF, &comm);
    }
    MPI_Errhandler early = MPI_ERRHANDLER_NULL;
    MPI_Errhandler late = MPI_ERRHANDLER_NULL;
    MPI_Comm_create_errhandler(count_early<MPI_Comm>, &early);
    MPI_Comm_create_errhandler(count_late<MPI_Comm>, &late);
    MPI_Comm_set_errhandler(comm, early);
    free_in_a_child_with_another_handler(
        comm, [](MPI_Comm of) { MPI_Comm_call_errhandler(of, MPI_ERR_OTHER); },
        [&](MPI_Comm of) { MPI_Comm_set_errhandler(of, late); }, MPI_Comm_free);
    MPI_Errhandler_free(&early);
    MPI_Errhandler_free(&late);

    MPI_File file = MPI_FILE_NULL;
    MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_create_errhandler(count_early<MPI_File>, &early);
    MPI_File_create_errhandler(count_late<MPI_File>, &late);
    MPI_File_set_errhandler(file, early);
    free_in_a_child_with_another_handler(
        file, [](MPI_File of) { MPI_File_call_errhandler(of, MPI_ERR_OTHER); },
        [&](MPI_File of) { MPI_File_set_errhandler(of, late); }, MPI_File_close);
    MPI_Errhandler_free(&early);
    MPI_Errhandler_free(&late);
}

} // namespace mortal_communicators
