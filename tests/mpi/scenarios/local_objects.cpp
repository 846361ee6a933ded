// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Attributes, error handlers, info objects, names, errors, clock and memory.

#include "harness/scenario.h"

#include "cd/mpi_log.h"

namespace local_objects {

namespace {

using namespace cd::scenarios;

int copy_attribute(MPI_Comm, int, void *, void *in, void *out, int *flag) {
    *static_cast<void **>(out) = in;
    *flag = 1;
    return MPI_SUCCESS;
}
int delete_attribute(MPI_Comm, int, void *, void *) { return MPI_SUCCESS; }

int values[3];

// Returns the index of the cached value; -1 if none is cached.
template <typename Object, typename Get>
int cached(Run &run, const Get &get, Object object, int key) {
    void *value = nullptr;
    int present = 0;
    CALL(get(object, key, &value, &present));
    return present == 0 ? -1 : static_cast<int>(static_cast<int *>(value) - values);
}

SCENARIO(comm_attributes, MPI_Comm_create_keyval, MPI_Comm_set_attr, MPI_Comm_delete_attr,
         MPI_Comm_free_keyval) {
    int key = MPI_KEYVAL_INVALID;
    CALL(MPI_Comm_create_keyval(copy_attribute, delete_attribute, &key, nullptr));
    run.out.choice("key", key);
    run.out.value("before", cached(run, MPI_Comm_get_attr, MPI_COMM_WORLD, key));
    CALL(MPI_Comm_set_attr(MPI_COMM_WORLD, key, &values[1]));
    run.out.value("set", cached(run, MPI_Comm_get_attr, MPI_COMM_WORLD, key));
    MPI_Comm copy = MPI_COMM_NULL;
    CALL(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    run.out.value("copied", cached(run, MPI_Comm_get_attr, copy, key));
    CALL(MPI_Comm_set_attr(copy, key, &values[2]));
    run.out.value("the copy's", cached(run, MPI_Comm_get_attr, copy, key));
    CALL(MPI_Comm_free(&copy));
    CALL(MPI_Comm_set_attr(MPI_COMM_WORLD, key, &values[0]));
    run.out.value("again", cached(run, MPI_Comm_get_attr, MPI_COMM_WORLD, key));
    CALL(MPI_Comm_delete_attr(MPI_COMM_WORLD, key));
    run.out.value("deleted", cached(run, MPI_Comm_get_attr, MPI_COMM_WORLD, key));
    CALL(MPI_Comm_free_keyval(&key));
    run.out.value("invalid", key == MPI_KEYVAL_INVALID);
}

SCENARIO(type_attributes, MPI_Type_create_keyval, MPI_Type_set_attr, MPI_Type_delete_attr,
         MPI_Type_free_keyval) {
    int key = MPI_KEYVAL_INVALID;
    CALL(MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &key, nullptr));
    MPI_Datatype type = MPI_DATATYPE_NULL;
    CALL(MPI_Type_contiguous(2, MPI_INT, &type));
    run.out.value("before", cached(run, MPI_Type_get_attr, type, key));
    CALL(MPI_Type_set_attr(type, key, &values[1]));
    run.out.value("set", cached(run, MPI_Type_get_attr, type, key));
    CALL(MPI_Type_delete_attr(type, key));
    run.out.value("deleted", cached(run, MPI_Type_get_attr, type, key));
    CALL(MPI_Type_set_attr(type, key, &values[2]));
    CALL(MPI_Type_free(&type));
    CALL(MPI_Type_set_attr(MPI_INT, key, &values[0]));
    run.out.value("of a predefined type", cached(run, MPI_Type_get_attr, MPI_INT, key));
    CALL(MPI_Type_delete_attr(MPI_INT, key));
    CALL(MPI_Type_free_keyval(&key));
}

SCENARIO(window_attributes, MPI_Win_create_keyval, MPI_Win_free_keyval) {
    int key = MPI_KEYVAL_INVALID;
    CALL(MPI_Win_create_keyval(MPI_WIN_DUP_FN, MPI_WIN_NULL_DELETE_FN, &key, nullptr));
    run.out.choice("key", key);
    CALL(MPI_Win_free_keyval(&key));
    run.out.value("invalid", key == MPI_KEYVAL_INVALID);
}

SCENARIO(old_attributes, MPI_Keyval_create, MPI_Attr_put, MPI_Attr_delete, MPI_Keyval_free) {
    int key = MPI_KEYVAL_INVALID;
    CALL(MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, &key, nullptr));
    CALL(MPI_Attr_put(MPI_COMM_SELF, key, &values[2]));
    run.out.value("set", cached(run, MPI_Attr_get, MPI_COMM_SELF, key));
    CALL(MPI_Attr_delete(MPI_COMM_SELF, key));
    run.out.value("deleted", cached(run, MPI_Attr_get, MPI_COMM_SELF, key));
    CALL(MPI_Keyval_free(&key));
}

int handled = 0;
void handle(MPI_Comm *, int *, ...) { ++handled; }

SCENARIO(error_handlers, MPI_Comm_create_errhandler, MPI_Comm_set_errhandler, MPI_Errhandler_free) {
    handled = 0;
    MPI_Errhandler before = MPI_ERRHANDLER_NULL;
    CALL(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before));
    run.out.value("before", before == MPI_ERRORS_RETURN);
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    CALL(MPI_Comm_create_errhandler(handle, &handler));
    run.out.choice("handler", handler);
    CALL(MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler));
    int value = 0;
    RESULT(MPI_Send(&value, 1, MPI_INT, run.size + 1, 0, MPI_COMM_WORLD));
    run.out.value("handled", handled);
    CALL(MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER));
    run.out.value("handled", handled);
    CALL(MPI_Errhandler_free(&handler));
    CALL(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    RESULT(MPI_Send(&value, 1, MPI_INT, run.size + 1, 0, MPI_COMM_WORLD));
    run.out.value("handled no more", handled);
}

