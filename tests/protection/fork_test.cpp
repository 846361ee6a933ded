// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Processes that fork beside a protector.

#include "fake_protector.h"

namespace {

class Forking : public Protected {};

TEST_F(Forking, AForkedProcessLeavesTheProtectorAlone) {
    begin();
    advance_with('a');
    calls();
    EXPECT_EQ(0, in_process([&] {
                  const bool failed =
                      advance_cd_point_in_time(root) == CD_FAILURE && info().protected_epoch == 0;
                  const bool ended = commit_cd(root) == CD_SUCCESS;
                  return failed && ended && calls().empty() ? 0 : 1;
              }));
}

} // namespace
