// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Communicators that MPI frees when the program does, although a replay uses them.
#include "hazard.h"
#include "told_thread.h"
#include "unwilling_mpi.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <malloc.h>
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
    const size_t before = mallinfo2().uordblks;
    replay(100); // of 1000 frees each
    CHECK(mallinfo2().uordblks < before + 100000);
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
        make([](MPI_Comm *made) { MPI_Comm_dup(MPI_COMM_SELF, made); });
    }
    template <typename Make> void make(const Make &one) {
        thread_([this, &one] {
            for (MPI_Comm &each : comms) {
                one(&each);
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

    template <typename Work> void run(const Work &work) { thread_(work); }

    // It has them from another one.
    void take(Sibling &other) {
        comms = other.comms;
        name_ = other.name_;
    }
    void rename(const char *name) {
        name_ = name;
        thread_([this] {
            for (const MPI_Comm each : comms) {
                CHECK(MPI_Comm_set_name(each, name_) == MPI_SUCCESS);
            }
        });
    }

    std::vector<MPI_Comm> comms = std::vector<MPI_Comm>(8);

private:
    cd_handle parent_;
    const char *name_;
    std::optional<Domain> domain_;
    ToldThread thread_; // the last: it uses the others
};

} // namespace

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

// Each thread means its own by a handle that both have had, whoever is restored.
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

// What it was restored for and has not replayed is nobody's, or its parent's.
HAZARD_IN_THREADS(mortal_communicators_of_a_sibling_that_ends_in_its_replay) {
    if (world_rank() == 1) {
        return;
    }
    make_communicators_mortal();
    Domain parent;
    Sibling first(parent.handle(), "first");
    Sibling second(parent.handle(), "second");
    Sibling third(parent.handle(), "third");
    first.begin();
    second.begin();
    third.begin();
    first.make();
    first.free();
    first.restore();
    second.make();
    first.make();
    first.end();
#ifdef MPICH // has numbers for handles, and gives the one that was freed last
    CHECK(std::ranges::count(second.comms, first.comms.back()) == 1);
#endif
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
    Domain parent;
    Sibling first(parent.handle(), "first");
    Sibling second(parent.handle(), "second");
    first.begin();
    second.begin();
    {
        const ManyWait many_wait;
        first.make();
        first.look();
        first.free();
    }
    second.make();
    second.look();
    first.end();
    second.end();
    CHECK(restore_cd(parent.handle()) == SUCCESS);
    first.begin();
    second.begin();
    first.make();
    second.make();
#ifdef MPICH
    CHECK(std::ranges::count(second.comms, first.comms.back()) == 1);
#endif
    second.look();
    first.look();
    first.free();
    second.look();
    second.free();
    first.end();
    second.end();
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
    Domain parent;
    MPI_Wtime(); // a log of its own
    Sibling first(parent.handle(), "first");
    Sibling second(parent.handle(), "second");
    first.begin();
    second.begin();
    first.make();
    first.look();
    first.free();
    first.end();
    second.end();
    parent.restore();
    MPI_Wtime();
    first.begin();
    second.begin();
    first.make();
    second.run([] {
        MPI_File file = MPI_FILE_NULL;
        CHECK(MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_RDWR, MPI_INFO_NULL, &file) ==
              MPI_SUCCESS);
        CHECK(MPI_File_close(&file) == MPI_SUCCESS);
    });
    first.look();
    first.free();
    first.end();
    second.end();
}

namespace {

// make: what never makes a mortal one, and is given the handles of mortal ones.
template <typename Make> void make_with_handles_of_mortal_ones(const Make &make) {
    make_communicators_mortal();
    Domain parent;
    Sibling first(parent.handle(), "first");
    Sibling second(parent.handle(), "second");
    first.begin();
    second.begin();
    first.make();
    first.free();
    first.end();
    second.end();
    CHECK(restore_cd(parent.handle()) == SUCCESS); // whose own log is empty
    first.begin();
    second.begin();
    first.make();
    second.make(make);
#ifdef MPICH // has numbers for handles, and gives the one that was freed last
    CHECK(std::ranges::count(second.comms, first.comms.back()) == 1);
#endif
    second.look();
    first.look();
    const std::vector<MPI_Comm> live = second.comms;
    second.restore();
    second.make(make);
    CHECK(second.comms == live);
    second.look();
    first.look();
    first.free();
    second.look();
    second.free();
    first.end();
    second.end();
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
    Domain parent;
    Sibling first(parent.handle(), "first");
    Sibling second(parent.handle(), "second");
    first.begin();
    second.begin();
    {
        const ManyWait many_wait;
        first.make();
        first.free();
    }
    first.end();
    second.end();
    CHECK(restore_cd(parent.handle()) == SUCCESS); // whose own log is empty
    first.begin();
    second.begin();
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
    first.end();
    second.end();
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
