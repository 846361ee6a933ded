// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/thread_exchange.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <span>
#include <string>

namespace cd::redset {
namespace {

TEST(ThreadExchange, TheFailureThatTheOthersFollowedIsTold) {
    for (int failing = 0; failing < 4; ++failing) {
        const Status status = run_members(4, [&](Exchange &exchange) {
            if (exchange.self() == failing) {
                return fail(CD_ERROR_STORE_FULL, "member %d has no room", failing);
            }
            return agree(exchange, Status::ok());
        });
        EXPECT_EQ(status.code(), CD_ERROR_STORE_FULL);
        EXPECT_EQ(std::string(message()), "member " + std::to_string(failing) + " has no room");
    }
}

// Hundreds of members each decode what hundreds tell otherwise.
TEST(ThreadExchange, WhatAllMakeAlikeIsMadeOnceForAll) {
    std::atomic<int> made = 0;
    const Status status = run_members(20, [&](Exchange &exchange) {
        for (int round = 0; round < 3; ++round) {
            const std::string own(static_cast<size_t>(exchange.self()), 'x');
            std::string all;
            const auto make = [&](std::vector<Bytes> &told, Exchange::Made &result) {
                ++made;
                std::string sizes;
                for (const Bytes &each : told) {
                    sizes += std::to_string(each.size()) + ' ';
                }
                result = std::make_shared<const std::string>(sizes + std::to_string(round));
                return Status::ok();
            };
            const auto take = [&](const Exchange::Made &result) {
                all = *std::static_pointer_cast<const std::string>(result);
            };
            Status agreed =
                agree_and_make(exchange, Status::ok(), std::as_bytes(std::span(own)), make, take);
            if (!agreed) {
                return agreed;
            }
            EXPECT_EQ(all,
                      "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 " + std::to_string(round));
        }
        return Status::ok();
    });
    EXPECT_TRUE(status) << message();
    EXPECT_EQ(made, 3);
}

// Also where it is the member that makes it for the others.
TEST(ThreadExchange, NothingIsMadeWhereOneFails) {
    for (int failing = 0; failing < 3; ++failing) {
        const Status status = run_members(3, [&](Exchange &exchange) {
            const Status own =
                exchange.self() == failing ? fail(CD_ERROR_STORE_IO, "no disk") : Status::ok();
            const auto make = [](std::vector<Bytes> &, Exchange::Made &) {
                ADD_FAILURE();
                return Status::ok();
            };
            return agree_and_make(exchange, own, {}, make, [](const Exchange::Made &) {});
        });
        EXPECT_EQ(status.code(), CD_ERROR_STORE_IO);
        EXPECT_EQ(std::string(message()), "member " + std::to_string(failing) + ": no disk");
    }
}

TEST(ThreadExchange, WhatIsMadeOfAFailureIsTakenByAll) {
    std::atomic<int> taken = 0;
    const Status status = run_members(3, [&](Exchange &exchange) {
        const auto make = [](std::vector<Bytes> &, Exchange::Made &made) {
            made = std::make_shared<const int>(7);
            return fail(CD_ERROR_REDUNDANCY_EXCEEDED, "too much");
        };
        const auto take = [&](const Exchange::Made &made) {
            taken += *std::static_pointer_cast<const int>(made);
        };
        Status made = agree_and_make(exchange, Status::ok(), {}, make, take);
        EXPECT_EQ(std::string(message()), "too much");
        return made;
    });
    EXPECT_EQ(status.code(), CD_ERROR_REDUNDANCY_EXCEEDED);
    EXPECT_EQ(taken, 21);
}

} // namespace
} // namespace cd::redset
