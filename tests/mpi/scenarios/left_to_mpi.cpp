// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// What the logger leaves to MPI: it concerns the process alone, and a re-execution finds the same.

#include "harness/scenario.h"

#include <iterator>

namespace left_to_mpi {

namespace {

using namespace cd::scenarios;

// ---- Those with large counts, too

struct Pair {
    MPI_Datatype type = MPI_DATATYPE_NULL;

    explicit Pair(Run &run) {
        CALL(MPI_Type_vector(2, 1, 3, MPI_INT, &type));
        CALL(MPI_Type_commit(&type));
    }
    Pair(const Pair &) = delete;
    Pair &operator=(const Pair &) = delete;
    ~Pair() { MPI_Type_free(&type); }
};

SCENARIO(packed_and_unpacked, SIZED(MPI_Pack), SIZED(MPI_Pack_size), SIZED(MPI_Unpack),
         SIZED(MPI_Pack_external), SIZED(MPI_Pack_external_size), SIZED(MPI_Unpack_external),
         SIZED(MPI_Reduce_local)) {
    const Pair pair(run);
    const Buffer<int> in = sequence(4, run.rank);
    const Buffer<int> out(4);
    const Buffer<char> packed(256);
    Count size = -7;
    CALL(SIZED(MPI_Pack_size)(1, pair.type, MPI_COMM_WORLD, &size));
    run.out.value("size", size);
    Count at = 0;
    CALL(SIZED(MPI_Pack)(in, 1, pair.type, packed, 256, &at, MPI_COMM_WORLD));
    run.out.value("packed", at);
    at = 0;
    CALL(SIZED(MPI_Unpack)(packed, 256, &at, out, 1, pair.type, MPI_COMM_WORLD));
    run.out.buffer("unpacked", out);
#ifdef CD_LARGE_COUNTS
    using Room = MPI_Count;
#else
    using Room = MPI_Aint;
#endif
    Room room = -7;
    CALL(SIZED(MPI_Pack_external_size)("external32", 1, pair.type, &room));
    run.out.value("room", room);
    Room room_at = 0;
    CALL(SIZED(MPI_Pack_external)("external32", in, 1, pair.type, packed, room, &room_at));
    room_at = 0;
    CALL(SIZED(MPI_Unpack_external)("external32", packed, room, &room_at, out, 1, pair.type));
    run.out.buffer("unpacked again", out);
    CALL(SIZED(MPI_Reduce_local)(in, out, 4, MPI_INT, MPI_SUM));
    run.out.buffer("sums", out);
}

// Made by the execution without a domain: one that logs takes none.
MPI_Win older_shared_window() {
    static const MPI_Win window = [] {
        MPI_Win made = MPI_WIN_NULL;
        void *memory = nullptr;
        MPI_Win_allocate_shared(24, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &made);
        return made;
    }();
    return window;
}

SCENARIO(shared_window, SIZED(MPI_Win_shared_query)) {
    MPI_Aint size = -7;
#ifdef CD_LARGE_COUNTS
    MPI_Aint unit = -7;
#else
    int unit = -7;
#endif
    void *memory = nullptr;
    CALL(SIZED(MPI_Win_shared_query)(older_shared_window(), run.next(), &size, &unit, &memory));
    run.out.value("size", size);
    run.out.value("unit", unit);
    run.out.value("memory", memory);
}

SCENARIO(extents, SIZED(MPI_Type_get_extent), SIZED(MPI_Type_get_true_extent), SIZED(MPI_Type_size),
         SIZED(MPI_Type_get_envelope)) {
    const Pair pair(run);
#ifdef CD_LARGE_COUNTS
    MPI_Count numbers[5] = {-7, -7, -7, -7, -7};
    MPI_Count counted[4] = {-7, -7, -7, -7};
    int combiner = -7;
    CALL(SIZED(MPI_Type_get_envelope)(pair.type, &counted[0], &counted[1], &counted[2], &counted[3],
                                      &combiner));
#else
    MPI_Aint numbers[5] = {-7, -7, -7, -7, -7};
    int counted[3] = {-7, -7, -7};
    int combiner = -7;
    CALL(SIZED(MPI_Type_get_envelope)(pair.type, &counted[0], &counted[1], &counted[2], &combiner));
#endif
    run.out.values("counted", counted, std::size(counted));
    run.out.value("vector", combiner == MPI_COMBINER_VECTOR);
    CALL(SIZED(MPI_Type_get_extent)(pair.type, &numbers[0], &numbers[1]));
    CALL(SIZED(MPI_Type_get_true_extent)(pair.type, &numbers[2], &numbers[3]));
    Count size = -7;
    CALL(SIZED(MPI_Type_size)(pair.type, &size));
    numbers[4] = size;
    run.out.values("numbers", numbers, 5);
}

SCENARIO(counts_of_statuses, SIZED(MPI_Get_count), SIZED(MPI_Get_elements)) {
    const Pair pair(run);
    const Buffer<int> in(4);
    Status status;
    CALL(MPI_Sendrecv(sequence(3, 1), 2, MPI_INT, run.next(), 1, in, 1, pair.type, run.previous(),
                      1, MPI_COMM_WORLD, &status));
    Count count = -7;
    Count elements = -7;
    CALL(SIZED(MPI_Get_count)(&status, MPI_INT, &count));
    CALL(SIZED(MPI_Get_elements)(&status, pair.type, &elements));
    run.out.value("count", count);
    run.out.value("elements", elements);
}

#ifndef CD_LARGE_COUNTS

// ---- Those without

SCENARIO(groups, MPI_Group_compare, MPI_Group_rank, MPI_Group_size, MPI_Group_translate_ranks) {
    MPI_Group world = MPI_GROUP_NULL;
    MPI_Group first = MPI_GROUP_NULL;
    CALL(MPI_Comm_group(MPI_COMM_WORLD, &world));
    const int zero = 0;
    CALL(MPI_Group_incl(world, 1, &zero, &first));
    int numbers[4] = {-7, -7, -7, -7};
    CALL(MPI_Group_compare(world, first, &numbers[0]));
    CALL(MPI_Group_rank(first, &numbers[1]));
    CALL(MPI_Group_size(first, &numbers[2]));
    CALL(MPI_Group_translate_ranks(world, 1, &run.rank, first, &numbers[3]));
    run.out.values("numbers", numbers, 4);
    CALL(MPI_Group_free(&first));
    CALL(MPI_Group_free(&world));
}

int attribute = 0;

SCENARIO(types, MPI_Type_commit, MPI_Type_extent, MPI_Type_lb, MPI_Type_ub, MPI_Type_get_extent_x,
         MPI_Type_get_true_extent_x, MPI_Type_size_x, MPI_Type_set_name, MPI_Type_get_name,
         MPI_Type_match_size, MPI_Type_get_attr, MPI_Get_address, MPI_Address, MPI_Op_commutative) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    CALL(MPI_Type_vector(2, 1, 3, MPI_INT, &type));
    CALL(MPI_Type_commit(&type));
    MPI_Aint addresses[5] = {-7, -7, -7, -7, -7};
    CALL(MPI_Type_extent(type, &addresses[0]));
    CALL(MPI_Type_lb(type, &addresses[1]));
    CALL(MPI_Type_ub(type, &addresses[2]));
    const Buffer<int> somewhere(2);
    CALL(MPI_Get_address(&somewhere[1], &addresses[3]));
    CALL(MPI_Address(&somewhere[0], &addresses[4]));
    addresses[3] -= addresses[4];
    run.out.values("addresses", addresses, 4);
    MPI_Count counts[5] = {-7, -7, -7, -7, -7};
    CALL(MPI_Type_get_extent_x(type, &counts[0], &counts[1]));
    CALL(MPI_Type_get_true_extent_x(type, &counts[2], &counts[3]));
    CALL(MPI_Type_size_x(type, &counts[4]));
    run.out.values("counts", counts, 5);
    CALL(MPI_Type_set_name(type, "every third"));
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length = -7;
    CALL(MPI_Type_get_name(type, name, &length));
    run.out.text("name", name);
    int key = MPI_KEYVAL_INVALID;
    CALL(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &key, nullptr));
    CALL(MPI_Type_set_attr(type, key, &attribute));
    void *found = nullptr;
    int present = -7;
    CALL(MPI_Type_get_attr(type, key, &found, &present));
    run.out.value("present", present != 0 && found == &attribute);
    CALL(MPI_Type_free_keyval(&key));
    CALL(MPI_Type_free(&type));
    CALL(MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 4, &type));
    run.out.choice("matched", type);
    int commutes = -7;
    CALL(MPI_Op_commutative(MPI_SUM, &commutes));
    run.out.value("commutes", commutes);
}

