// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "entry/writer.h"

#include "payload/copy.h"
#include "replay/complaint.h"
#include "whole_program/whole_program.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <vector>

namespace cd::logger {
namespace {

constinit thread_local EntryHeader *last = nullptr;

} // namespace

// Kept from entry to entry, so that a warm thread allocates nothing. What parts point to does not
// move: packed data have a vector each.
struct EntryWriter::Workspace {
    std::vector<cd_log_part> parts;
    std::deque<std::vector<std::byte>> packed;
    size_t packed_used = 0;
    std::deque<uint64_t> numbers;

    void clear() {
        parts.clear();
        packed_used = 0;
        numbers.clear();
    }
    std::vector<std::byte> &next_packed() {
        if (packed_used == packed.size()) {
            packed.emplace_back();
        }
        std::vector<std::byte> &space = packed[packed_used++];
        space.clear();
        return space;
    }
};

EntryWriter::Workspace &EntryWriter::workspace() {
    thread_local Workspace space;
    space.clear();
    return space;
}

EntryWriter::EntryWriter(const Call &call, int result) : space_(workspace()) {
    header_.fn = static_cast<uint16_t>(call.fn);
    header_.words = static_cast<uint8_t>(call.word_count);
    header_.result = result;
    header_.site = reinterpret_cast<uint64_t>(call.site);
    add(header_);
    add(call.words, sizeof(uint64_t) * static_cast<size_t>(call.word_count));
}

void EntryWriter::add(const void *data, size_t size) {
    if (size > 0) {
        space_.parts.push_back({data, size});
    }
}

void EntryWriter::add_kept(uint64_t number) { add(space_.numbers.emplace_back(number)); }

void EntryWriter::add_outputs(const Call &call) {
    for (int i = 0; i < call.output_count; ++i) {
        const Output &output = call.outputs[i];
        const bool text = output.kind == Output::Kind::text;
        add(output.to, text ? std::strlen(static_cast<const char *>(output.to)) + 1 : output.size);
    }
}

void EntryWriter::add_data(const Blocks &blocks, size_t most) {
    for (const Block &block : blocks) {
        const size_t size = std::min(bytes_in(block), most);
        most = everything;
        add_kept(size);
        const Bytes bytes = view(block, size, space_.next_packed());
        add(bytes.data, bytes.size);
    }
}

EntryHeader *EntryWriter::write() {
    void *entry = cd_log_write(space_.parts.data(), static_cast<int>(space_.parts.size()));
    if (entry == nullptr) {
        complain_lost(header_.function());
    } else if (WholeProgram::records()) {
        WholeProgram::written(space_.parts.data(), space_.parts.size());
        entry = nullptr; // it may have been dropped already
    }
    last = static_cast<EntryHeader *>(entry);
    return last;
}

EntryHeader *last_written() { return last; }
void forget_last_written() { last = nullptr; }

} // namespace cd::logger
