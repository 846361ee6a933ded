// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Files. Each scenario makes one and deletes it, so that the next finds nothing.

#include "harness/scenario.h"

#include "cd/mpi_log.h"

#include <cstring>

namespace files {

namespace {

using namespace cd::scenarios;

class File {
public:
    explicit File(Run &run) {
        CALL(MPI_File_open(MPI_COMM_WORLD, run.file.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR,
                           MPI_INFO_NULL, &handle));
    }
    void remove(Run &run) {
        CALL(MPI_File_close(&handle));
        run.out.value("null", handle == MPI_FILE_NULL);
        CALL(MPI_Barrier(MPI_COMM_WORLD));
        if (run.rank == 0) {
            CALL(MPI_File_delete(run.file.c_str(), MPI_INFO_NULL));
        }
        CALL(MPI_Barrier(MPI_COMM_WORLD));
    }
    // Ranks one after the other: everything is written before anything is read.
    void settle(Run &run) {
        CALL(MPI_File_sync(handle));
        CALL(MPI_Barrier(MPI_COMM_WORLD));
        CALL(MPI_File_sync(handle));
    }

    MPI_File handle = MPI_FILE_NULL;
};

constexpr MPI_Offset own_bytes = 4 * sizeof(int);

void show(Run &run, const char *label, const Buffer<int> &buffer, const Status &status) {
    run.out.buffer(label, buffer);
    int count = -1;
    CALL(MPI_Get_count(&status, MPI_INT, &count));
    run.out.value(label, count);
    run.out.choice(label, static_cast<MPI_Status>(status));
}

SCENARIO(at, MPI_File_open, MPI_File_close, MPI_File_delete, SIZED(MPI_File_write_at),
         SIZED(MPI_File_read_at), SIZED(MPI_File_write_at_all), SIZED(MPI_File_read_at_all),
         MPI_File_sync) {
    File file(run);
    const auto sent = sequence(4, 10 * run.rank);
    Status status;
    CALL(SIZED(MPI_File_write_at)(file.handle, run.rank * own_bytes, sent, 4, MPI_INT, &status));
    file.settle(run);
    Buffer<int> read(6);
    CALL(SIZED(MPI_File_read_at)(file.handle, run.next() * own_bytes, read, 4, MPI_INT, &status));
    show(run, "read", read, status);
    CALL(MPI_Barrier(MPI_COMM_WORLD));
    CALL(SIZED(MPI_File_write_at_all)(file.handle, run.next() * own_bytes, sent, 3, MPI_INT,
                                      MPI_STATUS_IGNORE));
    file.settle(run);
    Buffer<int> all(4);
    CALL(SIZED(MPI_File_read_at_all)(file.handle, run.rank * own_bytes, all, 4, MPI_INT, &status));
    show(run, "read together", all, status);
    // Beyond the end there is less.
    Buffer<int> end(8);
    CALL(
        SIZED(MPI_File_read_at)(file.handle, (run.size - 1) * own_bytes, end, 8, MPI_INT, &status));
    show(run, "end", end, status);
    file.remove(run);
}

SCENARIO(pointers, SIZED(MPI_File_write), SIZED(MPI_File_read), SIZED(MPI_File_write_all),
         SIZED(MPI_File_read_all), MPI_File_seek, MPI_File_get_position) {
    File file(run);
    const auto sent = sequence(4, 10 * run.rank);
    CALL(MPI_File_seek(file.handle, run.rank * own_bytes, MPI_SEEK_SET));
    CALL(SIZED(MPI_File_write)(file.handle, sent, 2, MPI_INT, MPI_STATUS_IGNORE));
    CALL(SIZED(MPI_File_write_all)(file.handle, sent, 2, MPI_INT, MPI_STATUS_IGNORE));
    MPI_Offset position = -1;
    CALL(MPI_File_get_position(file.handle, &position));
    run.out.value("position", position);
    file.settle(run);
    CALL(MPI_File_seek(file.handle, -own_bytes, MPI_SEEK_CUR));
    Buffer<int> read(4);
    Status status;
    CALL(SIZED(MPI_File_read)(file.handle, read, 2, MPI_INT, &status));
    show(run, "read", read, status);
    Status again;
    CALL(SIZED(MPI_File_read_all)(file.handle, read, 2, MPI_INT, &again));
    show(run, "read together", read, again);
    file.remove(run);
}

SCENARIO(shared_pointer, SIZED(MPI_File_write_shared), SIZED(MPI_File_read_shared),
         SIZED(MPI_File_write_ordered), SIZED(MPI_File_read_ordered), MPI_File_seek_shared,
         MPI_File_get_position_shared) {
    File file(run);
    const auto sent = sequence(2, 10 * run.rank);
    CALL(SIZED(MPI_File_write_ordered)(file.handle, sent, 2, MPI_INT, MPI_STATUS_IGNORE));
    CALL(SIZED(MPI_File_write_shared)(file.handle, sent, 1, MPI_INT, MPI_STATUS_IGNORE));
    file.settle(run);
    MPI_Offset position = -1;
    CALL(MPI_File_get_position_shared(file.handle, &position));
    run.out.value("position", position);
    CALL(MPI_Barrier(MPI_COMM_WORLD));
    CALL(MPI_File_seek_shared(file.handle, 0, MPI_SEEK_SET));
    Buffer<int> read(2);
    Status status;
    CALL(SIZED(MPI_File_read_ordered)(file.handle, read, 2, MPI_INT, &status));
    show(run, "read in order", read, status);
    Buffer<int> any(1);
    CALL(SIZED(MPI_File_read_shared)(file.handle, any, 1, MPI_INT, MPI_STATUS_IGNORE));
    run.out.choice("who comes first", any[0]);
    file.remove(run);
}

SCENARIO(started, SIZED(MPI_File_iwrite_at), SIZED(MPI_File_iread_at), SIZED(MPI_File_iwrite),
         SIZED(MPI_File_iread), SIZED(MPI_File_iwrite_shared), SIZED(MPI_File_iread_shared)) {
    File file(run);
    const auto sent = sequence(4, 10 * run.rank);
    MPI_Request request = MPI_REQUEST_NULL;
    CALL(SIZED(MPI_File_iwrite_at)(file.handle, run.rank * own_bytes, sent, 4, MPI_INT, &request));
    CALL(MPI_Wait(&request, MPI_STATUS_IGNORE));
    file.settle(run);
    Buffer<int> read(4);
    Status status;
    CALL(SIZED(MPI_File_iread_at)(file.handle, run.next() * own_bytes, read, 3, MPI_INT, &request));
    CALL(MPI_Wait(&request, &status));
    show(run, "read", read, status);
    CALL(MPI_Barrier(MPI_COMM_WORLD));
    CALL(MPI_File_seek(file.handle, run.rank * own_bytes, MPI_SEEK_SET));
    CALL(SIZED(MPI_File_iwrite)(file.handle, sent, 2, MPI_INT, &request));
    CALL(MPI_Wait(&request, MPI_STATUS_IGNORE));
    file.settle(run);
    Buffer<int> rest(2);
    CALL(SIZED(MPI_File_iread)(file.handle, rest, 2, MPI_INT, &request));
    Status read_on;
    CALL(MPI_Wait(&request, &read_on));
    show(run, "read on", rest, read_on);
    CALL(SIZED(MPI_File_iwrite_shared)(file.handle, sent, 1, MPI_INT, &request));
    CALL(MPI_Wait(&request, MPI_STATUS_IGNORE));
    file.settle(run);
    Buffer<int> any(1);
    CALL(SIZED(MPI_File_iread_shared)(file.handle, any, 1, MPI_INT, &request));
    CALL(MPI_Wait(&request, MPI_STATUS_IGNORE));
    run.out.choice("who comes first", any[0]);
    file.remove(run);
}

// A restore cannot wait for MPICH's collective file operations: nothing is noted while one is under
// way.
template <typename Start> int start_and_wait(Status &status, const Start &start) {
    MPI_Request request = MPI_REQUEST_NULL;
    const int result = start(&request);
    return result == MPI_SUCCESS ? MPI_Wait(&request, &status) : result;
}

SCENARIO(started_together, SIZED(MPI_File_iwrite_at_all), SIZED(MPI_File_iread_at_all),
         SIZED(MPI_File_iwrite_all), SIZED(MPI_File_iread_all)) {
    File file(run);
    const auto sent = sequence(4, 10 * run.rank);
    Status written;
    CALL(start_and_wait(written, [&](MPI_Request *request) {
        return SIZED(MPI_File_iwrite_at_all)(file.handle, run.rank * own_bytes, sent, 4, MPI_INT,
                                             request);
    }));
    file.settle(run);
    Buffer<int> read(4);
    Status status;
    CALL(start_and_wait(status, [&](MPI_Request *request) {
        return SIZED(MPI_File_iread_at_all)(file.handle, run.next() * own_bytes, read, 4, MPI_INT,
                                            request);
    }));
    show(run, "read", read, status);
    CALL(MPI_Barrier(MPI_COMM_WORLD));
    CALL(MPI_File_seek(file.handle, run.rank * own_bytes, MPI_SEEK_SET));
    CALL(start_and_wait(written, [&](MPI_Request *request) {
        return SIZED(MPI_File_iwrite_all)(file.handle, sent + 2, 2, MPI_INT, request);
    }));
    CALL(start_and_wait(status, [&](MPI_Request *request) {
        return SIZED(MPI_File_iread_all)(file.handle, read, 2, MPI_INT, request);
    }));
    show(run, "read on", read, status);
    file.remove(run);
}

SCENARIO(split, SIZED(MPI_File_write_at_all_begin), MPI_File_write_at_all_end,
         SIZED(MPI_File_read_at_all_begin), MPI_File_read_at_all_end,
         SIZED(MPI_File_write_all_begin), MPI_File_write_all_end, SIZED(MPI_File_read_all_begin),
         MPI_File_read_all_end, SIZED(MPI_File_write_ordered_begin), MPI_File_write_ordered_end,
         SIZED(MPI_File_read_ordered_begin), MPI_File_read_ordered_end) {
    File file(run);
    const auto sent = sequence(4, 10 * run.rank);
    Buffer<int> read(5);
    CALL(SIZED(MPI_File_write_at_all_begin)(file.handle, run.rank * own_bytes, sent, 4, MPI_INT));
    CALL(MPI_File_write_at_all_end(file.handle, sent, MPI_STATUS_IGNORE));
    file.settle(run);
    Status first;
    CALL(SIZED(MPI_File_read_at_all_begin)(file.handle, run.next() * own_bytes, read, 4, MPI_INT));
    CALL(MPI_File_read_at_all_end(file.handle, read, &first));
    show(run, "read at", read, first);
    CALL(MPI_Barrier(MPI_COMM_WORLD));
    CALL(MPI_File_seek(file.handle, run.rank * own_bytes, MPI_SEEK_SET));
    CALL(SIZED(MPI_File_write_all_begin)(file.handle, sent + 2, 2, MPI_INT));
    CALL(MPI_File_write_all_end(file.handle, sent + 2, MPI_STATUS_IGNORE));
    file.settle(run);
    Status second;
    CALL(SIZED(MPI_File_read_all_begin)(file.handle, read, 2, MPI_INT));
    CALL(MPI_File_read_all_end(file.handle, read, &second));
    show(run, "read on", read, second);
    CALL(MPI_Barrier(MPI_COMM_WORLD));
    CALL(SIZED(MPI_File_write_ordered_begin)(file.handle, sent, 1, MPI_INT));
    CALL(MPI_File_write_ordered_end(file.handle, sent, MPI_STATUS_IGNORE));
    file.settle(run);
    CALL(MPI_File_seek_shared(file.handle, 0, MPI_SEEK_SET));
    Status third;
    CALL(SIZED(MPI_File_read_ordered_begin)(file.handle, read, 1, MPI_INT));
    CALL(MPI_File_read_ordered_end(file.handle, read, &third));
    show(run, "read in order", read, third);
    file.remove(run);
}

SCENARIO(views, MPI_File_set_view, MPI_File_get_view, MPI_File_get_byte_offset,
         SIZED(MPI_File_get_type_extent)) {
    File file(run);
    MPI_Datatype every_other = MPI_DATATYPE_NULL;
    CALL(MPI_Type_vector(2, 1, 2, MPI_INT, &every_other));
    CALL(MPI_Type_commit(&every_other));
    CALL(MPI_File_set_view(file.handle, run.rank * own_bytes, MPI_INT, every_other, "native",
                           MPI_INFO_NULL));
    const auto sent = sequence(2, 10 * run.rank);
    CALL(SIZED(MPI_File_write_at_all)(file.handle, 0, sent, 2, MPI_INT, MPI_STATUS_IGNORE));
    MPI_Offset offset = -1;
    CALL(MPI_File_get_byte_offset(file.handle, 1, &offset));
    run.out.value("offset", offset);
    MPI_Offset displacement = -1;
    MPI_Datatype element = MPI_DATATYPE_NULL;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    char representation[MPI_MAX_DATAREP_STRING] = {};
    CALL(MPI_File_get_view(file.handle, &displacement, &element, &type, representation));
    run.out.value("displacement", displacement);
    run.out.choice("element", element);
    run.out.text("representation", representation);
#ifdef CD_LARGE_COUNTS
    MPI_Count extent = -1;
#else
    MPI_Aint extent = -1;
#endif
    CALL(SIZED(MPI_File_get_type_extent)(file.handle, MPI_INT, &extent));
    run.out.value("extent", extent);
    Buffer<int> read(2);
    Status status;
    CALL(SIZED(MPI_File_read_at)(file.handle, 0, read, 2, MPI_INT, &status));
    show(run, "read", read, status);
    CALL(MPI_Type_free(&type));
    CALL(MPI_Type_free(&every_other));
    file.remove(run);
}

SCENARIO(properties, MPI_File_set_size, MPI_File_get_size, MPI_File_preallocate,
         MPI_File_set_atomicity, MPI_File_get_atomicity, MPI_File_get_amode, MPI_File_get_group,
         MPI_File_set_info, MPI_File_get_info) {
    File file(run);
    MPI_Offset size = -1;
    CALL(MPI_File_set_size(file.handle, 100));
    CALL(MPI_File_get_size(file.handle, &size));
    run.out.value("size", size);
    // Less than there is: Open MPI's ranks look at the size while the first one writes the file
    // again up to the size that is wanted, and do not all do the same then.
    CALL(MPI_File_preallocate(file.handle, 50));
    CALL(MPI_File_get_size(file.handle, &size));
    run.out.value("size", size);
    int value = -1;
    CALL(MPI_File_set_atomicity(file.handle, 1));
    CALL(MPI_File_get_atomicity(file.handle, &value));
    run.out.value("atomicity", value);
    CALL(MPI_File_get_amode(file.handle, &value));
    run.out.value("mode", value);
    MPI_Group group = MPI_GROUP_NULL;
    CALL(MPI_File_get_group(file.handle, &group));
    CALL(MPI_Group_size(group, &value));
    run.out.value("group", value);
    CALL(MPI_Group_free(&group));
    MPI_Info info = MPI_INFO_NULL;
    CALL(MPI_Info_create(&info));
    CALL(MPI_File_set_info(file.handle, info));
    CALL(MPI_Info_free(&info));
    CALL(MPI_File_get_info(file.handle, &info));
    run.out.choice("info", info);
    CALL(MPI_Info_free(&info));
    file.remove(run);
}

int keep_bytes(void *user, MPI_Datatype type, Count count, void *file, MPI_Offset position,
               void *) {
    int size = 0;
    MPI_Type_size(type, &size);
    std::memcpy(user, static_cast<char *>(file) + position, static_cast<size_t>(count) * size);
    return MPI_SUCCESS;
}
int extent_in_file(MPI_Datatype type, MPI_Aint *extent, void *) {
    MPI_Aint lower_bound = 0;
    return MPI_Type_get_extent(type, &lower_bound, extent);
}

// Only the first of a name is not an error.
SCENARIO(representation, SIZED(MPI_Register_datarep)) {
    const auto add = [] {
        return SIZED(MPI_Register_datarep)("scenarios" CD_SCENARIO_SUFFIX, keep_bytes, keep_bytes,
                                           extent_in_file, nullptr);
    };
    if (cd_log_mode() == CD_LOG_OFF) {
        add();
    }
    RESULT(add());
}

SCENARIO(missing, MPI_File_open, MPI_File_delete) {
    MPI_File file = MPI_FILE_NULL;
    RESULT(MPI_File_open(MPI_COMM_SELF, run.file.c_str(), MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    run.out.value("null", file == MPI_FILE_NULL);
    RESULT(MPI_File_delete(run.file.c_str(), MPI_INFO_NULL));
}

} // namespace

} // namespace files
