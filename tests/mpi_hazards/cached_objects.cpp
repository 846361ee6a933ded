// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Libraries keep objects of their own in attributes, whose delete functions free them: a restore
// calls these, and so does the re-execution.
#include "types.h"

namespace cached_objects {

namespace {

int gone = 0; // communicators that MPI has freed

int note_gone(MPI_Comm, int, void *, void *) {
    ++gone;
    return MPI_SUCCESS;
}

// Copies of it tell when they go.
MPI_Comm marked_comm = MPI_COMM_NULL;

class Marked {
public:
    Marked() {
        MPI_Comm_dup(MPI_COMM_WORLD, &marked_comm);
        MPI_Comm_create_keyval(MPI_COMM_DUP_FN, note_gone, &key_, nullptr);
        MPI_Comm_set_attr(marked_comm, key_, nullptr);
        gone = 0;
    }
    Marked(const Marked &) = delete;
    Marked &operator=(const Marked &) = delete;
    ~Marked() {
        MPI_Comm_free(&marked_comm);
        MPI_Comm_free_keyval(&key_);
    }

private:
    int key_ = MPI_KEYVAL_INVALID;
};

struct Cached {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Datatype type = column_type();
    MPI_Group group = MPI_GROUP_NULL;
    int *memory = nullptr;

    Cached() {
        MPI_Comm_dup(marked_comm, &comm);
        MPI_Comm_group(comm, &group);
        MPI_Alloc_mem(sizeof *memory, MPI_INFO_NULL, &memory);
    }
};

int frees = 0;

template <typename Object> int free_cached(Object, int, void *value, void *) {
    ++frees;
    auto *const cached = static_cast<Cached *>(value);
    CHECK(MPI_Comm_free(&cached->comm) == MPI_SUCCESS);
    CHECK(MPI_Type_free(&cached->type) == MPI_SUCCESS);
    CHECK(MPI_Group_free(&cached->group) == MPI_SUCCESS);
    CHECK(MPI_Free_mem(cached->memory) == MPI_SUCCESS);
    CHECK(cached->comm == MPI_COMM_NULL && cached->type == MPI_DATATYPE_NULL &&
          cached->group == MPI_GROUP_NULL);
    delete cached;
    return MPI_SUCCESS;
}

void use(const Cached &cached) {
    *cached.memory = 1 + world_rank();
    int sum = 0;
    MPI_Allreduce(cached.memory, &sum, 1, MPI_INT, MPI_SUM, cached.comm);
    CHECK(sum == 3);
    int size = 0;
    MPI_Type_size(cached.type, &size);
    CHECK(size == rows * static_cast<int>(sizeof(int)));
    MPI_Group_size(cached.group, &size);
    CHECK(size == 2);
}

// What might get the handles and the memory of what is free.
void make_others() {
    make_other_types();
    MPI_Comm others[4];
    for (MPI_Comm &other : others) {
        MPI_Comm_dup(MPI_COMM_SELF, &other);
    }
}

struct OnComm {
    using Object = MPI_Comm;
    Object object = MPI_COMM_NULL;
    int key = MPI_KEYVAL_INVALID;

    OnComm() {
        MPI_Comm_dup(MPI_COMM_SELF, &object);
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_cached<Object>, &key, nullptr);
    }
    void set(void *value) const { MPI_Comm_set_attr(object, key, value); }
    void remove() const { MPI_Comm_delete_attr(object, key); }
};

struct OnType {
    using Object = MPI_Datatype;
    Object object = column_type();
    int key = MPI_KEYVAL_INVALID;

    OnType() { MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, free_cached<Object>, &key, nullptr); }
    void set(void *value) const { MPI_Type_set_attr(object, key, value); }
    void remove() const { MPI_Type_delete_attr(object, key); }
};

struct OnWindow {
    using Object = MPI_Win;
    Numbers memory = numbers(1, eager);
    Object object = MPI_WIN_NULL;
    int key = MPI_KEYVAL_INVALID;

    OnWindow(const OnWindow &) = delete;
    OnWindow &operator=(const OnWindow &) = delete;
    OnWindow() {
        make();
        MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, free_cached<Object>, &key, nullptr);
    }
    void make() {
        MPI_Win_create(memory.data(), eager * sizeof(int), sizeof(int), MPI_INFO_NULL,
                       MPI_COMM_WORLD, &object);
    }
    ~OnWindow() { MPI_Win_free(&object); }
    void set(void *value) const { MPI_Win_set_attr(object, key, value); }
    void remove() const { MPI_Win_delete_attr(object, key); }
};

