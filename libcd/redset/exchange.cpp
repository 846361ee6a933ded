// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/exchange.h"

#include "base/no_throw.h"

#include <algorithm>
#include <cstring>

namespace cd::redset {
namespace {

void put_after(cd_error code, std::span<const std::byte> bytes, Bytes &sent) {
    sent.resize(sizeof code + bytes.size());
    std::memcpy(sent.data(), &code, sizeof code);
    std::ranges::copy(bytes, sent.begin() + sizeof code);
}

bool is_known(int code) { return std::strcmp(describe(code), describe(-1)) != 0; }

bool makes_sense(const Bytes &sent) {
    int code = CD_ERROR_NONE;
    static_assert(sizeof code == sizeof(cd_error));
    if (sent.size() < sizeof code) {
        return false;
    }
    std::memcpy(&code, sent.data(), sizeof code);
    return code == CD_ERROR_NONE ||
           (is_known(code) && sent.size() > sizeof code && sent.back() == std::byte{0});
}

Status check_sense(const std::vector<Bytes> &sent) {
    return std::ranges::all_of(sent, makes_sense)
               ? Status::ok()
               : fail(CD_ERROR_STORE_IO, "a member sent a status that cannot be read");
}

// Returns the failure of the first member that failed.
Status first_failure(const Exchange &exchange, const std::vector<Bytes> &sent) {
    for (size_t member = 0; member < sent.size(); ++member) {
        if (const cd_error code = code_of(sent[member]); code != CD_ERROR_NONE) {
            const bool has_rank = member < exchange.called().size();
            return fail(code, "%s %d: %s", has_rank ? "rank" : "member",
                        has_rank ? exchange.called()[member] : static_cast<int>(member),
                        text_of(sent[member]));
        }
    }
    return Status::ok();
}

} // namespace

Status gather_outcomes(Exchange &exchange, Status own, std::span<const std::byte> bytes,
                       std::vector<Bytes> &sent) {
    const std::span text(message(), std::strlen(message()) + 1);
    Bytes own_sent; // nothing, where there is no memory for it
    best_effort([&] { put_after(own.code(), own ? bytes : std::as_bytes(text), own_sent); });
    std::vector<Bytes> all;
    if (Status status = exchange.gather(own_sent, all); !status) {
        return status;
    }
    Status sense = check_sense(all);
    if (sense) {
        sent = std::move(all);
    }
    return sense;
}

cd_error code_of(const Bytes &sent) {
    cd_error code = CD_ERROR_NONE;
    std::memcpy(&code, sent.data(), sizeof code);
    return code;
}

const char *text_of(const Bytes &sent) {
    return reinterpret_cast<const char *>(sent.data()) + sizeof(cd_error);
}

void take_codes_off(std::vector<Bytes> &sent) {
    for (Bytes &each : sent) {
        each.erase(each.begin(), each.begin() + sizeof(cd_error));
    }
}

Status agree(Exchange &exchange, Status own) {
    std::vector<Bytes> all;
    return agree(exchange, own, {}, all);
}

Status agree(Exchange &exchange, Status own, std::span<const std::byte> bytes,
             std::vector<Bytes> &all) {
    std::vector<Bytes> sent;
    if (Status status = gather_outcomes(exchange, own, bytes, sent); !status) {
        return status;
    }
    if (Status status = first_failure(exchange, sent); !status) {
        return status;
    }
    take_codes_off(sent);
    all = std::move(sent);
    return Status::ok();
}

Status agree_on_memory(Exchange &exchange, Status found) {
    const bool lacking = found.code() == CD_ERROR_NO_MEMORY;
    Status status = agree(exchange, lacking ? found : Status::ok());
    return status ? found : status;
}

} // namespace cd::redset
