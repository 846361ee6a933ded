// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "input.h"
#include "redset/exchange.h"
#include "redset_image.h"

#include <cstring>
#include <span>
#include <vector>

namespace fuzz {

// Member 0 meets others that tell what the fuzzer wants.
class LyingExchange : public cd::redset::Exchange {
public:
    LyingExchange(Input &input, int members) : input_(input), members_(members) {}

    int members() const override { return members_; }
    int self() const override { return 0; }

    cd::Status gather(std::span<const std::byte> own,
                      std::vector<cd::redset::Bytes> &all) override {
        all.assign(static_cast<size_t>(members_), cd::redset::Bytes(own.begin(), own.end()));
        for (size_t member = 1; member < all.size(); ++member) {
            lie(all[member]);
        }
        return cd::Status::ok();
    }
    void reserve(size_t) override {}
    cd::Status start(std::span<const Message>, std::span<const Message> incoming) override {
        for (const Message &message : incoming) {
            std::memset(message.bytes.data(), input_.number8(), message.bytes.size());
        }
        return cd::Status::ok();
    }
    cd::Status finish() override { return cd::Status::ok(); }

private:
    // told: what this member told, which the other may have to tell as well.
    void lie(cd::redset::Bytes &told) {
        constexpr auto success = CD_ERROR_NONE;
        const uint8_t kind = input_.number8() % 4;
        if (kind == 0) {
            return;
        }
        told.clear();
        if (kind != 3) {
            append(told, std::as_bytes(std::span(&success, 1)));
        }
        switch (kind) {
        case 1:
            append(told, image_around(input_.counted()));
            break;
        default:
            append(told, input_.counted());
        }
    }

    static void append(cd::redset::Bytes &to, std::span<const std::byte> bytes) {
        to.insert(to.end(), bytes.begin(), bytes.end());
    }

    Input &input_;
    const int members_;
};

} // namespace fuzz