SCENARIO(statuses, MPI_Get_elements_x, MPI_Status_set_elements, MPI_Status_set_elements_x,
         MPI_Status_set_cancelled, MPI_Test_cancelled) {
    MPI_Status status = {};
    MPI_Count counts[2] = {-7, -7};
    CALL(MPI_Status_set_elements(&status, MPI_INT, 3));
    CALL(MPI_Get_elements_x(&status, MPI_INT, &counts[0]));
    CALL(MPI_Status_set_elements_x(&status, MPI_INT, 4));
    CALL(MPI_Get_elements_x(&status, MPI_INT, &counts[1]));
    run.out.values("counts", counts, 2);
    CALL(MPI_Status_set_cancelled(&status, 1));
    int cancelled = -7;
    CALL(MPI_Test_cancelled(&status, &cancelled));
    run.out.value("cancelled", cancelled != 0);
}

SCENARIO(infos, MPI_Info_get, MPI_Info_get_nkeys, MPI_Info_get_nthkey, MPI_Info_get_valuelen) {
    MPI_Info info = MPI_INFO_NULL;
    CALL(MPI_Info_create(&info));
    CALL(MPI_Info_set(info, "key", "value"));
    int numbers[4] = {-7, -7, -7, -7};
    char text[MPI_MAX_INFO_KEY] = "";
    CALL(MPI_Info_get_nkeys(info, &numbers[0]));
    CALL(MPI_Info_get_nthkey(info, 0, text));
    run.out.text("key", text);
    CALL(MPI_Info_get_valuelen(info, "key", &numbers[1], &numbers[2]));
    CALL(MPI_Info_get(info, "key", 16, text, &numbers[3]));
    run.out.text("value", text);
    run.out.values("numbers", numbers, 4);
    CALL(MPI_Info_free(&info));
}

