// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "requests/send_copy.h"

#include "payload/datatype_cache.h"
#include "payload/pack.h"
#include "settings/settings.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace cd::logger {
SendCopy SendCopy::of(const Block &block) {
    SendCopy copy;
    const DatatypeFacts facts = facts_of(block.type);
    // A block without data gets a byte, so that a restore need not wait for its send.
    const int64_t count = std::max<int64_t>(block.count, 0); // less is an error
    const int64_t span = std::max<int64_t>(facts.span_of(count), 1);
    if (!facts.dense && span > 2 * facts.size * count + widest_spread) {
        return copy;
    }
    copy.memory_.reset(new (std::nothrow) std::byte[static_cast<size_t>(span)]);
    if (copy.memory_ == nullptr) {
        return copy;
    }
    copy.address_ = copy.memory_.get() - facts.lower_bound;
    const auto bytes = static_cast<size_t>(facts.size * count);
    if (facts.dense && bytes > 0) {
        std::memcpy(copy.memory_.get(), static_cast<char *>(block.address) + facts.lower_bound,
                    bytes);
        return copy;
    }
    copy_data(block, {copy.address_, count, block.type});
    return copy;
}

bool send_copies_wanted() {
    static const bool wanted = choice_in("CD_SEND_SHADOW", {"on", "off"}).value_or(0) == 0;
    return wanted;
}

} // namespace cd::logger
