// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "replay/divergence.h"
#include "mpi/differences.h"
#include "payload/private_comm.h"

#include "call/closed_handles.h"
#include "call/handle_word.h"
#include "mpi/mpi_lifetime.h"
#include "mpi/real.h"
#include "mpi/reentry_guard.h"
#include "payload/ended_connections.h"
#include "settings/settings.h"

#include "cd/mpi_log.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <initializer_list>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace cd::logger {
namespace {

// Names of MPI's predefined objects or constants of one kind. An MPI that lacks one of them has the
// null handle instead.
template <typename Handle> class Predefined {
public:
    // `names`: the names of the handles, with a comma and a space behind each but the last.
    Predefined(std::initializer_list<Handle> handles, const char *names) {
        for (const Handle handle : handles) {
            const size_t length = std::strcspn(names, ",");
            names_.emplace_back(word_of(handle), std::string(names, length));
            names += std::min(length + std::strlen(", "), std::strlen(names));
        }
    }

    // Returns the name of the one with this word in the log, or nullptr.
    const char *name_of(uint64_t word) const {
        const auto found = std::ranges::find(names_, word, &Name::first);
        return found != names_.end() ? found->second.c_str() : nullptr;
    }

private:
    using Name = std::pair<uint64_t, std::string>;
    std::vector<Name> names_;
};

#define CD_PREDEFINED(kind, Handle, ...)                                                           \
    const char *name_of_##kind(uint64_t word) {                                                    \
        static const auto &all = *new Predefined<Handle>({__VA_ARGS__}, #__VA_ARGS__);             \
        return all.name_of(word);                                                                  \
    }

CD_PREDEFINED(type, MPI_Datatype, MPI_DATATYPE_NULL, MPI_BYTE, MPI_PACKED, MPI_CHAR,
              MPI_SIGNED_CHAR, MPI_UNSIGNED_CHAR, MPI_WCHAR, MPI_SHORT, MPI_UNSIGNED_SHORT, MPI_INT,
              MPI_UNSIGNED, MPI_LONG, MPI_UNSIGNED_LONG, MPI_LONG_LONG, MPI_UNSIGNED_LONG_LONG,
              MPI_FLOAT, MPI_DOUBLE, MPI_LONG_DOUBLE, MPI_INT8_T, MPI_INT16_T, MPI_INT32_T,
              MPI_INT64_T, MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T, MPI_C_BOOL,
              MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_C_LONG_DOUBLE_COMPLEX, MPI_CXX_BOOL,
              MPI_CXX_FLOAT_COMPLEX, MPI_CXX_DOUBLE_COMPLEX, MPI_CXX_LONG_DOUBLE_COMPLEX, MPI_AINT,
              MPI_COUNT, MPI_OFFSET, MPI_FLOAT_INT, MPI_DOUBLE_INT, MPI_LONG_INT, MPI_2INT,
              MPI_SHORT_INT, MPI_LONG_DOUBLE_INT, MPI_CHARACTER, MPI_LOGICAL, MPI_INTEGER, MPI_REAL,
              MPI_DOUBLE_PRECISION, MPI_COMPLEX, MPI_DOUBLE_COMPLEX, MPI_2INTEGER, MPI_2REAL,
              MPI_2DOUBLE_PRECISION, MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8,
              MPI_REAL4, MPI_REAL8, MPI_COMPLEX8, MPI_COMPLEX16)
CD_PREDEFINED(operation, MPI_Op, MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN, MPI_LAND, MPI_BAND, MPI_LOR,
              MPI_BOR, MPI_LXOR, MPI_BXOR, MPI_MAXLOC, MPI_MINLOC, MPI_NO_OP, MPI_REPLACE)
CD_PREDEFINED(comm, MPI_Comm, MPI_COMM_WORLD, MPI_COMM_SELF, MPI_COMM_NULL)
CD_PREDEFINED(rank, int, MPI_ANY_SOURCE, MPI_PROC_NULL, MPI_ROOT)
CD_PREDEFINED(tag, int, MPI_ANY_TAG)

#undef CD_PREDEFINED

// The role of a word of an entry. Unknown for words that a handler adds to those of the arguments.
struct Meaning {
    bool known = false;
    Role role = Role::value;
};

Meaning meaning_of(Fn fn, int word) {
    int before = 0;
    for (const Role role : roles_of(fn)) {
        if (is_compared(role) || role == Role::inout || role == Role::handle ||
            role == Role::freed_type) {
            if (before++ == word) {
                return {true, role};
            }
        }
    }
    return {};
}

bool moves_data(Fn fn) {
    return std::ranges::any_of(
        roles_of(fn), [](Role role) { return role == Role::send_buf || role == Role::recv_buf; });
}

std::string number(uint64_t word) {
    char text[32];
    const auto value = static_cast<int64_t>(word);
    std::snprintf(text, sizeof text, value > -65536 && value < 65536 ? "%ld" : "%#lx",
                  static_cast<long>(value));
    return text;
}

std::string named(const char *name, const char *otherwise, uint64_t word) {
    return name != nullptr ? name : otherwise + number(word);
}

std::string text_of(Fn fn, int index, uint64_t word) {
    const Meaning meaning = meaning_of(fn, index);
    if (!meaning.known) {
        return (moves_data(fn) ? "checksum " : "") + number(word);
    }
    switch (meaning.role) {
    case Role::send_type:
    case Role::recv_type:
    case Role::both_type:
    case Role::type:
    case Role::freed_type:
        return named(name_of_type(word), "type ", word);
    case Role::comm:
        return named(name_of_comm(word), "communicator ", word);
    case Role::value:
    case Role::operation:
        return named(name_of_operation(word), "", word);
    case Role::peer:
    case Role::target:
        return named(name_of_rank(word), "rank ", word);
    case Role::root:
        return named(name_of_rank(word), "root ", word);
    case Role::tag:
        return named(name_of_tag(word), "tag ", word);
    default:
        return number(word);
    }
}

std::string name_given_to(MPI_Comm comm) {
    if (EndedConnections::has(comm)) {
        return "";
    }
    const ReentryGuard inside;
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length = 0;
    real<Fn::MPI_Comm_get_name>(comm, name, &length);
    return name;
}

// Writes a call as a person reads it: its name and what of it is compared. Does not ask MPI.
std::string text_of(Fn fn, const uint64_t *words, int count) {
    std::string text = name_of(fn);
    text += '(';
    for (int i = 0; i < count; ++i) {
        text += (i > 0 ? ", " : "") + text_of(fn, i, words[i]);
    }
    return text + ')';
}

// True if two calls of a function differ in nothing but checksums of data.
bool differ_in_data(Fn fn, const uint64_t *words, const uint64_t *others, int count) {
    if (!moves_data(fn)) {
        return false;
    }
    bool data = false;
    for (int i = 0; i < count; ++i) {
        if (words[i] != others[i]) {
            if (meaning_of(fn, i).known) {
                return false;
            }
            data = true;
        }
    }
    return data;
}

// Names of the communicators in `words`, one a line. MPI ends the program if a handle is none.
std::string names_of_comms(Fn fn, const uint64_t *words, int count) {
    std::string text;
    for (int i = 0; i < count; ++i) {
        const Meaning meaning = meaning_of(fn, i);
        if (!meaning.known || meaning.role != Role::comm || name_of_comm(words[i]) != nullptr) {
            continue;
        }
        MPI_Comm comm = MPI_COMM_NULL;
        std::memcpy(&comm, &words[i], sizeof comm);
        if (const std::string name = name_given_to(comm); !name.empty()) {
            text += "  communicator " + number(words[i]) + " is \"" + name + "\"\n";
        }
    }
    return text;
}

bool aborts_on_divergence() {
    return choice_in("CD_ON_DIVERGENCE", {"error", "abort"}).value_or(0) == 1;
}

// Returns MPI_COMM_WORLD. A program that has sessions only has none; then errors that concern no
// communicator of the program are returned.
MPI_Comm world_comm() { return MpiLifetime::has_world() ? MPI_COMM_WORLD : own_comm(); }

// Writes an address as debuggers and addr2line take it: symbol, or file and offset.
std::string place_in_program(const void *site) {
    Dl_info info = {};
    char text[512];
    if (dladdr(site, &info) == 0 || info.dli_fname == nullptr) {
        std::snprintf(text, sizeof text, "%p", site);
        return text;
    }
    const auto offset = [&](const void *base) {
        return static_cast<size_t>(static_cast<const char *>(site) -
                                   static_cast<const char *>(base));
    };
    if (info.dli_sname != nullptr) {
        std::snprintf(text, sizeof text, "%s+%#zx (%s+%#zx)", info.dli_sname,
                      offset(info.dli_saddr), info.dli_fname, offset(info.dli_fbase));
    } else {
        std::snprintf(text, sizeof text, "%s+%#zx", info.dli_fname, offset(info.dli_fbase));
    }
    return text;
}

const char *consequence_of(bool aborts) { return aborts ? "aborting, as asked" : "the call fails"; }

// Waits, since the job usually ends next, and MPICH's launcher drops output that it has not read.
void let_it_be_read() { std::this_thread::sleep_for(std::chrono::milliseconds(100)); }

// Aborts if CD_ON_DIVERGENCE asks for it. Otherwise fails the call.
int fail_call(const Call &call, bool aborts) {
    let_it_be_read();
    if (aborts) {
        real<Fn::MPI_Abort>(world_comm(), MPI_ERR_OTHER);
        std::_Exit(MPI_ERR_OTHER); // MPICH 4.2 returns, and has its launcher end the process
    }
    return raise(call.arguments.comm, MPI_ERR_OTHER);
}

thread_local bool must_report_later_failures = false;

bool ends_programs(MPI_Errhandler handler) {
#ifdef MPI_ERRORS_ABORT
    if (handler == MPI_ERRORS_ABORT) {
        return true;
    }
#endif
    return handler == MPI_ERRORS_ARE_FATAL;
}

bool ends_the_program(MPI_Comm comm) {
    const ReentryGuard inside;
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    real<Fn::MPI_Comm_get_errhandler>(comm, &handler);
    const bool is_fatal = ends_programs(handler);
    real<Fn::MPI_Errhandler_free>(&handler);
    return is_fatal;
}

// Returns true if MPI may not know the communicator, and must not be asked about it.
bool is_about_communicator(int error) {
    const ReentryGuard inside;
    int error_class = MPI_SUCCESS;
    real<Fn::MPI_Error_class>(error, &error_class);
    return error_class == MPI_ERR_COMM;
}

// An error of the log ended nothing, so it is not raised where that would end the program, nor on a
// communicator that MPI has ended.
int raise_on_first_that_survives(std::initializer_list<MPI_Comm> comms, int error) {
    for (const MPI_Comm comm : comms) {
        if (may_name(comm, MPI_COMM_NULL) && !EndedConnections::has(comm) &&
            !ends_the_program(comm)) {
            return raise(comm, error);
        }
    }
    return error;
}

} // namespace