SCENARIO(errors, MPI_Error_class, MPI_Error_string, MPI_Comm_call_errhandler,
         MPI_File_get_errhandler, MPI_File_call_errhandler) {
    int error_class = -7;
    CALL(MPI_Error_class(MPI_ERR_TAG, &error_class));
    run.out.value("class", error_class == MPI_ERR_TAG);
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = -7;
    CALL(MPI_Error_string(MPI_ERR_TAG, text, &length));
    run.out.text("text", text);
    CALL(MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_TAG));
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    CALL(MPI_File_get_errhandler(MPI_FILE_NULL, &handler));
    run.out.choice("handler", handler);
    MPI_File file = MPI_FILE_NULL;
    CALL(MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    CALL(MPI_File_call_errhandler(file, MPI_ERR_IO));
    CALL(MPI_File_close(&file));
}

SCENARIO(process, MPI_Initialized, MPI_Finalized, MPI_Query_thread, MPI_Is_thread_main,
         MPI_Get_version, MPI_Get_library_version, MPI_Get_processor_name, MPI_Comm_get_parent,
         MPI_Dims_create, MPI_Wtick, MPI_Pcontrol) {
    int numbers[8] = {-7, -7, -7, -7, -7, -7, 0, 0};
    CALL(MPI_Initialized(&numbers[0]));
    CALL(MPI_Finalized(&numbers[1]));
    CALL(MPI_Query_thread(&numbers[2]));
    CALL(MPI_Is_thread_main(&numbers[3]));
    CALL(MPI_Get_version(&numbers[4], &numbers[5]));
    CALL(MPI_Dims_create(6, 2, &numbers[6]));
    run.out.values("numbers", numbers, 8);
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = -7;
    CALL(MPI_Get_library_version(text, &length));
    run.out.text("version", text);
    char name[MPI_MAX_PROCESSOR_NAME] = "";
    CALL(MPI_Get_processor_name(name, &length));
    run.out.text("processor", name);
    MPI_Comm parent = MPI_COMM_WORLD;
    CALL(MPI_Comm_get_parent(&parent));
    run.out.value("parent", parent == MPI_COMM_NULL);
    run.out.value("MPI_Wtick()", MPI_Wtick());
    CALL(MPI_Pcontrol(0));
}

#ifdef CD_HAS_MPI_Aint_add // elsewhere they are macros
SCENARIO(address_arithmetic, MPI_Aint_add, MPI_Aint_diff) {
    run.out.value("MPI_Aint_add(40, 2)", MPI_Aint_add(40, 2));
    run.out.value("MPI_Aint_diff(40, 2)", MPI_Aint_diff(40, 2));
}
#endif

#ifdef CD_HAS_MPI_Info_get_string
SCENARIO(string_of_info, MPI_Info_get_string) {
    MPI_Info info = MPI_INFO_NULL;
    CALL(MPI_Info_create(&info));
    CALL(MPI_Info_set(info, "key", "value"));
    char text[16] = "";
    int room = 16;
    int present = -7;
    CALL(MPI_Info_get_string(info, "key", &room, text, &present));
    run.out.text("string", text);
    CALL(MPI_Info_free(&info));
}
#endif

