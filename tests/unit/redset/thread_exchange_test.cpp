// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/thread_exchange.h"

#include <gtest/gtest.h>

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

} // namespace
} // namespace cd::redset
