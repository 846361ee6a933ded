// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// What a CD changes in objects that MPI has freed by the time of the restore: nothing is left there
// to be taken back, and MPI may have given their handles to others.
#include "cd/mpi_log.h"
#include "window.h"

#include <algorithm>
#include <thread>
#include <vector>

namespace gone_objects {

namespace {

int deleted = 0;

template <typename Object> int count_deleted(Object, int, void *, void *) {
    ++deleted;
    return MPI_SUCCESS;
}

// A key of each kind of object, and a value under it.
int of_comms = MPI_KEYVAL_INVALID;
int of_types = MPI_KEYVAL_INVALID;
int of_windows = MPI_KEYVAL_INVALID;
int value = 0;

struct Keys {
    Keys() {
        deleted = 0;
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, count_deleted<MPI_Comm>, &of_comms, nullptr);
        MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, count_deleted<MPI_Datatype>, &of_types,
                               nullptr);
        MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, count_deleted<MPI_Win>, &of_windows, nullptr);
    }
    Keys(const Keys &) = delete;
    Keys &operator=(const Keys &) = delete;
    ~Keys() {
        MPI_Comm_free_keyval(&of_comms);
        MPI_Type_free_keyval(&of_types);
        MPI_Win_free_keyval(&of_windows);
    }
};

template <typename Object, typename Get> void *attribute(const Get &get, Object object, int key) {
    void *found = nullptr;
    int present = 0;
    get(object, key, &found, &present);
    return present != 0 ? found : nullptr;
}

// Objects with an attribute each, that a thread without a CD makes: they get the handles that are
// free.
template <typename Object> class Later {
public:
    template <typename Make, typename Set> Later(const Make &make, const Set &set, int key) {
        std::thread([&] {
            for (Object &each : objects_) {
                each = make();
                set(each, key, &value);
            }
        }).join();
    }
    template <typename Get> bool are_as_they_were(const Get &get, int key) const {
        return std::ranges::all_of(
            objects_, [&](Object each) { return attribute(get, each, key) == &value; });
    }
    template <typename Free> void end(const Free &free) {
        for (Object &each : objects_) {
            free(&each);
        }
    }

private:
    std::vector<Object> objects_ = std::vector<Object>(6);
};

MPI_Datatype seven_numbers() {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(7, MPI_INT, &type);
    return type;
}

MPI_Comm own_comm() {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    return comm;
}

// Whose memory is MPI's own.
MPI_Win shared_window() {
    void *memory = nullptr;
    MPI_Win win = MPI_WIN_NULL;
    MPI_Win_allocate_shared(sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    return win;
}

} // namespace

HAZARD_IN_THREADS(attribute_of_a_type_that_was_made_anew) {
    const Keys keys;
    Numbers places[] = {Numbers(1), Numbers(1), Numbers(1)};
    const auto execute = [](Numbers &there) {
        const int one = 1;
        MPI_Aint address = 0;
        MPI_Get_address(there.data(), &address);
        MPI_Datatype type = MPI_DATATYPE_NULL;
        MPI_Type_create_hindexed(1, &one, &address, MPI_INT, &type);
        MPI_Type_set_attr(type, of_types, &value);
        MPI_Type_set_name(type, "an address");
        MPI_Type_free(&type);
    };
    Domain domain;
    execute(places[0]);
    domain.restore();
    execute(places[1]);
    Later<MPI_Datatype> later(seven_numbers, MPI_Type_set_attr, of_types);
    CHECK(deleted == 1);
    domain.restore();
    CHECK(deleted == 2);
    CHECK(later.are_as_they_were(MPI_Type_get_attr, of_types));
    execute(places[2]);
    CHECK(deleted == 2);
    domain.advance();
    CHECK(deleted == 3); // the types have gone
    later.end(MPI_Type_free);
}

// A thread without a CD goes on with the one that has got the handle.
HAZARD_IN_THREADS(handle_of_a_gone_window_is_another_ones) {
    Numbers old_memory(1);
    Numbers memory(1);
    const MPI_Win before = window_over(old_memory);
    const auto execute = [before] {
        MPI_Win win = before;
        MPI_Win_fence(0, win);
        MPI_Win_free(&win);
    };
    MPI_Win other = MPI_WIN_NULL;
    const auto use_other = [&](int seed) {
        std::thread([&, seed] {
            const Numbers written = numbers(seed, 1);
            MPI_Win_fence(0, other);
            put(written, 1 - world_rank(), 0, other);
            MPI_Win_fence(0, other);
        }).join();
        CHECK(memory == numbers(seed, 1));
    };
    Domain domain;
    execute();
    std::thread([&] { other = window_over(memory); }).join();
    use_other(1);
    domain.restore();
    use_other(2);
    execute();
    use_other(3);
    domain.restore();
    execute();
    std::thread([&] { MPI_Win_free(&other); }).join();
}