#if CD_HAS_MPI_Errhandler_create
SCENARIO(old_error_handlers, MPI_Errhandler_create, MPI_Errhandler_set) {
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    handled = 0;
    CALL(MPI_Errhandler_create(handle, &handler));
    CALL(MPI_Errhandler_set(MPI_COMM_SELF, handler));
    int value = 0;
    RESULT(MPI_Send(&value, 1, MPI_INT, 7, 0, MPI_COMM_SELF));
    run.out.value("handled", handled);
    CALL(MPI_Errhandler_set(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    CALL(MPI_Errhandler_free(&handler));
}
#endif

void ignore_file_error(MPI_File *, int *, ...) {}
void ignore_window_error(MPI_Win *, int *, ...) {}

SCENARIO(other_error_handlers, MPI_File_create_errhandler, MPI_File_set_errhandler,
         MPI_Win_create_errhandler) {
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    CALL(MPI_File_create_errhandler(ignore_file_error, &handler));
    run.out.choice("handler", handler);
    CALL(MPI_File_set_errhandler(MPI_FILE_NULL, handler));
    CALL(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
    CALL(MPI_Errhandler_free(&handler));
    CALL(MPI_Win_create_errhandler(ignore_window_error, &handler));
    run.out.choice("handler", handler);
    CALL(MPI_Errhandler_free(&handler));
}

SCENARIO(errors, MPI_Add_error_class, MPI_Add_error_code, MPI_Add_error_string) {
    int error_class = -1;
    CALL(MPI_Add_error_class(&error_class));
    run.out.choice("class", error_class);
    int code = -1;
    CALL(MPI_Add_error_code(error_class, &code));
    run.out.choice("code", code);
    CALL(MPI_Add_error_string(code, "a scenario's own error"));
    char text[MPI_MAX_ERROR_STRING] = {};
    int length = 0;
    CALL(MPI_Error_string(code, text, &length));
    run.out.text("text", text);
}

#if CD_HAS_MPI_Remove_error_class
SCENARIO(removed_errors, MPI_Remove_error_string, MPI_Remove_error_code, MPI_Remove_error_class) {
    int error_class = -1;
    int code = -1;
    CALL(MPI_Add_error_class(&error_class));
    CALL(MPI_Add_error_code(error_class, &code));
    CALL(MPI_Add_error_string(code, "a scenario's own error"));
    CALL(MPI_Remove_error_string(code));
    CALL(MPI_Remove_error_code(code));
    CALL(MPI_Remove_error_class(error_class));
}
#endif

#if CD_HAS_MPI_Get_hw_resource_info
SCENARIO(hardware, MPI_Get_hw_resource_info) {
    MPI_Info info = MPI_INFO_NULL;
    CALL(MPI_Get_hw_resource_info(&info));
    run.out.choice("info", info);
    CALL(MPI_Info_free(&info));
}
#endif

#if CD_HAS_MPI_Abi_get_info
SCENARIO(abi, MPI_Abi_get_info, MPI_Abi_get_fortran_info) {
    MPI_Info info = MPI_INFO_NULL;
    CALL(MPI_Abi_get_info(&info));
    run.out.choice("info", info);
    CALL(MPI_Info_free(&info));
    CALL(MPI_Abi_get_fortran_info(&info));
    run.out.choice("info", info);
    if (info != MPI_INFO_NULL) {
        CALL(MPI_Info_free(&info));
    }
}
#endif

#if CD_HAS_MPIX_Delete_error_class
SCENARIO(deleted_errors, MPIX_Delete_error_string, MPIX_Delete_error_code,
         MPIX_Delete_error_class) {
    int error_class = -1;
    int code = -1;
    CALL(MPI_Add_error_class(&error_class));
    CALL(MPI_Add_error_code(error_class, &code));
    CALL(MPI_Add_error_string(code, "a scenario's own error"));
    CALL(MPIX_Delete_error_string(code));
    CALL(MPIX_Delete_error_code(code));
    CALL(MPIX_Delete_error_class(error_class));
}
#endif

std::string value_of(Run &run, MPI_Info info, const char *key) {
    char value[64] = {};
    int present = -1;
    CALL(MPI_Info_get(info, key, sizeof value - 1, value, &present));
    return present != 0 ? value : "(none)";
}

SCENARIO(info, MPI_Info_create, MPI_Info_dup, MPI_Info_set, MPI_Info_delete, MPI_Info_free) {
    MPI_Info info = MPI_INFO_NULL;
    CALL(MPI_Info_create(&info));
    run.out.choice("info", info);
    int keys = -1;
    CALL(MPI_Info_get_nkeys(info, &keys));
    run.out.value("keys", keys);
    CALL(MPI_Info_set(info, "colour", "red"));
    CALL(MPI_Info_set(info, "colour", "blue"));
    CALL(MPI_Info_set(info, "size", "7"));
    run.out.text("colour", value_of(run, info, "colour"));
    MPI_Info copy = MPI_INFO_NULL;
    CALL(MPI_Info_dup(info, &copy));
    CALL(MPI_Info_delete(info, "colour"));
    run.out.text("deleted", value_of(run, info, "colour"));
    run.out.text("kept", value_of(run, copy, "colour"));
    RESULT(MPI_Info_delete(info, "weight"));
    CALL(MPI_Info_free(&info));
    CALL(MPI_Info_free(&copy));
    run.out.value("null", info == MPI_INFO_NULL);
}

#if CD_HAS_MPI_Info_create_env
SCENARIO(info_of_environment, MPI_Info_create_env) {
    MPI_Info info = MPI_INFO_NULL;
    CALL(MPI_Info_create_env(0, nullptr, &info));
    run.out.choice("info", info);
    CALL(MPI_Info_free(&info));
}
#endif

SCENARIO(clock, MPI_Wtime) {
    double times[4];
    for (double &time : times) {
        time = MPI_Wtime();
    }
    run.out.choices("times", times, 4);
    run.out.value("forwards", times[0] <= times[3]);
    CALL(MPI_Barrier(MPI_COMM_SELF));
}

SCENARIO(memory, MPI_Alloc_mem, MPI_Free_mem) {
    int *memory = nullptr;
    CALL(MPI_Alloc_mem(10 * sizeof(int), MPI_INFO_NULL, &memory));
    run.out.choice("memory", memory);
    memory[0] = run.rank;
    int sum = -1;
    CALL(MPI_Allreduce(memory, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    run.out.value("sum", sum);
    CALL(MPI_Free_mem(memory));
}

int free_window(MPI_Comm, int, void *window, void *) {
    return MPI_Win_free(static_cast<MPI_Win *>(window));
}

// A window from before the CD.
MPI_Win window() {
    static MPI_Win made = MPI_WIN_NULL;
    if (cd_log_mode() == CD_LOG_OFF && made == MPI_WIN_NULL) {
        void *memory = nullptr;
        MPI_Win_allocate_shared(8, 1, MPI_INFO_NULL, MPI_COMM_SELF, &memory, &made);
        MPI_Win_set_errhandler(made, MPI_ERRORS_RETURN);
        // MPI_Finalize deletes attributes of MPI_COMM_SELF first, and this one frees the window.
        int key = MPI_KEYVAL_INVALID;
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_window, &key, nullptr);
        MPI_Comm_set_attr(MPI_COMM_SELF, key, &made);
    }
    return made;
}

int handled_of_window = 0;
void handle_of_window(MPI_Win *, int *, ...) { ++handled_of_window; }

SCENARIO(window, MPI_Win_set_attr, MPI_Win_delete_attr, MPI_Win_set_errhandler,
         MPI_Win_call_errhandler, MPI_Win_get_info, MPI_Win_get_group) {
    const MPI_Win win = window();
    int key = MPI_KEYVAL_INVALID;
    CALL(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &key, nullptr));
    run.out.value("before", cached(run, MPI_Win_get_attr, win, key));
    CALL(MPI_Win_set_attr(win, key, &values[1]));
    run.out.value("set", cached(run, MPI_Win_get_attr, win, key));
    CALL(MPI_Win_delete_attr(win, key));
    run.out.value("deleted", cached(run, MPI_Win_get_attr, win, key));
    CALL(MPI_Win_free_keyval(&key));

    handled_of_window = 0;
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    CALL(MPI_Win_create_errhandler(handle_of_window, &handler));
    CALL(MPI_Win_set_errhandler(win, handler));
    CALL(MPI_Win_call_errhandler(win, MPI_ERR_OTHER));
    run.out.value("handled", handled_of_window);
    CALL(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    CALL(MPI_Errhandler_free(&handler));

    MPI_Info info = MPI_INFO_NULL;
    CALL(MPI_Win_get_info(win, &info));
    run.out.choice("info", info);
    CALL(MPI_Info_free(&info));
    MPI_Group group = MPI_GROUP_NULL;
    CALL(MPI_Win_get_group(win, &group));
    int size = -1;
    CALL(MPI_Group_size(group, &size));
    run.out.value("size", size);
    CALL(MPI_Group_free(&group));
}

template <typename Object, typename Get>
std::string name_of(Run &run, const Get &get, Object object) {
    char name[MPI_MAX_OBJECT_NAME] = {};
    int length = -1;
    CALL(get(object, name, &length));
    return name;
}

SCENARIO(names, MPI_Comm_set_name, MPI_Type_set_name, MPI_Win_set_name) {
    const MPI_Win win = window();
    const auto tell = [&] {
        run.out.text("communicator", name_of(run, MPI_Comm_get_name, MPI_COMM_SELF));
        run.out.text("type", name_of(run, MPI_Type_get_name, MPI_INT));
        run.out.text("window", name_of(run, MPI_Win_get_name, win));
    };
    const std::string comm_before = name_of(run, MPI_Comm_get_name, MPI_COMM_SELF);
    const std::string type_before = name_of(run, MPI_Type_get_name, MPI_INT);
    const std::string win_before = name_of(run, MPI_Win_get_name, win);
    tell();
    for (const char *name : {"one", "another"}) {
        CALL(MPI_Comm_set_name(MPI_COMM_SELF, name));
        CALL(MPI_Type_set_name(MPI_INT, name));
        CALL(MPI_Win_set_name(win, name));
        tell();
    }
    CALL(MPI_Comm_set_name(MPI_COMM_SELF, comm_before.c_str()));
    CALL(MPI_Type_set_name(MPI_INT, type_before.c_str()));
    CALL(MPI_Win_set_name(win, win_before.c_str()));
    tell();
}

#ifdef OPEN_MPI // Debian's MPICH has no ports
SCENARIO(ports, MPI_Open_port, MPI_Close_port) {
    if (run.rank == 0) {
        char port[MPI_MAX_PORT_NAME] = {};
        CALL(MPI_Open_port(MPI_INFO_NULL, port));
        run.out.choice("port", port);
        CALL(MPI_Close_port(port));
    }
}
#endif

} // namespace

} // namespace local_objects
