// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/exchange.h"

#include "base/no_throw.h"
#include "base/saved_status.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace cd::redset {
namespace {

constexpr size_t longest_text = 1024;

// What a member tells that failed, perhaps for lack of memory.
class Failure {
public:
    explicit Failure(Status status) {
        const cd_error code = status.code();
        const size_t length = std::min(std::strlen(message()), longest_text - 1);
        std::memcpy(bytes_.data(), &code, sizeof code);
        std::memcpy(bytes_.data() + sizeof code, message(), length);
        size_ = sizeof code + length + 1;
    }
    std::span<const std::byte> told() const { return {bytes_.data(), size_}; }

private:
    std::array<std::byte, sizeof(cd_error) + longest_text> bytes_ = {};
    size_t size_;
};

void put_success_before(std::span<const std::byte> bytes, Bytes &told) {
    constexpr cd_error code = CD_ERROR_NONE;
    told.resize(sizeof code + bytes.size());
    std::memcpy(told.data(), &code, sizeof code);
    std::ranges::copy(bytes, told.begin() + sizeof code);
}

bool is_known(int code) { return std::strcmp(describe(code), describe(-1)) != 0; }

bool makes_sense(const Bytes &told) {
    int code = CD_ERROR_NONE;
    static_assert(sizeof code == sizeof(cd_error));
    if (told.size() < sizeof code) {
        return false;
    }
    std::memcpy(&code, told.data(), sizeof code);
    return code == CD_ERROR_NONE ||
           (is_known(code) && told.size() > sizeof code && told.back() == std::byte{0});
}

Status check_sense(const std::vector<Bytes> &told) {
    return std::ranges::all_of(told, makes_sense)
               ? Status::ok()
               : fail(CD_ERROR_STORE_IO, "what a member told of its outcome makes no sense");
}

// The failure of the first that failed.
Status first_failure(const Exchange &exchange, const std::vector<Bytes> &told) {
    for (size_t member = 0; member < told.size(); ++member) {
        if (const cd_error code = code_of(told[member]); code != CD_ERROR_NONE) {
            const bool has_rank = member < exchange.called().size();
            return fail(code, "%s %d: %s", has_rank ? "rank" : "member",
                        has_rank ? exchange.called()[member] : static_cast<int>(member),
                        text_of(told[member]));
        }
    }
    return Status::ok();
}

// What is made of everybody's bytes, and why not.
struct Digest {
    SavedStatus told; // that of all
    SavedStatus outcome;
    Exchange::Made made;
};

} // namespace

Status Exchange::digest(std::span<const std::byte> own, const Work &work, Made &made) {
    std::vector<Bytes> all;
    Status status = gather(own, all);
    if (status) {
        made = work(all);
    }
    return status;
}

Status gather_outcomes(Exchange &exchange, Status own, std::span<const std::byte> bytes,
                       std::vector<Bytes> &told) {
    Bytes success;
    if (own) {
        own = catch_exceptions([&] { put_success_before(bytes, success); });
    }
    std::vector<Bytes> all;
    if (Status status = exchange.gather(own ? success : Failure(own).told(), all); !status) {
        return status;
    }
    Status sense = check_sense(all);
    if (sense) {
        told = std::move(all);
    }
    return sense;
}

cd_error code_of(const Bytes &told) {
    cd_error code = CD_ERROR_NONE;
    std::memcpy(&code, told.data(), sizeof code);
    return code;
}

const char *text_of(const Bytes &told) {
    return reinterpret_cast<const char *>(told.data()) + sizeof(cd_error);
}

void take_codes_off(std::vector<Bytes> &told) {
    for (Bytes &each : told) {
        each.erase(each.begin(), each.begin() + sizeof(cd_error));
    }
}

Status agree(Exchange &exchange, Status own) {
    std::vector<Bytes> all;
    return agree(exchange, own, {}, all);
}

Status agree(Exchange &exchange, Status own, std::span<const std::byte> bytes,
             std::vector<Bytes> &all) {
    std::vector<Bytes> told;
    if (Status status = gather_outcomes(exchange, own, bytes, told); !status) {
        return status;
    }
    if (Status status = first_failure(exchange, told); !status) {
        return status;
    }
    take_codes_off(told);
    all = std::move(told);
    return Status::ok();
}

// Who has no memory for a digest tells that, so that nobody needs it.
Status agree_and_make(Exchange &exchange, Status own, std::span<const std::byte> bytes,
                      const Make &make, const Take &take) {
    SavedStatus ready(own);
    Bytes success;
    std::shared_ptr<Digest> mine;
    const SavedStatus prepared(catch_exceptions([&] {
        mine = std::make_shared<Digest>();
        put_success_before(bytes, success);
    }));
    if (ready.is_ok()) {
        ready = prepared;
    }
    const auto work = [&](std::vector<Bytes> &told) -> Exchange::Made {
        if (mine != nullptr) {
            const Status sense = check_sense(told);
            mine->told = SavedStatus(sense ? first_failure(exchange, told) : sense);
            if (mine->told.is_ok()) {
                mine->outcome = SavedStatus(catch_exceptions([&] {
                    take_codes_off(told);
                    return make(told, mine->made);
                }));
            }
        }
        return mine;
    };
    Exchange::Made shared;
    if (Status status =
            exchange.digest(ready.is_ok() ? success : Failure(ready.again()).told(), work, shared);
        !status) {
        return status;
    }
    if (shared == nullptr) {
        return ready.is_ok() ? fail(CD_ERROR_NO_MEMORY, "member 0: out of memory") : ready.again();
    }
    const auto &digest = *static_cast<const Digest *>(shared.get());
    if (!digest.told.is_ok()) {
        return digest.told.again();
    }
    return agree_on_memory(exchange, catch_exceptions([&] {
                               if (digest.made != nullptr) {
                                   take(digest.made);
                               }
                               return digest.outcome.again();
                           }));
}

Status agree_on_memory(Exchange &exchange, Status found) {
    const bool lacking = found.code() == CD_ERROR_NO_MEMORY;
    Status status = agree(exchange, lacking ? found : Status::ok());
    return status ? found : status;
}

} // namespace cd::redset
