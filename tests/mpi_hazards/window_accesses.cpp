// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Reads and writes of others' windows that are under way when a CD is restored.
#include "complaints.h"
#include "window.h"

#include <sys/mman.h>

#include <cstring>

namespace window_accesses {

// Gets and puts have begun, and their epoch has not ended: MPI may use the memory at any time, but
// the re-execution has other buffers, and what was there before in the old ones.
HAZARD(accesses_under_way_at_the_restore) {
    Numbers memory = numbers(world_rank(), 2 * large);
    MPI_Win window = window_over(memory);
    MPI_Win_fence(0, window);
    if (world_rank() == 1) {
        MPI_Win_fence(0, window);
        CHECK(part(memory, 0, large) == numbers(7, large));
        MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
        MPI_Win_free(&window);
        return;
    }
    Numbers sent = numbers(6, large);
    Numbers got = numbers(8, large);
    Numbers got_again = numbers(9, large);
    {
        Domain domain;
        domain.keep(sent);
        domain.keep(got);
        const auto begin = [&](Numbers &into) {
            set(sent, numbers(7, large));
            put(sent, 1, 0, window);
            get(into, 1, large, window);
        };
        begin(got);
        destroy(sent);
        destroy(got);
        domain.restore();
        begin(got_again);
        CHECK(got == numbers(8, large));
        domain.restore();
        begin(got_again);
        MPI_Win_fence(0, window);
        CHECK(got_again == part(numbers(1, 2 * large), large, large));
        CHECK(got == numbers(8, large));
        MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
        destroy(got_again);
        domain.restore();
        begin(got_again);
        MPI_Win_fence(0, window);
        CHECK(got_again == part(numbers(1, 2 * large), large, large));
        MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
    }
    MPI_Win_free(&window);
}

// A get from before the CD would write into memory that the restore writes, too.
HAZARD(restore_is_refused_while_an_older_get_is_under_way) {
    Numbers memory = numbers(world_rank(), eager);
    MPI_Win window = window_over(memory);
    MPI_Win_fence(0, window);
    Numbers got(eager);
    if (world_rank() == 0) {
        get(got, 1, 0, window);
        Domain domain;
        domain.keep(got);
        MPI_Barrier(MPI_COMM_SELF);
        CHECK(restore_cd(domain.handle()) == FAILURE);
        CHECK(cd_last_error() == CD_ERROR_LOG_PENDING);
        CHECK(std::strstr(cd_last_error_message(), "target rank 1 ") != nullptr);
        MPI_Win_fence(0, window);
        CHECK(got == numbers(1, eager));
        destroy(got);
        domain.restore();
        MPI_Barrier(MPI_COMM_SELF);
        MPI_Win_fence(0, window);
        CHECK(got == numbers(1, eager));
    } else {
        MPI_Win_fence(0, window);
    }
    MPI_Win_free(&window);
}

// A read that the child's log does not begin has ended before the child is restored.
HAZARD(flush_ends_a_read_of_the_parent) {
    Numbers memory = numbers(world_rank(), eager);
    MPI_Win window = window_over(memory);
    MPI_Win_lock_all(0, window);
    if (world_rank() == 0) {
        const int count = static_cast<int>(eager);
        Numbers read(eager);
        MPI_Request request = MPI_REQUEST_NULL;
        Domain parent;
        MPI_Rget(read.data(), count, MPI_INT, 1, 0, count, MPI_INT, window, &request);
        {
            Domain child(parent.handle());
            for (int i = 0; i < 3; ++i) {
                MPI_Win_flush(1, window);
                CHECK(read == numbers(1, eager));
                destroy(read);
                if (i < 2) {
                    child.restore();
                }
            }
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
}

// Rank 1 has attached memory, and does not log.
HAZARD(memory_attached_elsewhere_is_read_and_written) {
    MPI_Win window = MPI_WIN_NULL;
    MPI_Aint place = 0;
    if (world_rank() == 1) {
        Numbers memory = numbers(5, eager);
        MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
        MPI_Win_attach(window, memory.data(), static_cast<MPI_Aint>(memory.size() * sizeof(int)));
        MPI_Get_address(memory.data(), &place);
        MPI_Send(&place, 1, MPI_AINT, 0, 1, MPI_COMM_WORLD);
        await(0);
        MPI_Win_detach(window, memory.data());
        MPI_Win_free(&window);
        CHECK(memory == numbers(6, eager));
        return;
    }
    Numbers seen = numbers(9, eager);
    {
        Domain domain;
        domain.keep(seen);
        const auto change = [&] {
            MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
            MPI_Recv(&place, 1, MPI_AINT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window);
            MPI_Get(seen.data(), eager, MPI_INT, 1, place, eager, MPI_INT, window);
            MPI_Win_unlock(1, window);
            CHECK(seen == numbers(5, eager));
            const Numbers changed = numbers(6, eager);
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window);
            MPI_Put(changed.data(), eager, MPI_INT, 1, place, eager, MPI_INT, window);
            MPI_Win_unlock(1, window);
        };
        change();
        for (int i = 0; i < 2; ++i) {
            destroy(seen);
            domain.restore();
            CHECK(seen == numbers(9, eager));
            change();
        }
    }
    signal(1);
    MPI_Win_free(&window);
}

HAZARD(a_window_is_freed_whose_memory_is_gone) {
    constexpr size_t bytes = 1 << 16;
    void *const memory =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MPI_Win window = MPI_WIN_NULL;
    MPI_Win_create(memory, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    MPI_Win_fence(0, window);
    ::munmap(memory, bytes);
    MPI_Win_free(&window);
}

namespace {

int type_copies = 0;

int count_copy(MPI_Datatype, int, void *, void *, void *, int *flag) {
    ++type_copies;
    *flag = 0;
    return MPI_SUCCESS;
}

// Two numbers, with an attribute.
MPI_Datatype pair_with_attribute() {
    int key = MPI_KEYVAL_INVALID;
    MPI_Type_create_keyval(count_copy, MPI_TYPE_NULL_DELETE_FN, &key, nullptr);
    MPI_Datatype pair = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Type_set_attr(pair, key, nullptr);
    MPI_Type_free_keyval(&key);
    return pair;
}

} // namespace

// What is kept of such a type is no copy that the program would hear of.
HAZARD(a_type_that_is_freed_in_use_calls_no_function_of_the_program) {
    Numbers memory = numbers(world_rank(), eager);
    MPI_Win window = window_over(memory);
    MPI_Win_fence(0, window);
    int got[2] = {};
    MPI_Datatype pair = pair_with_attribute();
    MPI_Get(got, 1, pair, world_rank(), 0, 1, pair, window);
    MPI_Type_free(&pair);
    MPI_Win_fence(0, window);
    CHECK(std::memcmp(got, memory.data(), sizeof(got)) == 0);
    MPI_Win_free(&window);
    CHECK(type_copies == 0);
}

namespace {

// The first two of every four numbers.
MPI_Datatype pairs(size_t count) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_vector(static_cast<int>(count), 2, 4, MPI_INT, &type);
    MPI_Type_commit(&type);
    return type;
}

Numbers with_pairs(Numbers memory, const Numbers &data) {
    for (size_t i = 0; i < data.size(); ++i) {
        memory[i / 2 * 4 + i % 2] = data[i];
    }
    return memory;
}

} // namespace

HAZARD(reads_with_derived_types_are_refused) {
#if defined MPICH_NUMVERSION &&                                                                    \
    MPICH_NUMVERSION < 40100000 // which says of such reads that they are complete when their data
                                // are not there yet
    constexpr size_t pairs_read = eager / 2;
    Numbers memory = numbers(world_rank(), eager);
    MPI_Win window = window_over(memory);
    MPI_Win_lock_all(0, window);
    if (world_rank() == 0) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        Numbers got = numbers(9, 4 * pairs_read);
        MPI_Datatype type = pairs(pairs_read);
        MPI_Request request = MPI_REQUEST_NULL;
        const Domain domain;
        Complaints complaints;
        CHECK(MPI_Rget(got.data(), 1, type, 1, 0, eager, MPI_INT, window, &request) ==
              MPI_ERR_UNSUPPORTED_OPERATION);
        CHECK(complaints.name("Use basic types, or a newer MPICH"));
        MPI_Type_free(&type);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    }
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
#endif
}

// A synchronization does not bring once more what the program has got already.
HAZARD(what_is_stored_into_a_read_that_is_complete_stays) {
    Numbers memory = numbers(world_rank(), eager);
    MPI_Win window = window_over(memory);
    MPI_Win_lock_all(0, window);
    if (world_rank() == 0) {
        Numbers got(eager);
        Domain domain;
        domain.keep(got);
        const auto go = [&] {
            const int count = static_cast<int>(eager);
            MPI_Request request = MPI_REQUEST_NULL;
            MPI_Rget(got.data(), count, MPI_INT, 1, 0, count, MPI_INT, window, &request);
            for (int complete = 0; complete == 0;) {
                MPI_Request_get_status(request, &complete, MPI_STATUS_IGNORE);
            }
            CHECK(got == numbers(1, eager));
            got[0] = 7;
            MPI_Win_flush(1, window);
            CHECK(got[0] == 7);
            got[1] = 8;
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            CHECK(got[0] == 7 && got[1] == 8);
        };
        go();
        for (int i = 0; i < 2; ++i) {
            destroy(got);
            domain.restore();
            go();
        }
    }
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
}

// And of writes, when it has not read all that they write.
HAZARD(many_pairs_are_written) {
    constexpr size_t count = 1 << 18;
    Numbers memory = numbers(world_rank(), 4 * count);
    const Numbers sent = numbers(5, 2 * count);
    MPI_Win window = window_over(memory);
    if (world_rank() == 0) {
        MPI_Win_lock_all(0, window);
        Domain domain;
        const auto write = [&] {
            MPI_Request request = MPI_REQUEST_NULL;
            MPI_Datatype type = pairs(count);
            MPI_Rput(sent.data(), 2 * count, MPI_INT, 1, 0, 1, type, window, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            const Numbers other(2 * count, -1); // perhaps where a copy was
        };
        write();
        domain.restore();
        write();
        MPI_Win_flush(1, window);
        MPI_Win_unlock_all(window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank() == 1) {
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window);
        CHECK(memory == with_pairs(numbers(1, 4 * count), sent));
        MPI_Win_unlock(1, window);
    }
    MPI_Win_free(&window);
}

} // namespace window_accesses
