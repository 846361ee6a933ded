// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/typed_block.h"
#include "requests/send_copy.h"
#include "rma/byte_diff.h"

#include "cd/mpi_log.h"

#include <cstddef>
#include <cstdint>
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
    bool under_way = true; // MPI works on it; otherwise the log has its end

    Block result;       // the program's buffer for the result; empty if there is none
    Block landing;      // where MPI writes the result; `result` itself without another place
    SendCopy arriving;  // the memory of `landing`, if it has its own
    SendCopy departing; // what MPI reads instead of the program's memory
    SendCopy compared;
    bool reads_program = false; // MPI reads the program's memory after all

    // Copies of types that the program has freed.
    std::vector<MPI_Datatype> own_types;

    bool brings() const { return landing.type != MPI_DATATYPE_NULL; }
    bool writes_program() const { return brings() && landing.address == result.address; }
};

// A window in MPI's separate memory model. The program has its memory; MPI, and so all other ranks,
// have a copy. Both are synchronized where the model says so. What others write appears at calls of
// this rank, where it can be recorded. What they write during a restore or a replay is not lost.
class Window {
public:
    // Makes a window over the program's memory, with a copy for MPI. Returns nullptr if there is no
    // memory.
    static std::unique_ptr<Window> over(void *memory, size_t size);

    // Makes a window over MPI's memory, with memory of its own for the program.
    static std::unique_ptr<Window> beside(void *mpis, size_t size);

    void *memory() const { return memory_; }
    void *copy() const { return copy_; }
    size_t size() const { return size_; }
    bool made_memory() const { return own_memory_ != nullptr; }

    // Notes that the re-execution has the memory elsewhere.
    void move_memory(void *memory) { memory_ = static_cast<std::byte *>(memory); }

    // Copies what the program has stored to MPI's copy.
    void publish();

    // Copies what others have written to the program's memory. Adds the changed runs.
    void acquire(Runs &changed);

    // Notes that MPI has freed the window. Keeps the program's memory.
    void mpi_is_done();
    bool is_freed() const { return freed_; }

    // Translates an address in the program's memory to the copy. Returns nullptr if the bytes do
    // not lie in the window.
    void *in_copy(const void *first, size_t bytes) const;

    // True if memory of the program is attached to it, which others change in place.
    bool is_exposed = false;

    // Keeps the copy of a completed request that MPI may still read, until a synchronization ends
    // it at its target.
    void keep(int target, SendCopy &&sent);
    template <typename Concluded> void release(const Concluded &concluded) {
        const std::scoped_lock lock(mutex_);
        std::erase_if(kept_, [&](const Kept &one) { return concluded(one.target); });
    }

    // Accesses that no synchronization has ended.
    std::vector<Access> accesses;
    // Reserves memory, so that one access can be added without allocating.
    void reserve_room() {
        if (accesses.size() == accesses.capacity()) {
            accesses.reserve(2 * accesses.size() + 1);
        }
    }
    Access *find(uint64_t id);

    uint64_t number = 0;
    cd_log_place made = {}; // the entry that makes it
    MPI_Win handle = MPI_WIN_NULL;
    MPI_Fint in_fortran = 0;          // the handle in Fortran
    std::map<int, void *> attributes; // of a freed window, by key, as a re-execution sets them
    // The interval in which the whole memory has been recorded.
    uint64_t recorded_in = 0;

private:
    using Memory = std::unique_ptr<std::byte[]>;
    static Memory make_memory(size_t size);
    // Copies the first contents to the `other` memory. Returns false if there is no memory.
    bool begins_with(const std::byte *contents, std::byte *other);
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
    Memory agreed_; // what both held at the last synchronization
    bool freed_ = false;
    std::vector<Kept> kept_;
};

} // namespace cd::logger
