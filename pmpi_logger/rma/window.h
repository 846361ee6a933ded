// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/block.h"
#include "requests/send_copy.h"
#include "rma/byte_diff.h"

#include "cd/mpi_log.h"

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mpi.h>
#include <mutex>
#include <vector>

namespace cd::logger {

// An operation on a window that this rank has begun and no synchronization has ended.
struct Access {
    uint64_t id = 0;         // of the call in a log; 0 if no log has it
    cd_log_place place = {}; // of the call, if it has an id
    int target = 0;
    bool under_way = true; // MPI works on it; else the log has its end

    Block result;       // where the program wants what it brings; empty if that is nothing
    Block landing;      // where MPI writes it; the result itself if there was no other place
    SendCopy arriving;  // the landing's memory, if it has one of its own
    SendCopy departing; // what MPI reads instead of the program's memory
    SendCopy compared;
    bool reads_program = false; // MPI reads the program's memory after all

    // Types that the program has freed; these are copies of them.
    std::vector<MPI_Datatype> own_types;

    bool brings() const { return landing.type != MPI_DATATYPE_NULL; }
    bool writes_program() const { return brings() && landing.address == result.address; }
};

// Of a window that MPI has freed, by a re-execution.
struct SetAttribute {
    void *value = nullptr; // as C gets it
    MPI_Aint number = 0;   // as Fortran has set it: then the value is where this is
    cd_log_place at = {};  // where the log has that
    bool is_there = true;  // else it is deleted there

    MPI_Aint in_fortran() const {
        return value == &number ? number : reinterpret_cast<MPI_Aint>(value);
    }
};

// A window in MPI's separate memory model: the program has its memory, and MPI, hence all other
// ranks, a copy of it. They are brought together where the model says so. So what others write
// shows up at calls of this rank, where it can be recorded; and what they write while the program's
// memory is restored, or goes through a replay, is not lost.
class Window {
public:
    // A window over the program's memory, with a copy of its own for MPI. nullptr if there is no
    // memory for that.
    static std::unique_ptr<Window> over(void *memory, size_t size);

    // A window over MPI's memory, with memory of its own for the program.
    static std::unique_ptr<Window> beside(void *mpis, size_t size);

    // A window that MPI has freed, for a replay.
    static std::unique_ptr<Window> gone(void *memory, size_t size);

    void *memory() const { return memory_; }
    void *copy() const { return copy_; }
    size_t size() const { return size_; }
    bool made_memory() const { return own_memory_ != nullptr; }

    // The re-execution has the memory elsewhere.
    void move_memory(void *memory) { memory_ = static_cast<std::byte *>(memory); }

    // What the program has stored goes to the copy.
    void publish();

    // What others have written goes to the program's memory. Adds where that is.
    void acquire(Runs &changed);

    // MPI has freed the window. Keeps the program's memory.
    void mpi_is_done();
    bool is_gone() const { return gone_; }

    // The place of the copy that belongs to one in the program's memory; nullptr if the bytes do
    // not lie in there.
    void *in_copy(const void *first, size_t bytes) const;

    // Memory of the program is attached to it, which others change where it lies.
    bool is_exposed = false;

    // MPI has the program's memory itself, or its own: known only since it is freed.
    bool is_mpis = false;

    // MPI may still read what a request has sent that is complete, until a synchronization ends it
    // at its target.
    void keep(int target, SendCopy &&sent);
    template <typename Concluded> void let_go(const Concluded &concluded) {
        const std::scoped_lock lock(mutex_);
        std::erase_if(kept_, [&](const Kept &one) { return concluded(one.target); });
    }

    // Until a synchronization ends them.
    std::vector<Access> accesses;
    // So that one more can be added without taking memory.
    void reserve_room() {
        if (accesses.size() == accesses.capacity()) {
            accesses.reserve(2 * accesses.size() + 1);
        }
    }
    Access *find(uint64_t id);

    uint64_t number = 0;
    cd_log_place made = {}; // where a log says so
    MPI_Win handle = MPI_WIN_NULL;
    MPI_Fint in_fortran = 0;                           // the handle there
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;      // of one that is gone, if it is known
    std::map<int, std::list<SetAttribute>> attributes; // of one that is gone, by key
    // The interval in which the whole memory has been recorded.
    uint64_t recorded_in = 0;

private:
    using Memory = std::unique_ptr<std::byte[]>;
    static Memory make_memory(size_t size);
    static void copy_runs(const Runs &runs, const std::byte *from, std::byte *to);

    struct Kept {
        int target = 0;
        SendCopy sent;
    };

    mutable std::mutex mutex_;
    size_t size_ = 0;
    std::byte *memory_ = nullptr;
    std::byte *copy_ = nullptr;
    Memory own_memory_;
    Memory own_copy_;
    Memory agreed_; // what both had when they were brought together
    bool gone_ = false;
    std::vector<Kept> kept_;
};

} // namespace cd::logger
