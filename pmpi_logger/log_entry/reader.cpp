// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "log_entry/reader.h"

#include "payload/pack.h"

namespace cd::logger {

void EntryReader::take_outputs(const Call &call) {
    for (int i = 0; i < call.output_count; ++i) {
        const Output &output = call.outputs[i];
        size_t size = output.size;
        if (output.kind == Output::Kind::text) {
            size = std::strlen(reinterpret_cast<const char *>(at_)) + 1;
        }
        std::memcpy(output.to, take(size), size);
    }
}

bool EntryReader::take_data(const Blocks &blocks) {
    const std::byte *const begin = at_;
    for (const Block &block : blocks) {
        if (at_ == end_) {
            return false;
        }
        const auto size = take<uint64_t>();
        if (size > bytes_in(block)) {
            return false;
        }
        take(size);
    }
    at_ = begin;
    for (const Block &block : blocks) {
        const auto size = take<uint64_t>();
        deliver(block, take(size), size);
    }
    return true;
}

} // namespace cd::logger