int unreadable(const Call &call) {
    char trouble[1024];
    const bool of_file = cd_log_trouble(trouble, sizeof trouble) != 0;
    const bool aborts = aborts_on_divergence();
    std::fprintf(stderr,
                 "pmpi_logger: rank %d: %s cannot be answered from the log: %s; %s\n    at %s\n",
                 MpiLifetime::rank(), name_of(call.fn), of_file ? trouble : "there is no memory",
                 consequence_of(aborts), place_in_program(call.site).c_str());
    return fail_call(call, aborts);
}

int diverged(const Call &call, const EntryHeader &logged, const char *difference) {
    const bool aborts = aborts_on_divergence();
    std::fprintf(stderr,
                 "pmpi_logger: rank %d: the re-execution differs from the log: %s; %s\n"
                 "  the program calls %s\n    at %s\n"
                 "  the log has       %s\n    at %s\n",
                 MpiLifetime::rank(), difference, consequence_of(aborts),
                 text_of(call.fn, call.words, call.word_count).c_str(),
                 place_in_program(call.site).c_str(),
                 text_of(logged.function(), logged.word(), logged.words).c_str(),
                 place_in_program(reinterpret_cast<const void *>(logged.site)).c_str());
    if (logged.function() == call.fn && logged.words == call.word_count &&
        differ_in_data(call.fn, call.words, logged.word(), call.word_count)) {
        std::fputs(
            "  only checksums differ: where that is of sent bytes which mean nothing (gaps of "
            "structs, memory that is not written), start the program with "
            "CD_SENT_DATA=ignore\n",
            stderr);
    }
    // Last, since MPI may end the program when it is asked for the names.
    const std::string logged_comms = names_of_comms(logged.function(), logged.word(), logged.words);
    std::fputs(logged_comms.c_str(), stderr);
    if (const std::string comms = names_of_comms(call.fn, call.words, call.word_count);
        comms != logged_comms) {
        std::fputs(comms.c_str(), stderr);
    }
    // The log has data of another execution from here on.
    cd_log_stop();
    must_report_later_failures = true;
    return fail_call(call, aborts);
}

