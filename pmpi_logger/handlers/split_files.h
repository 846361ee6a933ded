// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "handlers/blocking.h"
#include "requests/staging.h"

namespace cd::logger {

// Reading or writing a file in two calls, of which only the first knows the data. Between them MPI
// works on a copy, since a restore may come there: then the re-execution makes the first call from
// the log, and the second one ends what is under way.
struct SplitOperation { // NOLINT(bugprone-exception-escape): as Staging
    Block received;
    Staging staging;
    void *buffer = nullptr; // that MPI has

    // Which of a file; MPI allows one at a time.
    static void begins(MPI_File file, SplitOperation &&operation);
    static void moves(MPI_File file, const Block &received); // in a re-execution
    static SplitOperation ends(MPI_File file);
    static Block received_by(MPI_File file);
};

class BeginsSplit : public MovesData {
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
                return BeginsSplit::call<F>(site, file, a...);
            }
            SplitOperation::moves(file, received);
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
        SplitOperation::begins(file, std::move(operation));
        return std::apply([&](auto... b) { return Blocking::log<F>(site, b...); }, arguments);
    }

private:
    static Staging staging_of(Call call, bool reads);
};

class EndsSplitRead : public MovesData {
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
            set_received(call, SplitOperation::received_by(file));
            const int result = Blocking::replay(call, true);
            if (result != run_live) {
                return result;
            }
        }
        const SplitOperation operation = SplitOperation::ends(file);
        set_received(call, operation.received);
        MPI_Status own = {};
        StatusLoan loan(status, own);
        const int result =
            call_mpi<F>(file, operation.buffer != nullptr ? operation.buffer : buffer, loan.to());
        if (operation.buffer != nullptr && result == MPI_SUCCESS) {
            operation.staging.deliver({Arrivals::received(call.arguments)},
                                      bytes_received(loan.written()));
        }
        const bool error_written = loan.settle();
        if (cd_log_mode() == CD_LOG_RECORDING) {
            Blocking::record(call, result, &loan.written(), error_written);
        }
        return result;
    }

private:
    static void set_received(Call &call, const Block &known) {
        call.arguments.recv_count = known.count;
        call.arguments.recv_type = known.type;
    }
};

class EndsSplitWrite : public MovesData {
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
        const SplitOperation operation = SplitOperation::ends(file);
        const void *const known = operation.buffer != nullptr ? operation.buffer : buffer;
        return Blocking::log<F>(site, file, known, status);
    }
};

} // namespace cd::logger
