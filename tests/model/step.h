// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <string>
#include <vector>

// A random program is a list of steps. A step names its CD by the id that the creating step gave
// it, never by a handle, so that a program can be replayed, printed, and shortened by leaving steps
// out.
namespace model {

constexpr int arena_size = 192;
// Bytes at the start of the arena that are never added via regen: one regen function reads them, so
// they show what memory held when it was called.
constexpr int state_size = 8;
constexpr int slot_count = 3;
constexpr int file_count = 3;
constexpr int regen_count = 3;
// The regen function that a restore step can tell to fail.
constexpr int failing_regen = 2;

enum class Op {
    write, // the application writes arena memory
    seek,  // the application moves a descriptor
    close, // the application closes a descriptor
    open,  // the application opens a file on a descriptor of its choice
    create,
    commit,
    restore,
    advance,
    add_copy,
    add_parent,
    add_regen,
    remove,
    add_file,
    delete_file,
    log_add,
    log_append,
    log_get,
    log_next,
    log_delete,
    verify,
    query,
};

enum class Handle {
    by_id,   // live, stale or never created, as the program goes
    current, // CURRENT_CD
    null,
    foreign, // some pointer that is no handle
};

struct Target {
    Handle kind = Handle::by_id;
    int id = 0;
};

enum class Where {
    arena,
    null,    // a NULL address
    wraps,   // the range runs past the end of the address space
    to_zero, // the range ends exactly at the end of the address space
};

struct Element {
    Where where = Where::arena;
    int offset = 0;
    int length = 0;
    int access = 0; // enum addr_type, or a bad value
    int scope = 0;  // enum addr_scope, or a bad value
};

enum class RegenFailure { no, returns, throws };

// The descriptor of a file step is a slot, or one of these.
constexpr int negative_descriptor = -1;
constexpr int unused_descriptor = -2;
constexpr int pipe_descriptor = -3;

struct Step {
    Op op = Op::write;
    Target target;

    int id = 0;      // create: the new CD's id
    int name = 0;    // create: index into names(), 0 for NULL
    int logging = 0; // create: enum mpi_log, or a bad value
    int storage = 0; // create, add: index into storages(), 0 for NULL
    std::vector<Element> list;
    int count = 0; // may be less than the list's size, or negative
    bool null_list = false;
    int regen = 0; // add via regen: which function; -1 for NULL
    RegenFailure failure = RegenFailure::no;

    int offset = 0; // write
    int length = 0; // write; log entry's length, negative or null_entry for a bad entry
    int value = 0;  // write, log entry: what to fill with; seek: the position
    int slot = 0;   // file steps
    int file = 0;   // open: which file
};

constexpr int null_entry = -1000;

// Names for create: which error they give at a root, CD_ERROR_NONE for a good one.
struct NameChoice {
    const char *text; // nullptr: NULL
    int error;
};
const std::vector<NameChoice> &names();

struct StorageChoice {
    const char *text;
    int error;
};
const std::vector<StorageChoice> &storages();

std::string describe(const Step &step);
std::string describe(const std::vector<Step> &program);

} // namespace model