HAZARD_IN_THREADS(changes_of_a_connection_that_is_ended) {
    const Keys keys;
    MPI_Comm before = MPI_COMM_NULL;
    MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, 1 - world_rank(), 0, &before);
    const auto execute = [before] {
        MPI_Comm comm = before;
        int size = 0;
        MPI_Comm_set_attr(comm, of_comms, &value);
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        MPI_Comm_set_name(comm, "connection");
        MPI_Comm_remote_size(comm, &size);
        CHECK(size == 1);
        MPI_Comm_disconnect(&comm);
        CHECK(comm == MPI_COMM_NULL);
    };
    Domain domain;
    execute();
    Later<MPI_Comm> later(own_comm, MPI_Comm_set_attr, of_comms);
    for (int i = 0; i < 2; ++i) {
        domain.restore();
        std::thread([&] { CHECK(later.are_as_they_were(MPI_Comm_get_attr, of_comms)); }).join();
        execute();
    }
    domain.advance();
    later.end(MPI_Comm_free);
}

// At once, since no log of that thread has it.
HAZARD_IN_THREADS(changed_objects_that_a_thread_without_a_cd_frees) {
    const Keys keys;
    MPI_Comm comm = own_comm();
    MPI_Datatype type = seven_numbers();
    MPI_Win win = shared_window();
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    Domain domain;
    MPI_Comm_set_attr(comm, of_comms, &value);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_name(comm, "freed elsewhere");
    MPI_Type_set_attr(type, of_types, &value);
    MPI_Type_set_name(type, "freed elsewhere");
    MPI_Win_set_attr(win, of_windows, &value);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Info_set(info, "key", "value");
    std::thread([&] {
        MPI_Comm_free(&comm);
        MPI_Type_free(&type);
        MPI_Win_free(&win);
        MPI_Info_free(&info);
    }).join();
    Later<MPI_Comm> comms(own_comm, MPI_Comm_set_attr, of_comms);
    Later<MPI_Datatype> types(seven_numbers, MPI_Type_set_attr, of_types);
    domain.restore();
    CHECK(comms.are_as_they_were(MPI_Comm_get_attr, of_comms));
    CHECK(types.are_as_they_were(MPI_Type_get_attr, of_types));
    CHECK(delete_MPI_log_from_cd(domain.handle()) == SUCCESS);
    comms.end(MPI_Comm_free);
    types.end(MPI_Type_free);
}

// A restore takes one step back, however often the attribute has been set; or one for each CD
// inside each other.
HAZARD(oldest_change_is_taken_back) {
    const Keys keys;
    MPI_Comm comm = own_comm();
    int values[100] = {};
    MPI_Comm_set_attr(comm, of_comms, &values[0]);
    const auto set = [&](int first, int last) {
        for (int i = first; i <= last; ++i) {
            MPI_Comm_set_attr(comm, of_comms, &values[i]);
        }
        deleted = 0;
    };
    const auto is_at = [&](int i) {
        return attribute(MPI_Comm_get_attr, comm, of_comms) == &values[i];
    };
    Domain parent;
    set(1, 49);
    {
        Domain child(parent.handle());
        set(50, 99);
        child.restore();
        CHECK(deleted == 1 && is_at(49));
        set(50, 99);
    }
    for (int i = 60; i < 80; ++i) {
        const Domain child(parent.handle());
        set(i, i);
    }
    parent.restore();
    CHECK(deleted <= 2 && is_at(0));
    set(1, 10); // a replay that goes on later
    parent.restore();
    CHECK(deleted == 1 && is_at(0));
    CHECK(delete_MPI_log_from_cd(parent.handle()) == SUCCESS);
    set(20, 29);
    parent.restore();
    CHECK(deleted == 1 && is_at(0));
    CHECK(delete_MPI_log_from_cd(parent.handle()) == SUCCESS);
    MPI_Comm_free(&comm);
}

} // namespace gone_objects
