// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "log_model.h"
#include "step.h"

#include "cd/cd.h"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

// The semantics of containment domains a second time, byte by byte and as simple as possible: no
// ranges, no sharing, no undo. Written from the documents, not from libcd.
namespace model {

enum class Restoration { copy, parent, regen };

// The labels that a CD keeps for one byte of the arena.
struct Byte {
    bool held = false;
    Restoration restoration = Restoration::copy;
    bool read_write = false;
    bool constrained = false;
    int regen = -1;
    int origin = 0; // which element of which add call brought it; keeps entries apart
    uint8_t data = 0;
};

using Memory = std::array<uint8_t, arena_size>;

struct FileRecord {
    int file = 0;
    long position = 0;
};

// A descriptor of the application.
struct Descriptor {
    bool open = true;
    int file = 0;
    long position = 0;
};

struct Cd {
    int id = 0;
    int order = 0; // of creation
    int depth = 0;
    int sibling = 0;
    bool logging = false;
    std::string root_name;
    uint64_t epoch = 0;
    Cd *parent = nullptr;
    std::vector<Cd *> children;
    std::array<Byte, arena_size> bytes;
    std::map<int, FileRecord> files;  // by slot
    std::unique_ptr<Log> root_stream; // only a root's; others are nested in it
    Log *stream = nullptr;
    LogPosition begin;
};

// Returns whether a restore of `top` uses a byte of `holder`; CONSTRAINED ones are its own.
bool is_restored(const Cd &top, const Cd &holder, const Byte &byte);

// A CD's subtree in the order of a restore: deepest first, at one depth the newest first.
std::vector<const Cd *> restore_order(const Cd &cd);

// What a PARENT byte of cd takes its data from: the nearest ancestor that holds it as COPY, or
// null.
const Byte *parent_copy(const Cd &cd, int offset);

// The smallest index that no live child has.
int free_sibling(const Cd &parent);

// The bytes that each regen function of a CD has to write.
using RegenCalls = std::map<int, std::set<int>>;

// How a call may end.
struct Verdict {
    std::vector<cd_error> allowed;
    // The documents do not say what happens here: the step is left out of the program.
    bool undefined = false;

    bool allows(cd_error code) const;
};

class Model {
public:
    Model();

    Verdict judge(const Step &step) const;

    // The step was done and succeeded.
    void apply(const Step &step);

    const Memory &memory() const { return memory_; }
    const Descriptor &descriptor(int slot) const { return descriptors_[slot]; }
    const std::vector<std::unique_ptr<Cd>> &live() const { return live_; }
    const Cd *find(int id) const;
    const Cd *current() const { return active_.empty() ? nullptr : active_.back(); }
    const Cd *resolve(const Target &target, cd_error &error) const;

    cd_info info(const Cd &cd) const;
    std::string name(const Cd &cd) const;

    // The entry that get_MPI_log_from_cd returns next; nullptr at the end.
    const std::string *next_log_entry(const Cd &cd) const;

    // Per CD in the order of a restore.
    std::vector<RegenCalls> regen_calls(const Cd &cd) const;

    // What a restore would write to READ_ONLY bytes that no descendant has as READ_WRITE, and which
    // of them differ from memory.
    std::map<int, uint8_t> verified(const Cd &cd) const;
    std::set<int> mismatches(const Cd &cd) const;

    // Returns the values that each byte may have after a restore that failed in a regen.
    std::vector<std::set<uint8_t>> memory_after_failed_restore(const Cd &cd) const;
    std::map<int, long> positions_after_restore(const Cd &cd) const;
    void adopt(const Memory &memory) { memory_ = memory; }
    void adopt_position(int slot, long position) { descriptors_[slot].position = position; }

private:
    Cd *target(const Step &step);

    void judge_create(const Step &step, std::set<cd_error> &errors) const;
    void judge_call(const Step &step, const Cd &cd, std::set<cd_error> &errors,
                    Verdict &verdict) const;
    void judge_add(const Step &step, const Cd &cd, std::set<cd_error> &errors) const;
    void judge_delete(const Step &step, const Cd &cd, std::set<cd_error> &errors) const;
    void judge_restore(const Step &step, const Cd &cd, std::set<cd_error> &errors,
                       Verdict &verdict) const;
    void judge_file(const Step &step, const Cd &cd, std::set<cd_error> &errors,
                    Verdict &verdict) const;
    void judge_log(const Step &step, const Cd &cd, std::set<cd_error> &errors) const;
    cd_error file_error(int slot, const FileRecord &record) const;

    void create(const Step &step);
    void add(const Step &step, Cd &cd);
    void remove(const Step &step, Cd &cd);
    void give_to_parent(const Cd &child);
    void advance(Cd &cd);
    void restore(Cd &cd);
    void discard(Cd &cd);
    void forget_log(Cd &cd);

    Memory memory_{};
    std::array<Descriptor, slot_count> descriptors_;
    std::vector<std::unique_ptr<Cd>> live_; // in order of creation
    std::vector<Cd *> active_;
    int created_ = 0;
    int origins_ = 0;
};

// Returns the byte that a regen function writes; `state`: the arena's first byte at its call.
uint8_t regenerated(int regen, int offset, uint8_t state);

// Returns the bytes that memory holds at the start, and those that a write step writes.
uint8_t initial_byte(int offset);
uint8_t written_byte(const Step &step, int index);

// A log entry's bytes.
std::string log_entry(const Step &step);

} // namespace model