// The restore takes the attribute away. What is made after the replay must not get the handles.
template <typename Holder> void restore_deletes() {
    const Marked marked;
    const Holder holder;
    frees = 0;
    Domain domain;
    Cached *cached = nullptr;
    const auto execute = [&] {
        cached = new Cached;
        holder.set(cached);
        use(*cached);
    };
    execute();
    for (int i = 1; i <= 2; ++i) {
        domain.restore();
        CHECK(frees == i);
        execute();
    }
    make_others();
    use(*cached);
    holder.remove();
    CHECK(frees == 3 && gone == 0);
    domain.advance();
    CHECK(gone == 1);
}

// The program does, of one by replacing it.
template <typename Holder> void program_deletes() {
    const Marked marked;
    const Holder holder;
    frees = 0;
    Domain domain;
    const auto execute = [&] {
        auto *const first = new Cached;
        holder.set(first);
        use(*first);
        auto *const second = new Cached;
        holder.set(second);
        use(*second);
        holder.remove();
    };
    execute();
    for (int i = 1; i <= 2; ++i) {
        domain.restore();
        CHECK(frees == 2 * i);
        execute();
    }
    CHECK(gone == 0);
    make_others();
    execute();
    CHECK(gone == 0);
    domain.advance();
    CHECK(gone == 4);
}

} // namespace

HAZARD(restore_deletes_the_attribute_of_a_communicator) { restore_deletes<OnComm>(); }
HAZARD(restore_deletes_the_attribute_of_a_type) { restore_deletes<OnType>(); }
HAZARD(restore_deletes_the_attribute_of_a_window) { restore_deletes<OnWindow>(); }
HAZARD(program_deletes_the_attribute_of_a_communicator) { program_deletes<OnComm>(); }
HAZARD(program_deletes_the_attribute_of_a_type) { program_deletes<OnType>(); }
HAZARD(program_deletes_the_attribute_of_a_window) { program_deletes<OnWindow>(); }

HAZARD(objects_go_with_the_window_that_has_them) {
    const Marked marked;
    Domain domain;
    const auto execute = [&] {
        const OnWindow holder;
        auto *const cached = new Cached;
        holder.set(cached);
        use(*cached);
    };
    for (int i = 0; i < 2; ++i) {
        execute();
        domain.restore();
    }
    execute();
    make_others();
    execute();
    CHECK(gone == 0);
    domain.advance();
    CHECK(gone == 2);
}

namespace {

int key_of_inner = MPI_KEYVAL_INVALID;
MPI_Comm has_inner = MPI_COMM_NULL;

int delete_another(MPI_Comm, int, void *, void *) {
    return MPI_Comm_delete_attr(has_inner, key_of_inner);
}

bool has(MPI_Comm comm, int key) {
    void *ignored = nullptr;
    int is_there = 0;
    MPI_Comm_get_attr(comm, key, &ignored, &is_there);
    return is_there != 0;
}

// Two communicators that know of each other, as PETSc has them.
class Linked {
public:
    explicit Linked(bool inner_first) : inner_first_(inner_first) {
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_another, &key_, nullptr);
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key_of_inner,
                               nullptr);
        MPI_Comm_dup(MPI_COMM_SELF, &has_inner);
        MPI_Comm_dup(MPI_COMM_SELF, &outer_);
    }
    void set_inner() const { MPI_Comm_set_attr(has_inner, key_of_inner, nullptr); }
    void set_outer() const { MPI_Comm_set_attr(outer_, key_, nullptr); }
    void link() const {
        if (inner_first_) {
            set_inner();
            set_outer();
        } else {
            set_outer();
            set_inner();
        }
    }
    void unlink() const { MPI_Comm_delete_attr(outer_, key_); }
    bool both_are(bool there) const {
        return has(outer_, key_) == there && has(has_inner, key_of_inner) == there;
    }

private:
    bool inner_first_;
    int key_ = MPI_KEYVAL_INVALID;
    MPI_Comm outer_ = MPI_COMM_NULL;
};

} // namespace

HAZARD(delete_function_deletes_another_attribute_in_a_restore) {
    for (const bool inner_first : {true, false}) {
        const Linked linked(inner_first);
        Domain domain;
        linked.link();
        for (int i = 0; i < 2; ++i) {
            domain.restore();
            CHECK(linked.both_are(false));
            linked.link();
            CHECK(linked.both_are(true));
        }
        linked.unlink();
        CHECK(linked.both_are(false));
    }
}

HAZARD(restore_leaves_older_attributes_to_no_delete_function) {
    const Linked linked(true);
    linked.set_inner();
    Domain domain;
    linked.set_outer();
    domain.restore();
    CHECK(has(has_inner, key_of_inner));
    linked.set_outer();
    linked.unlink();
}

HAZARD(restore_brings_back_what_a_delete_function_has_deleted) {
    const Linked linked(true);
    linked.link();
    Domain domain;
    for (int i = 0; i < 2; ++i) {
        linked.unlink();
        CHECK(linked.both_are(false));
        domain.restore();
        CHECK(linked.both_are(true));
    }
    linked.unlink();
}

} // namespace cached_objects
