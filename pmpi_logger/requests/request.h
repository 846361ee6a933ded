// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/block.h"
#include "requests/send_copy.h"
#include "requests/staging.h"

#include "cd/mpi_log.h"

#include <cstdint>
#include <functional>
#include <mpi.h>
#include <vector>

namespace cd::logger {

// What a request was made for.
struct Purpose { // NOLINT(bugprone-exception-escape): moving it throws nothing
    enum class Kind : uint8_t {
        send,
        receive,  // can be cancelled and posted again
        matched,  // receives what has been found already: can only be waited for
        exchange, // sends and receives; MPICH does not tell how much
        collective,
        file,
        partitioned, // of which the program says, or asks, which parts are done
        generalized  // the program completes it
    };

    Kind kind = Kind::send;
    bool persistent = false;
    bool makes_comm = false; // whose handle the last of the arrivals is

    Blocks arrivals;   // where data arrive
    Blocks departures; // a persistent send's data
    Blocks parts;      // of a partitioned one, in a row
    int partitions = 1;

    // That a receive may have to be posted on again, and a persistent one made on, unless it is
    // gone.
    MPI_Comm comm = MPI_COMM_NULL;
    // A receive's, and a persistent send's.
    int peer = 0;
    int tag = 0;
};

// What there is to know of an MPI request beyond what MPI tells: where its data arrive, and whether
// and where its start stands in a log.
struct Request : Purpose {
    enum class State : uint8_t {
        inactive,  // a persistent one between two uses
        active,    // MPI works on it
        cancelled, // by a restore: the re-execution will post it
        parked,    // completed before a restore: the re-execution gets the data that are kept here
        replayed   // its completion stands in the log; MPI knows nothing of it
    };

    size_t seat = 0; // among all that are tracked

    State state = State::active;
    bool is_complete = false;   // a generalized one, of which MPI has been told that
    bool freed = false;         // by the program, before it was complete
    cd_log_place freed_at = {}; // where that stands in a log, if it does
    // Once no log has what a re-execution may want it for: a freed one that is persistent, and one
    // that a restore has set aside.
    bool goes_with_log = false;
    // In which thread MPI may be done with it, and give its handle to another one; 0: in none.
    uint64_t ending_in = 0;

    MPI_Request handle = MPI_REQUEST_NULL;   // that the program holds
    MPI_Request stand_in = MPI_REQUEST_NULL; // that MPI has to be asked for instead, if any
    // A persistent one with other buffers under the handle of the first: a re-execution's, or ours.
    MPI_Request made_anew = MPI_REQUEST_NULL;

    uint64_t thread = 0;     // that started it
    uint64_t order = 0;      // later starts have greater numbers
    cd_log_place place = {}; // where its start stands in a log, if it has an id
    uint64_t id = 0;         // of the start; 0 if not logged

    SendCopy shadow; // that a send goes out from
    Staging staging; // that any other one works on
    // What the program has of that already, which it may have changed since: all, or these parts.
    bool delivered = false;
    // When a call that left the request told of that, as cd_log_moment() counts; 0: none has. The
    // memory is the program's again since.
    uint64_t told = 0;
    cd_log_place told_at = {}; // the entry of that, which has what it brought; 0 if none has it
    bool only_in_log = false;  // since a restore only that entry has what it brought
    std::vector<bool> parts_delivered;
    // Of which parts MPI knows that they may go: since this execution has said so, or one before.
    enum class Ready : uint8_t { no, said, said_before };
    std::vector<Ready> parts_ready;

    // Of a read of another rank's window. What ends those also brings the data.
    MPI_Win window = MPI_WIN_NULL;
    int target = 0;

    // Makes a persistent send like this one from another buffer.
    std::function<int(void *buffer, MPI_Datatype type, MPI_Request *made)> make_again;

    // What a restore has set aside of a persistent one: the use that started with this number is
    // cancelled, parked or still under way, while the re-execution goes through those before it.
    uint64_t set_aside_id = 0;
    uint64_t departed = 0; // of a persistent send: the checksum of what its last start has sent
    State set_aside = State::inactive;

    // A parked one's.
    std::vector<std::byte> data;
    MPI_Status status = {};
    int error = MPI_SUCCESS; // that waiting for it returned, or does for what stands in for it

    // Types that the program has freed; these are copies of them.
    std::vector<MPI_Datatype> own_types;

    bool logged() const { return id != 0; }

    // As a new one is, field by field: requests come and go in every exchange, and making one
    // anew, all of which is then written, takes as long as all the rest that is done for it.
    void clear();

    // MPI uses none of the program's memory.
    bool is_apart() const { return !shadow.empty() || !staging.empty(); }

    MPI_Request known_to_mpi() const {
        return stand_in != MPI_REQUEST_NULL    ? stand_in
               : made_anew != MPI_REQUEST_NULL ? made_anew
                                               : handle;
    }
};

// Whether the request was complete when the call that started it returned. MPI then gives a handle
// that is no request's own: many requests have it at the same time.
bool complete_from_start(MPI_Request request);

} // namespace cd::logger
