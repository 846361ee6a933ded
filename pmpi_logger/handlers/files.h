// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/closed_handles.h"
#include "handlers/blocking.h"
#include "handlers/object_state.h"
#include "objects/callback_effects.h"
#include "objects/deferred_free.h"
#include "record_all/record_all.h"
#include "requests/staging.h"

#include <optional>
#include <tuple>
#include <utility>

namespace cd::logger {

// Opens a file, and notes its handles for a replay.
class FileOpen {
public:
    using Of = Arrivals;

    template <Fn F, typename... A> static int call(const void *site, A... a) {
        const bool logs = !passes_through(Logging::mode());
        const int result = Blocking::log<F>(site, a...);
        if (logs && result == MPI_SUCCESS && !RecordAll::records()) {
            opened(*std::get<sizeof...(A) - 1>(std::tuple<A...>(a...)));
        }
        return result;
    }

private:
    static void opened(MPI_File file);
};

// MPI_File_c2f, MPI_File_f2c, also for closed files.
class FileFortranHandle {
public:
    using Of = Arrivals;

    template <Fn F, typename Handle> static auto call(const void *, Handle handle) {
        if constexpr (F == Fn::MPI_File_c2f) {
            const std::optional<LoggedFile> closed = LoggedFiles::find_freed(handle);
            return closed ? closed->in_fortran : call_mpi<F>(handle);
        } else {
            const std::optional<LoggedFile> closed = LoggedFiles::find_freed_in_fortran(handle);
            return closed ? closed->handle : call_mpi<F>(handle);
        }
    }
};

// MPI_File_close: closes the file at once, since the other ranks wait.
class FileClose {
public:
    using Of = Arrivals;

    template <Fn F> static int call(const void *site, MPI_File *file) {
        if (file == nullptr) {
            return call_mpi<F>(file); // which is an error
        }
        if (CallbackEffects::are_of_undo()) {
            *file = MPI_FILE_NULL;
            return MPI_SUCCESS;
        }
        if (passes_through(Logging::mode())) {
            const std::optional<LoggedFile> known = LoggedFiles::find(*file);
            return close<F>(file, known && !known->freed ? known->number : 0);
        }
        if (RecordAll::records()) {
            return Blocking::log<F>(site, file);
        }
        const LoggedFile known = known_as(*file);
        const int result = Blocking::call_by<F>(
            [&](MPI_File *open) { return close<F>(open, known.number); }, site, file);
        const std::optional<cd_log_place> place = last_entry();
        if (known.handle != MPI_FILE_NULL && *file == MPI_FILE_NULL && place) {
            note_freed_at<LoggedFiles>(known, *place);
        }
        return result;
    }

private:
    static LoggedFile known_as(MPI_File file);

    // Forgets the file with this number before another thread can get the handle.
    template <Fn F> static int close(MPI_File *file, int number) {
        LoggedFiles::remove(number);
        return free_object(file, [&] { return call_mpi<F>(file); });
    }
};

// A split collective operation: the first call starts it, the second one ends it. MPI works on a
// copy, since a restore may come between them. A re-execution answers the first call from the log;
// the second one ends what is under way.
struct SplitOperation { // NOLINT(bugprone-exception-escape): as Staging
    Block received;
    Staging staging;
    void *buffer = nullptr; // that MPI has

    // Returns the operation of the file; MPI allows one at a time.
    static SplitOperation &of(MPI_File file);
};

class SplitBegin : public MovesData {
public:
    template <Fn F, typename... A> static int call(const void *site, MPI_File file, A... a) {
        if (ReentryGuard::mpi()) {
            return call_mpi<F>(file, a...);
        }
        using Roles = typename Row<F>::Roles;
        constexpr bool reads = Roles::has(Role::recv_buf);
        constexpr size_t at = Roles::index(reads ? Role::recv_buf : Role::send_buf);
        const int mode = Logging::mode();
        Call call = decode_data<F>(site, file, a...);
        const Block received = reads ? Arrivals::received(call.arguments) : Block();
        if (mode == CD_LOG_REPLAYING) {
            if constexpr (!reads) {
                Blocking::add_checksum_as<F>(call);
            }
            const int result = Blocking::replay(call, false);
            if (result == run_live) {
                return SplitBegin::call<F>(site, file, a...);
            }
            SplitOperation::of(file).received = received; // may lie elsewhere in a re-execution
            return result;
        }
        SplitOperation operation;
        operation.received = received;
        std::tuple<MPI_File, A...> arguments(file, a...);
        auto &buffer = std::get<at>(arguments);
        if (mode == CD_LOG_RECORDING) {
            operation.staging = staging_of(call, reads);
        }
        if (!operation.staging.empty()) {
            if constexpr (reads) {
                buffer = operation.buffer = operation.staging.recv_buf(buffer);
            } else {
                buffer = operation.staging.send_buf(buffer);
                operation.buffer = const_cast<void *>(static_cast<const void *>(buffer));
            }
        }
        SplitOperation::of(file) = std::move(operation);
        return std::apply([&](auto... b) { return Blocking::log<F>(site, b...); }, arguments);
    }

private:
    static Staging staging_of(Call call, bool reads);
};

class SplitEndRead : public MovesData {
public:
    template <Fn F>
    static int call(const void *site, MPI_File file, void *buffer, MPI_Status *status) {
        if (ReentryGuard::mpi()) {
            return call_mpi<F>(file, buffer, status);
        }
        const int mode = Logging::mode();
        const ReentryGuard inside;
        Call call = decode_data<F>(site, file, buffer, status);
        if (mode == CD_LOG_REPLAYING) {
            set_received(call, SplitOperation::of(file).received);
            const int result = Blocking::replay(call, true);
            if (result != run_live) {
                return result;
            }
        }
        const SplitOperation operation = std::exchange(SplitOperation::of(file), {});
        set_received(call, operation.received);
        MPI_Status own = {};
        StatusLoan loan(status, own);
        const int result =
            call_mpi<F>(file, operation.buffer != nullptr ? operation.buffer : buffer, loan.to());
        if (operation.buffer != nullptr && result == MPI_SUCCESS) {
            operation.staging.deliver({Arrivals::received(call.arguments)},
                                      bytes_received(loan.written()));
        }
        if (cd_log_mode() == CD_LOG_RECORDING) {
            Blocking::record(call, result, &loan.written());
        }
        return result;
    }

private:
    static void set_received(Call &call, const Block &known) {
        call.arguments.recv_count = known.count;
        call.arguments.recv_type = known.type;
    }
};

class SplitEndWrite : public MovesData {
public:
    template <Fn F>
    static int call(const void *site, MPI_File file, const void *buffer, MPI_Status *status) {
        if (ReentryGuard::mpi()) {
            return call_mpi<F>(file, const_cast<void *>(buffer), status);
        }
        if (Logging::mode() == CD_LOG_REPLAYING) {
            const ReentryGuard inside;
            const int result = Blocking::replay(decode_data<F>(site, file, buffer, status), true);
            if (result != run_live) {
                return result;
            }
        }
        const SplitOperation operation = std::exchange(SplitOperation::of(file), {});
        const void *const known = operation.buffer != nullptr ? operation.buffer : buffer;
        return Blocking::log<F>(site, file, known, status);
    }
};

} // namespace cd::logger
