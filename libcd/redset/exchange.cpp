// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/exchange.h"

#include <cstring>
#include <string>

namespace cd::redset {

Status agree(Exchange &exchange, Status own) {
    std::vector<Bytes> all;
    return agree(exchange, own, {}, all);
}

Status agree(Exchange &exchange, Status own, std::span<const std::byte> bytes,
             std::vector<Bytes> &all) {
    const auto code = static_cast<int>(own.code());
    const auto content = own ? bytes : std::as_bytes(std::span(message(), strlen(message()) + 1));
    Bytes told(sizeof code + content.size());
    std::memcpy(told.data(), &code, sizeof code);
    if (!content.empty()) {
        std::memcpy(told.data() + sizeof code, content.data(), content.size());
    }
    std::vector<Bytes> gathered;
    if (Status status = exchange.gather(told, gathered); !status) {
        return status;
    }
    for (size_t member = 0; member < gathered.size(); ++member) {
        Bytes &from = gathered[member];
        int theirs = 0;
        std::memcpy(&theirs, from.data(), sizeof theirs);
        if (theirs != CD_ERROR_NONE) {
            return fail(static_cast<cd_error>(theirs), "member %zu: %s", member,
                        reinterpret_cast<const char *>(from.data()) + sizeof theirs);
        }
        from.erase(from.begin(), from.begin() + sizeof theirs);
    }
    all = std::move(gathered);
    return Status::ok();
}

} // namespace cd::redset
