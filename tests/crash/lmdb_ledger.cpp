// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "lmdb_ledger.h"

#include "model.h"

#include <climits>
#include <cstring>
#include <stdexcept>

namespace crash {
namespace {

void need(int result) {
    if (result != 0) {
        throw std::runtime_error(mdb_strerror(result));
    }
}

MDB_val value_of(void *at, size_t length) { return {length, at}; }

} // namespace

LmdbLedger::LmdbLedger(const std::string &folder) {
    need(mdb_env_create(&environment_));
    need(mdb_env_set_maxdbs(environment_, 3));
    need(mdb_env_set_mapsize(environment_, size_t{16} << 20));
    need(mdb_env_open(environment_, folder.c_str(), MDB_NOSYNC, 0600));
    begin();
    need(mdb_dbi_open(transaction_, "cds", MDB_CREATE | MDB_INTEGERKEY, &cds_));
    need(mdb_dbi_open(transaction_, "blocks", MDB_CREATE | MDB_INTEGERKEY, &blocks_));
    need(mdb_dbi_open(transaction_, "files", MDB_CREATE | MDB_INTEGERKEY, &files_));
    commit();
}

LmdbLedger::~LmdbLedger() { mdb_env_close(environment_); }

void LmdbLedger::begin() { need(mdb_txn_begin(environment_, nullptr, 0, &transaction_)); }

void LmdbLedger::commit() { need(mdb_txn_commit(transaction_)); }

template <typename Value> bool LmdbLedger::get(MDB_dbi table, uint64_t key, Value &value) {
    MDB_val name = value_of(&key, sizeof key);
    MDB_val found = {};
    const int result = mdb_get(transaction_, table, &name, &found);
    if (result == MDB_NOTFOUND) {
        return false;
    }
    need(result);
    std::memcpy(&value, found.mv_data, sizeof value);
    return true;
}

template <typename Value> void LmdbLedger::put(MDB_dbi table, uint64_t key, const Value &value) {
    MDB_val name = value_of(&key, sizeof key);
    Value copy = value;
    MDB_val data = value_of(&copy, sizeof copy);
    need(mdb_put(transaction_, table, &name, &data, 0));
}

void LmdbLedger::erase(MDB_dbi table, uint64_t key) {
    MDB_val name = value_of(&key, sizeof key);
    const int result = mdb_del(transaction_, table, &name, nullptr);
    need(result == MDB_NOTFOUND ? 0 : result);
}

std::vector<int> LmdbLedger::cds() {
    std::vector<int> found;
    MDB_cursor *cursor = nullptr;
    need(mdb_cursor_open(transaction_, cds_, &cursor));
    MDB_val name = {};
    MDB_val value = {};
    while (mdb_cursor_get(cursor, &name, &value, MDB_NEXT) == 0) {
        uint64_t key = 0;
        std::memcpy(&key, name.mv_data, sizeof key);
        found.push_back(static_cast<int>(key >> 16));
    }
    mdb_cursor_close(cursor);
    return found;
}

uint64_t LmdbLedger::key(int cd, int block) {
    return static_cast<uint64_t>(cd) << 16 | static_cast<uint64_t>(block);
}

void LmdbLedger::apply(const model::Step &step) {
    if (step.op == model::Op::write) {
        for (int i = 0; i < step.length; ++i) {
            memory_[static_cast<size_t>(step.offset + i)] = model::written_byte(step, i);
        }
        return;
    }
    if (step.op == model::Op::seek) {
        positions_[static_cast<size_t>(step.slot)] = step.value;
        return;
    }
    begin();
    const int cd = step.target.id;
    Cd found;
    switch (step.op) {
    case model::Op::create:
        create(step);
        break;
    case model::Op::add_copy:
        add(step, 0);
        break;
    case model::Op::add_parent:
        add(step, 1);
        break;
    case model::Op::add_regen:
        add(step, 2);
        break;
    case model::Op::add_file:
        give_file(cd, step.slot, positions_[static_cast<size_t>(step.slot)]);
        break;
    case model::Op::delete_file:
        erase(files_, key(cd, step.slot));
        break;
    case model::Op::remove:
        remove(step);
        break;
    case model::Op::advance:
        advance(cd);
        break;
    case model::Op::commit:
        get(cds_, key(cd, 0), found);
        if (found.parent >= 0) {
            give_to_parent(cd);
        }
        discard(cd);
        break;
    case model::Op::restore:
        restore(cd);
        break;
    default:
        throw std::runtime_error("no step for a store");
    }
    commit();
}

void LmdbLedger::create(const model::Step &step) {
    Cd made;
    made.parent = -1;
    if (step.target.kind != model::Handle::null) {
        Cd parent;
        get(cds_, key(step.target.id, 0), parent);
        made.parent = step.target.id;
        made.depth = parent.depth + 1;
        bool taken = true;
        for (made.sibling = -1; taken;) {
            ++made.sibling;
            taken = false;
            for (const int other : cds()) {
                Cd cd;
                get(cds_, key(other, 0), cd);
                taken |= cd.parent == made.parent && cd.sibling == made.sibling;
            }
        }
    }
    put(cds_, key(step.id, 0), made);
}

void LmdbLedger::add(const model::Step &step, int32_t restoration) {
    for (const model::Element &element : step.list) {
        for (int at = element.offset; at < element.offset + element.length; ++at) {
            const uint64_t name = key(step.target.id, at);
            Block block;
            const bool held = get(blocks_, name, block);
            if (!held) {
                block.constrained = element.scope == CD_CONSTRAINED ? 1 : 0;
            }
            if (!held || block.restoration != restoration) {
                block.data = memory_[static_cast<size_t>(at)];
            }
            block.restoration = restoration;
            block.read_write = element.access == CD_READ_WRITE ? 1 : 0;
            put(blocks_, name, block);
        }
    }
}

void LmdbLedger::remove(const model::Step &step) {
    for (const model::Element &element : step.list) {
        for (int at = element.offset; at < element.offset + element.length; ++at) {
            erase(blocks_, key(step.target.id, at));
        }
    }
}

// The position that a CD has already stays.
void LmdbLedger::give_file(int cd, int slot, int64_t position) {
    int64_t older = 0;
    if (!get(files_, key(cd, slot), older)) {
        put(files_, key(cd, slot), position);
    }
}

void LmdbLedger::give_to_parent(int cd) {
    Cd child;
    get(cds_, key(cd, 0), child);
    for (int slot = 0; slot < model::slot_count; ++slot) {
        int64_t position = 0;
        if (get(files_, key(cd, slot), position)) {
            give_file(child.parent, slot, position);
        }
    }
    for (int at = 0; at < model::arena_size; ++at) {
        Block own;
        Block parents;
        if (!get(blocks_, key(cd, at), own)) {
            continue;
        }
        if (!get(blocks_, key(child.parent, at), parents) && own.constrained == 0) {
            put(blocks_, key(child.parent, at), own);
        } else if (own.read_write != 0) {
            promote(child.parent, at);
        }
    }
}

void LmdbLedger::promote(int lowest, int block) {
    for (int cd = lowest; cd >= 0;) {
        Block held;
        if (get(blocks_, key(cd, block), held) && held.restoration != 2) {
            held.read_write = 1;
            put(blocks_, key(cd, block), held);
            return;
        }
        Cd holder;
        get(cds_, key(cd, 0), holder);
        cd = holder.parent;
    }
}

void LmdbLedger::advance(int cd) {
    Cd advanced;
    get(cds_, key(cd, 0), advanced);
    if (advanced.parent >= 0) {
        give_to_parent(cd);
    }
    ++advanced.epoch;
    put(cds_, key(cd, 0), advanced);
    for (int slot = 0; slot < model::slot_count; ++slot) {
        int64_t position = 0;
        if (get(files_, key(cd, slot), position)) {
            put(files_, key(cd, slot), positions_[static_cast<size_t>(slot)]);
        }
    }
    for (int at = 0; at < model::arena_size; ++at) {
        Block block;
        if (!get(blocks_, key(cd, at), block) || block.read_write == 0) {
            continue;
        }
        block.data = block.restoration == 0 ? memory_[static_cast<size_t>(at)] : block.data;
        block.read_write = 0;
        put(blocks_, key(cd, at), block);
    }
}

bool LmdbLedger::is_below(int cd, int top) {
    Cd found;
    while (cd != top && get(cds_, key(cd, 0), found)) {
        cd = found.parent;
        if (cd < 0) {
            return false;
        }
    }
    return cd == top;
}

// Of all that hold a block the highest counts, and of these the oldest; but what is CONSTRAINED,
// for its own CD only.
void LmdbLedger::restore(int top) {
    for (int at = 0; at < model::arena_size; ++at) {
        int oldest = -1;
        Cd oldest_cd;
        for (const int id : cds()) {
            Cd cd;
            Block block;
            get(cds_, key(id, 0), cd);
            if (is_below(id, top) && get(blocks_, key(id, at), block) &&
                (id == top || block.constrained == 0) &&
                (oldest < 0 || cd.depth < oldest_cd.depth)) {
                oldest = id;
                oldest_cd = cd;
            }
        }
        for (int from = oldest; from >= 0;) {
            Block block;
            Cd cd;
            get(cds_, key(from, 0), cd);
            const bool holds = get(blocks_, key(from, at), block);
            if (holds && block.restoration == 2 && from == oldest) {
                memory_[static_cast<size_t>(at)] = model::regenerated(0, at, 0);
                break;
            }
            if (holds && block.restoration == 0) {
                memory_[static_cast<size_t>(at)] = block.data;
                break;
            }
            from = cd.parent;
        }
    }
    restore_positions(top);
    std::vector<int> below;
    for (const int id : cds()) {
        if (id != top && is_below(id, top)) {
            below.push_back(id);
        }
    }
    for (const int id : below) {
        discard(id);
    }
}

// Of all that hold a file the highest counts, and of these the oldest.
void LmdbLedger::restore_positions(int top) {
    for (int slot = 0; slot < model::slot_count; ++slot) {
        int lowest_depth = INT_MAX;
        for (const int id : cds()) {
            Cd cd;
            int64_t position = 0;
            get(cds_, key(id, 0), cd);
            if (is_below(id, top) && get(files_, key(id, slot), position) &&
                cd.depth < lowest_depth) {
                lowest_depth = cd.depth;
                positions_[static_cast<size_t>(slot)] = position;
            }
        }
    }
}

void LmdbLedger::discard(int cd) {
    for (int slot = 0; slot < model::slot_count; ++slot) {
        erase(files_, key(cd, slot));
    }
    for (int at = 0; at < model::arena_size; ++at) {
        erase(blocks_, key(cd, at));
    }
    erase(cds_, key(cd, 0));
}

Stored LmdbLedger::stored() {
    Stored stored = nothing_stored();
    begin();
    for (const int id : cds()) {
        Cd cd;
        get(cds_, key(id, 0), cd);
        StoredContents contents;
        contents.epoch = cd.epoch;
        bool any = false;
        for (int at = 0; at < model::arena_size; ++at) {
            Block block;
            if (get(blocks_, key(id, at), block)) {
                any = true;
                contents.bytes[static_cast<size_t>(at)] = {
                    true, block.read_write != 0, block.constrained != 0, block.restoration,
                    block.restoration == 0 ? block.data : uint8_t{0}};
            }
        }
        for (int slot = 0; slot < model::slot_count; ++slot) {
            int64_t position = 0;
            if (get(files_, key(id, slot), position)) {
                any = true;
                contents.files[slot] = position;
            }
        }
        Stored::Place place;
        for (int from = id; cd.parent >= 0; from = cd.parent, get(cds_, key(from, 0), cd)) {
            place.insert(place.begin(), cd.sibling);
        }
        if (any || place.empty()) {
            stored.cds[place] = contents;
        }
    }
    mdb_txn_abort(transaction_);
    return stored;
}

} // namespace crash