int fail_after_difference(const Call &call) {
    if (std::exchange(must_report_later_failures, false)) {
        std::fprintf(
            stderr,
            "pmpi_logger: rank %d: %s fails, too, as all calls that the log should answer: "
            "restore the CD, or an ancestor, or delete its log\n    at %s\n",
            MpiLifetime::rank(), name_of(call.fn), place_in_program(call.site).c_str());
    }
    return raise(call.arguments.comm, MPI_ERR_OTHER);
}

int raise(MPI_Comm comm, int error) {
    const bool is_alive = may_name(comm, MPI_COMM_NULL) && !EndedConnections::has(comm);
    const ReentryGuard inside;
    real<Fn::MPI_Comm_call_errhandler>(is_alive ? comm : world_comm(), error);
    return error;
}

int raise_logged(MPI_Comm comm, int error) {
    return is_about_communicator(error) ? raise(comm, error)
                                        : raise_on_first_that_survives({comm, world_comm()}, error);
}

int raise_logged_of_request(MPI_Comm comm, int error) {
    return raises_on_own_communicator ? raise_on_first_that_survives({comm, world_comm()}, error)
                                      : raise_on_first_that_survives({world_comm(), comm}, error);
}

int raise(const Call &call, int error) {
    if (std::strncmp(name_of(call.fn), "MPI_File_", std::strlen("MPI_File_")) != 0) {
        return raise_logged(call.arguments.comm, error);
    }
    MPI_File file = MPI_FILE_NULL;
    if (call.fn != Fn::MPI_File_open && call.fn != Fn::MPI_File_delete) {
        std::memcpy(&file, &call.words[0], sizeof(MPI_File)); // the first argument
    }
    if (file != MPI_FILE_NULL && !LoggedFiles::find_freed(file)) { // MPI knows it
        const ReentryGuard inside;
        real<Fn::MPI_File_call_errhandler>(file, error);
    }
    return error;
}

