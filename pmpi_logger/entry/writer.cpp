// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "entry/writer.h"

#include "store/copy_past_caches.h"

namespace cd::logger {

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

void EntryWriter::copy_long(std::byte *to, const void *from, size_t size) {
    copy_past_caches(to, from, size);
}

void EntryWriter::add(const Output &output) {
    const bool text = output.kind == Output::Kind::text;
    add(output.to, text ? std::strlen(static_cast<const char *>(output.to)) + 1 : output.size);
}

void EntryWriter::add_packed(const Block &block, size_t size) {
    if (std::byte *to = take(size)) {
        gather(block, size, to);
    }
}

void EntryWriter::add_data(const Blocks &blocks, size_t most) {
    for (const Block &block : blocks) {
        add_data(block, most);
        most = everything;
    }
}

} // namespace cd::logger
