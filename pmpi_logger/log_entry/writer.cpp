// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "log_entry/writer.h"

namespace cd::logger {

EntryWriter::Place EntryWriter::widened(const Place &place, size_t size) {
    const auto used = static_cast<size_t>(place.at - place.begin);
    cd_log_room room = {place.begin, static_cast<size_t>(place.end - place.begin)};
    if (cd_log_widen(&room, used, used + size) == 0) {
        return {nullptr, nullptr, nullptr};
    }
    auto *const begin = static_cast<std::byte *>(room.at);
    return {begin, begin + used, begin + room.size};
}

void EntryWriter::add(const Output &output) {
    const bool text = output.kind == Output::Kind::text;
    add(output.to, text ? std::strlen(static_cast<const char *>(output.to)) + 1 : output.size);
}

void EntryWriter::add_data(const Blocks &blocks, size_t most) {
    for (const Block &block : blocks) {
        add_data(block, most);
        most = everything;
    }
}

} // namespace cd::logger