void report_unanswerable(Fn fn, const void *site, const char *why) {
    std::fprintf(stderr,
                 "pmpi_logger: rank %d: %s cannot be answered in a re-execution: %s; the call "
                 "fails\n    at %s\n",
                 MpiLifetime::rank(), name_of(fn), why, place_in_program(site).c_str());
    let_it_be_read();
}

void report_deleted_log(int requests) {
    std::fprintf(
        stderr,
        "pmpi_logger: rank %d: the program deletes a log in its replay that has the data of "
        "%d request%s: waiting for %s fails. Wait for requests before "
        "delete_MPI_log_from_cd\n",
        MpiLifetime::rank(), requests, requests == 1 ? "" : "s", requests == 1 ? "it" : "them");
}

bool is_predefined_operation(uint64_t word) { return name_of_operation(word) != nullptr; }

void check_on_divergence() { static_cast<void>(aborts_on_divergence()); }

int refuse(Fn fn, const char *reason) {
    std::fprintf(stderr,
                 "pmpi_logger: rank %d: %s cannot be replayed by one rank alone, so a CD that logs "
                 "refuses it: %s. Create the CD with COMM_LOGGING_DISABLED, or call it outside\n",
                 MpiLifetime::rank(), name_of(fn), reason);
    return raise(MPI_COMM_NULL, MPI_ERR_UNSUPPORTED_OPERATION);
}

} // namespace cd::logger
