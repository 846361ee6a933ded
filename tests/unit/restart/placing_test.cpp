// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "restart/placing.h"

#include "domains/recovery.h"

#include <gtest/gtest.h>

namespace cd {
namespace {

TEST(Placing, OfWhatAnAncestorHadIsFoundByARestoreThatTheAncestorHasItNoMore) {
    Domain parent;
    Domain child;
    child.parent = &parent;
    Unbound found;
    found.old = {1000, 1008};
    found.restoration = Restoration::parent;
    place_arriving(child, found, 2000);
    child.entries.accept_arriving();
    Recovery recovery(child);
    EXPECT_EQ(recovery.prepare().code(), CD_ERROR_NOT_IN_PARENT);
}

} // namespace
} // namespace cd