#ifdef CD_HAS_MPI_Session_init
SCENARIO(asked_session, MPI_Session_get_info, MPI_Session_get_num_psets, MPI_Session_get_nth_pset,
         MPI_Session_get_pset_info) {
    MPI_Session session = MPI_SESSION_NULL;
    CALL(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    int number = -7;
    CALL(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &number));
    run.out.value("number", number);
    char name[64] = "";
    int room = 64;
    CALL(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &room, name));
    run.out.text("name", name);
    MPI_Info info = MPI_INFO_NULL;
    CALL(MPI_Session_get_pset_info(session, name, &info));
    CALL(MPI_Info_free(&info));
    CALL(MPI_Session_get_info(session, &info));
    CALL(MPI_Info_free(&info));
    CALL(MPI_Session_finalize(&session));
}

#ifndef CD_OPEN_MPI_5
SCENARIO(handler_of_session, MPI_Session_get_errhandler) {
    MPI_Session session = MPI_SESSION_NULL;
    CALL(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    CALL(MPI_Session_get_errhandler(session, &handler));
    run.out.value("handler", handler == MPI_ERRORS_RETURN);
    CALL(MPI_Session_finalize(&session));
}
#endif
#endif

#define CD_CONVERTED(Kind, object)                                                                 \
    run.out.value("MPI_" #Kind "_c2f, MPI_" #Kind "_f2c",                                          \
                  MPI_##Kind##_f2c(MPI_##Kind##_c2f(object)) == (object))

SCENARIO(files_in_fortran, MPI_File_c2f, MPI_File_f2c) { CD_CONVERTED(File, MPI_FILE_NULL); }

SCENARIO(statuses_in_fortran, MPI_Status_c2f, MPI_Status_f2c) {
    MPI_Status status = {};
    status.MPI_TAG = 5;
    MPI_Fint in_fortran[sizeof(MPI_Status) / sizeof(MPI_Fint)] = {};
    CALL(MPI_Status_c2f(&status, in_fortran));
    MPI_Status back = {};
    CALL(MPI_Status_f2c(in_fortran, &back));
    run.out.value("tag", back.MPI_TAG);
}

#ifdef CD_HAS_MPI_Comm_c2f // elsewhere they are macros
SCENARIO(handles_in_fortran, MPI_Comm_c2f, MPI_Comm_f2c, MPI_Errhandler_c2f, MPI_Errhandler_f2c,
         MPI_Group_c2f, MPI_Group_f2c, MPI_Info_c2f, MPI_Info_f2c, MPI_Message_c2f, MPI_Message_f2c,
         MPI_Op_c2f, MPI_Op_f2c, MPI_Request_c2f, MPI_Request_f2c, MPI_Type_c2f, MPI_Type_f2c,
         MPI_Win_c2f, MPI_Win_f2c) {
    CD_CONVERTED(Comm, MPI_COMM_WORLD);
    CD_CONVERTED(Errhandler, MPI_ERRORS_RETURN);
    CD_CONVERTED(Group, MPI_GROUP_EMPTY);
    CD_CONVERTED(Info, MPI_INFO_NULL);
    CD_CONVERTED(Message, MPI_MESSAGE_NO_PROC);
    CD_CONVERTED(Op, MPI_SUM);
    CD_CONVERTED(Request, MPI_REQUEST_NULL);
    CD_CONVERTED(Type, MPI_INT);
    CD_CONVERTED(Win, MPI_WIN_NULL);
}
#endif

#ifdef CD_HAS_MPI_Session_c2f
SCENARIO(sessions_in_fortran, MPI_Session_c2f, MPI_Session_f2c) {
    CD_CONVERTED(Session, MPI_SESSION_NULL);
}
#endif

#ifdef CD_HAS_MPI_Comm_toint
#define CD_NUMBERED(Kind, object)                                                                  \
    run.out.value("MPI_" #Kind "_toint, MPI_" #Kind "_fromint",                                    \
                  MPI_##Kind##_fromint(MPI_##Kind##_toint(object)) == (object))

SCENARIO(numbers_of_handles, MPI_Comm_toint, MPI_Comm_fromint, MPI_Errhandler_toint,
         MPI_Errhandler_fromint, MPI_File_toint, MPI_File_fromint, MPI_Group_toint,
         MPI_Group_fromint, MPI_Info_toint, MPI_Info_fromint, MPI_Message_toint,
         MPI_Message_fromint, MPI_Op_toint, MPI_Op_fromint, MPI_Request_toint, MPI_Request_fromint,
         MPI_Session_toint, MPI_Session_fromint, MPI_Type_toint, MPI_Type_fromint, MPI_Win_toint,
         MPI_Win_fromint) {
    CD_NUMBERED(Comm, MPI_COMM_WORLD);
    CD_NUMBERED(Errhandler, MPI_ERRORS_RETURN);
    CD_NUMBERED(File, MPI_FILE_NULL);
    CD_NUMBERED(Group, MPI_GROUP_EMPTY);
    CD_NUMBERED(Info, MPI_INFO_NULL);
    CD_NUMBERED(Message, MPI_MESSAGE_NO_PROC);
    CD_NUMBERED(Op, MPI_SUM);
    CD_NUMBERED(Request, MPI_REQUEST_NULL);
    CD_NUMBERED(Session, MPI_SESSION_NULL);
    CD_NUMBERED(Type, MPI_INT);
    CD_NUMBERED(Win, MPI_WIN_NULL);
}
#endif

#ifdef CD_HAS_MPI_Status_set_elements_c
SCENARIO(large_status, MPI_Status_set_elements_c) {
    MPI_Status status = {};
    MPI_Count count = -7;
    CALL(MPI_Status_set_elements_c(&status, MPI_INT, 3));
    CALL(MPI_Get_elements_c(&status, MPI_INT, &count));
    run.out.value("MPI_Status_set_elements()", count);
}
#endif

#ifdef CD_HAS_MPI_Status_get_source
SCENARIO(fields_of_statuses, MPI_Status_get_source, MPI_Status_get_tag, MPI_Status_get_error,
         MPI_Status_set_source, MPI_Status_set_tag, MPI_Status_set_error) {
    MPI_Status status = {};
    CALL(MPI_Status_set_source(&status, 3));
    CALL(MPI_Status_set_tag(&status, 4));
    CALL(MPI_Status_set_error(&status, MPI_ERR_TAG));
    int fields[3] = {};
    CALL(MPI_Status_get_source(&status, &fields[0]));
    CALL(MPI_Status_get_tag(&status, &fields[1]));
    CALL(MPI_Status_get_error(&status, &fields[2]));
    run.out.values("fields", fields, 3);
}
#endif

#ifdef CD_HAS_MPI_Type_get_value_index
SCENARIO(pair_with_index, MPI_Type_get_value_index) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    CALL(MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &type));
    run.out.value("pair", type == MPI_DOUBLE_INT);
}
#endif

#ifdef CD_HAS_MPI_Abi_get_version
SCENARIO(asked_abi, MPI_Abi_get_version, MPI_Abi_get_fortran_booleans) {
    int version[2] = {-7, -7};
    CALL(MPI_Abi_get_version(&version[0], &version[1]));
    run.out.values("version", version, 2);
    int is_true = -7;
    int is_false = -7;
    int is_set = -7;
    RESULT(MPI_Abi_get_fortran_booleans(sizeof(int), &is_true, &is_false, &is_set));
    run.out.value("set", is_set);
}
#endif

#ifdef CD_HAS_MPIX_Type_iov
SCENARIO(parts_of_types, MPIX_Type_iov_len, MPIX_Type_iov) {
    MPI_Count parts = -7;
    MPI_Count bytes = -7;
    CALL(MPIX_Type_iov_len(MPI_INT, sizeof(int), &parts, &bytes));
    run.out.value("parts", parts);
    MPIX_Iov part = {};
    CALL(MPIX_Type_iov(MPI_INT, 0, &part, 1, &parts));
    run.out.value("length", part.iov_len);
}
#endif

#ifdef CD_HAS_MPIX_Query_rocm_support
SCENARIO(rocm, MPIX_Query_rocm_support) {
    run.out.value("MPIX_Query_rocm_support()", MPIX_Query_rocm_support());
}
#endif

#ifdef CD_HAS_MPIX_GPU_query_support
SCENARIO(gpus, MPIX_GPU_query_support, MPIX_Query_hip_support, MPIX_Query_ze_support) {
    int supported = -7;
    CALL(MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, &supported));
    run.out.value("supported", supported);
    run.out.value("MPIX_Query_hip_support()", MPIX_Query_hip_support());
    run.out.value("MPIX_Query_ze_support()", MPIX_Query_ze_support());
}
#endif

#ifdef CD_HAS_MPIX_Query_cuda_support
SCENARIO(cuda, MPIX_Query_cuda_support) {
    run.out.value("MPIX_Query_cuda_support()", MPIX_Query_cuda_support());
}
#endif

#endif

} // namespace

} // namespace left_to_mpi
