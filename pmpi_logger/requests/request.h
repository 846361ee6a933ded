// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/typed_block.h"
#include "requests/send_copy.h"
#include "requests/staging.h"

#include "cd/mpi_log.h"

#include <cstdint>
#include <memory>
#include <mpi.h>
#include <vector>

namespace cd::logger {

struct OwnType;

// The purpose of a request.
struct Purpose { // NOLINT(bugprone-exception-escape): moving it throws nothing
    enum class Kind : uint8_t {
        send,
        receive,  // can be cancelled and posted again
        matched,  // receives what has been found already: can only be waited for
        exchange, // sends and receives; MPICH does not report how much
        collective,
        file,
        partitioned, // the program says, or asks, which parts are done
        generalized  // the program completes it
    };

    Kind kind = Kind::send;
    bool persistent = false;

    Blocks arrivals;   // where data arrive
    Blocks departures; // a persistent send's data
    Blocks parts;      // of a partitioned one, in a row
    int partitions = 1;

    // The communicator on which a receive may be posted again, or a persistent request made, unless
    // it is gone.
    MPI_Comm comm = MPI_COMM_NULL;
    // For a receive or a persistent send.
    int peer = 0;
    int tag = 0;
};

// The state of a request, apart from memory that it holds.
struct Use {
    enum class State : uint8_t {
        inactive,        // a persistent one between two uses
        active,          // MPI works on it
        cancelled,       // by a restore: the re-execution will post it
        completed_early, // before a restore, which kept the data for the re-execution
        replayed         // its completion stands in the log; MPI knows nothing of it
    };

    size_t index = 0; // among all tracked requests

    State state = State::active;
    bool freed = false;         // by the program, before it was complete
    cd_log_place freed_at = {}; // the entry of that, if a log has one
    // The thread in which MPI may complete it and reuse its handle; 0: none.
    uint64_t ending_in = 0;

    MPI_Request handle = MPI_REQUEST_NULL;   // that the program holds
    MPI_Request stand_in = MPI_REQUEST_NULL; // that MPI has to be asked for instead, if any
    // A persistent one with other buffers that stands for the handle of the first.
    MPI_Request made_anew = MPI_REQUEST_NULL;

    uint64_t thread = 0;     // that started it
    uint64_t order = 0;      // later starts have greater numbers
    cd_log_place place = {}; // where its start stands in a log, if it has an id
    uint64_t id = 0;         // of the start; 0 if not logged

    // True if MPI_Request_get_status reported it complete. The program has the data since then.
    bool reported = false;

    // For a read of another rank's window, which a synchronization also completes.
    MPI_Win window = MPI_WIN_NULL;
    int target = 0;

    // The use of a persistent request that a restore has set aside, by the number of its start. It
    // is cancelled, completed early or under way, while the re-execution comes to the uses before
    // it.
    uint64_t suspended_id = 0;
    State suspended = State::inactive;

    // For a request that completed early.
    MPI_Status status = {};
    int error = MPI_SUCCESS; // the result of waiting for it, or for its stand-in
};

// Describes an MPI request beyond what MPI reports: where its data arrive, and whether and where a
// log has its start.
struct Request : Purpose, Use {
    SendCopy send_copy; // the buffer of a send
    Staging staging;    // the buffers of all others
    // Which parts of a partitioned one the program has got, and which it has made ready: in this
    // execution, or in one before.
    std::vector<bool> parts_delivered;
    enum class Ready : uint8_t { no, said, said_before };
    std::vector<Ready> parts_ready;
    std::vector<std::byte> data;                           // of one that completed early
    std::vector<std::shared_ptr<const OwnType>> own_types; // copies of types that were freed

    bool logged() const { return id != 0; }

    // Makes it as new. Requests come and go in every exchange, and constructing one anew would
    // write all of it.
    void clear();

    // Returns true if MPI uses none of the program's memory.
    bool is_apart() const { return !send_copy.empty() || !staging.empty(); }

    MPI_Request known_to_mpi() const {
        return stand_in != MPI_REQUEST_NULL    ? stand_in
               : made_anew != MPI_REQUEST_NULL ? made_anew
                                               : handle;
    }
};

// Returns true if the request was complete when the call that started it returned. MPI then returns
// one handle for many requests at the same time.
bool complete_from_start(MPI_Request request);

} // namespace cd::logger
