// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "model.h"

#include <algorithm>

namespace model {
namespace {

// Calls write(offset, value) for each byte in the order of a restore of top. state: what the
// arena's first byte holds at a given time.
template <typename Write, typename State>
void replay_bytes(const Cd &top, const Cd &cd, State state, Write write) {
    const auto for_each = [&](Restoration restoration, const auto &act) {
        for (int offset = 0; offset < arena_size; ++offset) {
            const Byte &byte = cd.bytes[offset];
            if (is_restored(top, cd, byte) && byte.restoration == restoration) {
                act(offset, byte);
            }
        }
    };
    for_each(Restoration::copy, [&](int offset, const Byte &byte) { write(offset, byte.data); });
    for_each(Restoration::parent,
             [&](int offset, const Byte &) { write(offset, parent_copy(cd, offset)->data); });
    for_each(Restoration::regen, [&](int offset, const Byte &byte) {
        write(offset, regenerated(byte.regen, offset, state()));
    });
}

// Same entry, if the two bytes are neighbours.
bool alike(const Byte &a, const Byte &b) {
    return a.held && b.held && a.restoration == b.restoration && a.read_write == b.read_write &&
           a.constrained == b.constrained && a.regen == b.regen && a.origin == b.origin;
}

// What a function regenerates cannot be READ_WRITE, so it is passed over as in a restore.
void promote_nearest_holder(Cd &lowest, int offset) {
    for (Cd *at = &lowest; at != nullptr; at = at->parent) {
        Byte &byte = at->bytes[offset];
        if (byte.held && byte.restoration != Restoration::regen) {
            byte.read_write = true;
            return;
        }
    }
}

bool a_descendant_may_modify(const Cd &cd, int offset) {
    return std::ranges::any_of(cd.children, [offset](const Cd *child) {
        const Byte &byte = child->bytes[offset];
        return (byte.held && byte.read_write) || a_descendant_may_modify(*child, offset);
    });
}

} // namespace

bool is_restored(const Cd &top, const Cd &holder, const Byte &byte) {
    return byte.held && (&holder == &top || !byte.constrained);
}

std::vector<const Cd *> restore_order(const Cd &cd) {
    std::vector<const Cd *> order = {&cd};
    for (size_t i = 0; i < order.size(); ++i) {
        order.insert(order.end(), order[i]->children.begin(), order[i]->children.end());
    }
    std::sort(order.begin(), order.end(), [](const Cd *a, const Cd *b) {
        return a->depth != b->depth ? a->depth > b->depth : a->order > b->order;
    });
    return order;
}

const Byte *parent_copy(const Cd &cd, int offset) {
    for (const Cd *at = cd.parent; at != nullptr; at = at->parent) {
        const Byte &byte = at->bytes[offset];
        if (byte.held && byte.restoration == Restoration::copy) {
            return &byte;
        }
    }
    return nullptr;
}

int free_sibling(const Cd &parent) {
    const auto taken = [&](int index) {
        return std::any_of(parent.children.begin(), parent.children.end(),
                           [&](const Cd *child) { return child->sibling == index; });
    };
    int index = 0;
    while (taken(index)) {
        ++index;
    }
    return index;
}

uint8_t regenerated(int regen, int offset, uint8_t state) {
    if (regen == 1) {
        return static_cast<uint8_t>(state * 3 + offset);
    }
    return static_cast<uint8_t>((regen == 0 ? 0x50 : 0xA0) ^ offset);
}

uint8_t initial_byte(int offset) { return static_cast<uint8_t>(offset * 7 + 1); }

uint8_t written_byte(const Step &step, int index) {
    return static_cast<uint8_t>(step.value + index * 11);
}

std::string log_entry(const Step &step) {
    return std::string(static_cast<size_t>(std::max(step.length, 0)),
                       static_cast<char>(step.value));
}

bool Verdict::allows(cd_error code) const {
    return std::find(allowed.begin(), allowed.end(), code) != allowed.end();
}

Model::Model() {
    for (int offset = 0; offset < arena_size; ++offset) {
        memory_[offset] = initial_byte(offset);
    }
    for (int slot = 0; slot < slot_count; ++slot) {
        descriptors_[slot].file = slot;
    }
}

const Cd *Model::find(int id) const {
    for (const auto &cd : live_) {
        if (cd->id == id) {
            return cd.get();
        }
    }
    return nullptr;
}

const Cd *Model::resolve(const Target &target, cd_error &error) const {
    const Cd *cd = nullptr;
    error = CD_ERROR_INVALID_HANDLE;
    if (target.kind == Handle::by_id) {
        cd = find(target.id);
    }
    if (target.kind == Handle::current) {
        cd = current();
        error = CD_ERROR_NO_CURRENT_CD;
    }
    if (cd != nullptr) {
        error = CD_ERROR_NONE;
    }
    return cd;
}

Cd *Model::target(const Step &step) {
    cd_error error;
    return const_cast<Cd *>(resolve(step.target, error));
}

void Model::apply(const Step &step) {
    switch (step.op) {
    case Op::write:
        for (int i = 0; i < step.length; ++i) {
            memory_[step.offset + i] = written_byte(step, i);
        }
        return;
    case Op::seek:
        descriptors_[step.slot].position = step.value;
        return;
    case Op::close:
        descriptors_[step.slot].open = false;
        return;
    case Op::open:
        descriptors_[step.slot] = {true, step.file, 0};
        return;
    case Op::create:
        create(step);
        return;
    default:
        break;
    }
    Cd &cd = *target(step);
    switch (step.op) {
    case Op::commit:
        if (cd.parent != nullptr) {
            give_to_parent(cd);
            if (cd.stream != cd.parent->stream) {
                cd.stream->end_replay_of(cd.depth);
            }
            cd.stream->end_nested_replays_of(cd.depth);
        }
        discard(cd);
        break;
    case Op::restore:
        restore(cd);
        break;
    case Op::advance:
        advance(cd);
        break;
    case Op::add_copy:
    case Op::add_parent:
    case Op::add_regen:
        add(step, cd);
        break;
    case Op::remove:
        remove(step, cd);
        break;
    case Op::add_file:
        // The first position stays.
        cd.files.insert(
            {step.slot, {descriptors_[step.slot].file, descriptors_[step.slot].position}});
        break;
    case Op::delete_file:
        cd.files.erase(step.slot);
        break;
    case Op::log_add:
    case Op::log_append:
        cd.stream->entries.push_back(log_entry(step));
        cd.stream->cursor = cd.stream->entries.size();
        break;
    case Op::log_get:
    case Op::log_next:
        if (cd.stream->replaying()) {
            ++cd.stream->cursor;
        }
        break;
    case Op::log_delete:
        if (cd.logging) {
            forget_log(cd);
        }
        break;
    default:
        break;
    }
}

void Model::create(const Step &step) {
    auto cd = std::make_unique<Cd>();
    Cd *parent = step.target.kind == Handle::null ? nullptr : target(step);
    cd->id = step.id;
    cd->order = created_++;
    cd->parent = parent;
    if (parent == nullptr) {
        cd->logging = step.logging == COMM_LOGGING_ENABLED;
        cd->root_name = names()[step.name].text;
        cd->root_stream = std::make_unique<Log>();
        cd->stream = cd->root_stream.get();
    } else {
        cd->logging = parent->logging;
        cd->root_name = parent->root_name;
        cd->depth = parent->depth + 1;
        cd->sibling = free_sibling(*parent);
        if (cd->sibling == 0) {
            cd->stream = parent->stream;
        } else {
            auto &own = parent->stream->nested[{cd->depth, cd->sibling}];
            if (own == nullptr) {
                own = std::make_unique<Log>();
            }
            cd->stream = own.get();
        }
        parent->children.push_back(cd.get());
    }
    cd->begin = cd->stream->position(cd->depth);
    active_.push_back(cd.get());
    live_.push_back(std::move(cd));
}

void Model::add(const Step &step, Cd &cd) {
    const Restoration restoration = step.op == Op::add_copy     ? Restoration::copy
                                    : step.op == Op::add_parent ? Restoration::parent
                                                                : Restoration::regen;
    for (int i = 0; i < step.count; ++i) {
        const Element &element = step.list[i];
        const int origin = ++origins_;
        for (int offset = element.offset; offset < element.offset + element.length; ++offset) {
            Byte &byte = cd.bytes[offset];
            if (!byte.held) {
                byte = Byte{};
                byte.held = true;
                byte.constrained = element.scope == CONSTRAINED;
                byte.origin = origin;
                byte.data = memory_[offset];
            } else if (byte.restoration != restoration) {
                byte.data = memory_[offset]; // kept only if it is COPY now
            }
            byte.restoration = restoration;
            byte.read_write = element.access == READ_WRITE;
            byte.regen = restoration == Restoration::regen ? step.regen : -1;
        }
    }
}

void Model::remove(const Step &step, Cd &cd) {
    for (int i = 0; i < step.count; ++i) {
        const Element &element = step.list[i];
        for (int offset = element.offset; offset < element.offset + element.length; ++offset) {
            cd.bytes[offset] = Byte{};
        }
    }
}

void Model::give_to_parent(const Cd &child) {
    Cd &parent = *child.parent;
    for (int offset = 0; offset < arena_size; ++offset) {
        const Byte &byte = child.bytes[offset];
        Byte &older = parent.bytes[offset];
        if (!byte.held) {
            continue;
        }
        if (!older.held && !byte.constrained) {
            older = byte;
        } else if (byte.read_write) {
            promote_nearest_holder(parent, offset);
        }
    }
    parent.files.insert(child.files.begin(), child.files.end());
}

void Model::advance(Cd &cd) {
    if (cd.parent != nullptr) {
        give_to_parent(cd);
    }
    for (int offset = 0; offset < arena_size; ++offset) {
        Byte &byte = cd.bytes[offset];
        if (byte.held && byte.restoration == Restoration::copy && byte.read_write) {
            byte.data = memory_[offset];
        }
        byte.read_write = false;
    }
    for (auto &[slot, record] : cd.files) {
        record.position = descriptors_[slot].position;
    }
    cd.begin = cd.stream->position(cd.depth);
    ++cd.epoch;
}

void Model::restore(Cd &cd) {
    const auto order = restore_order(cd);
    for (const Cd *at : order) {
        replay_bytes(
            cd, *at, [&] { return memory_[0]; },
            [&](int offset, uint8_t value) { memory_[offset] = value; });
    }
    for (const auto &[slot, position] : positions_after_restore(cd)) {
        descriptors_[slot].position = position;
    }
    for (const Cd *at : order) {
        if (at != &cd) {
            discard(const_cast<Cd &>(*at));
        }
    }
    cd.stream->rewind(cd.begin, cd.depth);
}

void Model::discard(Cd &cd) {
    active_.erase(std::find(active_.begin(), active_.end(), &cd));
    if (cd.parent != nullptr) {
        auto &children = cd.parent->children;
        children.erase(std::find(children.begin(), children.end(), &cd));
    }
    live_.erase(std::find_if(live_.begin(), live_.end(),
                             [&](const auto &owned) { return owned.get() == &cd; }));
}

void Model::forget_log(Cd &cd) {
    cd.stream->go_live(cd.depth);
    cd.begin = cd.stream->position(cd.depth);
}

cd_info Model::info(const Cd &cd) const {
    cd_info info{};
    info.depth = cd.depth;
    info.sibling = cd.sibling;
    info.children = static_cast<int>(cd.children.size());
    info.logging = cd.logging;
    info.epoch = cd.epoch;
    info.files = cd.files.size();
    for (int offset = 0; offset < arena_size; ++offset) {
        const Byte &byte = cd.bytes[offset];
        if (!byte.held) {
            continue;
        }
        ++info.bytes;
        if (byte.read_write) {
            ++info.read_write;
        }
        if (byte.restoration == Restoration::copy) {
            ++info.stored_bytes;
        }
        if (offset == 0 || !alike(cd.bytes[offset - 1], byte)) {
            ++info.entries;
        }
    }
    const auto &entries = cd.stream->entries;
    info.replaying = cd.stream->replaying();
    info.log_length = entries.size() - cd.begin.index;
    info.log_remaining = entries.size() - cd.stream->cursor;
    for (size_t i = cd.begin.index; i < entries.size(); ++i) {
        info.log_bytes += entries[i].size();
    }
    return info;
}

std::string Model::name(const Cd &cd) const {
    return "0/" + cd.root_name + "/" + std::to_string(cd.depth) + "/" + std::to_string(cd.sibling);
}

const std::string *Model::next_log_entry(const Cd &cd) const {
    return cd.stream->replaying() ? &cd.stream->entries[cd.stream->cursor] : nullptr;
}

std::vector<RegenCalls> Model::regen_calls(const Cd &cd) const {
    std::vector<RegenCalls> calls;
    for (const Cd *at : restore_order(cd)) {
        RegenCalls of_this;
        for (int offset = 0; offset < arena_size; ++offset) {
            const Byte &byte = at->bytes[offset];
            if (is_restored(cd, *at, byte) && byte.restoration == Restoration::regen) {
                of_this[byte.regen].insert(offset);
            }
        }
        calls.push_back(of_this);
    }
    return calls;
}

std::map<int, uint8_t> Model::verified(const Cd &cd) const {
    std::map<int, uint8_t> data;
    for (int offset = 0; offset < arena_size; ++offset) {
        const Byte &byte = cd.bytes[offset];
        const Byte *source = byte.restoration == Restoration::copy     ? &byte
                             : byte.restoration == Restoration::parent ? parent_copy(cd, offset)
                                                                       : nullptr;
        if (byte.held && !byte.read_write && source != nullptr &&
            !a_descendant_may_modify(cd, offset)) {
            data[offset] = source->data;
        }
    }
    return data;
}

std::set<int> Model::mismatches(const Cd &cd) const {
    std::set<int> offsets;
    for (const auto &[offset, data] : verified(cd)) {
        if (data != memory_[offset]) {
            offsets.insert(offset);
        }
    }
    return offsets;
}

std::vector<std::set<uint8_t>> Model::memory_after_failed_restore(const Cd &cd) const {
    Memory memory = memory_;
    std::vector<std::set<uint8_t>> possible(arena_size);
    for (int offset = 0; offset < arena_size; ++offset) {
        possible[offset] = {memory[offset]};
    }
    for (const Cd *at : restore_order(cd)) {
        replay_bytes(
            cd, *at, [&] { return memory[0]; },
            [&](int offset, uint8_t value) {
                memory[offset] = value;
                possible[offset].insert(value);
            });
    }
    return possible;
}

std::map<int, long> Model::positions_after_restore(const Cd &cd) const {
    std::map<int, long> positions;
    for (const Cd *at : restore_order(cd)) {
        for (const auto &[slot, record] : at->files) {
            positions[slot] = record.position;
        }
    }
    return positions;
}

} // namespace model
