// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "entry/writer.h"

#include "payload/copy.h"
#include "replay/complaint.h"
#include "whole_program/whole_program.h"

#include <algorithm>
#include <new>

namespace cd::logger {
namespace {

[[gnu::tls_model("initial-exec")]] constinit thread_local EntryHeader *last = nullptr;

// What most entries need, so that they are not widened.
constexpr size_t usual_size = 512;

} // namespace

EntryWriter::EntryWriter(const Call &call, int result) : fn_(call.fn) {
    cd_log_room room = {};
    if (cd_log_open(&room, usual_size) == 0) {
        return;
    }
    use(room, 0);
    // Field by field: what has just been written in parts is slow to be read as a whole.
    auto *header = new (take(sizeof(EntryHeader))) EntryHeader;
    header->fn = static_cast<uint16_t>(call.fn);
    header->words = static_cast<uint8_t>(call.word_count);
    header->result = result;
    header->site = reinterpret_cast<uint64_t>(call.site);
    add(call.words, sizeof(uint64_t) * static_cast<size_t>(call.word_count));
}

void EntryWriter::use(const cd_log_room &room, size_t used) {
    begin_ = static_cast<std::byte *>(room.at);
    at_ = begin_ + used;
    end_ = begin_ + room.size;
}

bool EntryWriter::widen(size_t size) {
    const auto used = static_cast<size_t>(at_ - begin_);
    cd_log_room room = {begin_, static_cast<size_t>(end_ - begin_)};
    const bool more = cd_log_widen(&room, used, used + size) != 0;
    if (more) {
        use(room, used);
    } else {
        begin_ = at_ = end_ = nullptr;
    }
    return more;
}

void EntryWriter::add_outputs(const Call &call) {
    for (int i = 0; i < call.output_count; ++i) {
        const Output &output = call.outputs[i];
        const bool text = output.kind == Output::Kind::text;
        add(output.to, text ? std::strlen(static_cast<const char *>(output.to)) + 1 : output.size);
    }
}

void EntryWriter::add_data(const Blocks &blocks, size_t most) {
    for (const Block &block : blocks) {
        const Contents contents = contents_of(block);
        const uint64_t size = std::min(contents.size, most);
        most = everything;
        add(size);
        if (contents.in_order != nullptr && size == contents.size) {
            add(contents.in_order, size);
        } else if (std::byte *to = take(size)) {
            gather(block, size, to);
        }
    }
}

EntryHeader *EntryWriter::write() {
    last = nullptr;
    if (begin_ == nullptr) {
        complain_lost(fn_);
        return last;
    }
    const auto length = static_cast<size_t>(at_ - begin_);
    EntryHeader *written = &header();
    begin_ = nullptr;
    cd_log_close(length);
    if (WholeProgram::records()) {
        WholeProgram::written(written, length); // it may have been dropped now
    } else {
        last = written;
    }
    return last;
}

EntryHeader *last_written() { return last; }
void forget_last_written() { last = nullptr; }

} // namespace cd::logger
