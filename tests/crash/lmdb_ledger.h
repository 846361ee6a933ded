// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "step.h"
#include "stored.h"

#include <lmdb.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace crash {

// What a store holds, kept by another store: LMDB has a record for each block of each CD, and each
// step of a program is a transaction. Shares no code with the model.
class LmdbLedger {
public:
    explicit LmdbLedger(const std::string &folder);
    ~LmdbLedger();
    LmdbLedger(const LmdbLedger &) = delete;
    LmdbLedger &operator=(const LmdbLedger &) = delete;

    // Memory as a program's steps leave it.
    using Memory = std::array<uint8_t, model::arena_size>;
    const Memory &memory() const { return memory_; }

    void apply(const model::Step &step);
    Stored stored();

private:
    struct Cd {
        int32_t parent = 0; // -1: it is a root
        int32_t sibling = 0;
        int32_t depth = 0;
        uint64_t epoch = 0;
    };
    struct Block {
        int32_t restoration = 0; // 0 COPY, 1 PARENT, 2 REGEN
        uint8_t read_write = 0;
        uint8_t constrained = 0;
        uint8_t data = 0;
        uint8_t unused = 0;
    };

    void begin();
    void commit();
    template <typename Value> bool get(MDB_dbi table, uint64_t key, Value &value);
    template <typename Value> void put(MDB_dbi table, uint64_t key, const Value &value);
    void erase(MDB_dbi table, uint64_t key);
    std::vector<int> cds(); // in the order of their creation
    static uint64_t key(int cd, int block);

    void create(const model::Step &step);
    void add(const model::Step &step, int32_t restoration);
    void remove(const model::Step &step);
    void give_to_parent(int cd);
    void give_file(int cd, int slot, int64_t position);
    void restore_positions(int top);
    void promote(int lowest, int block);
    void advance(int cd);
    void restore(int cd);
    bool is_below(int cd, int top);
    void discard(int cd);

    MDB_env *environment_ = nullptr;
    MDB_txn *transaction_ = nullptr;
    MDB_dbi cds_ = 0;
    MDB_dbi blocks_ = 0;
    MDB_dbi files_ = 0;                                     // positions
    std::array<int64_t, model::slot_count> positions_ = {}; // of the program's files
    Memory memory_ = {};
};

} // namespace crash
