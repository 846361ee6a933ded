// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "checkpoint/findings.h"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace cd::checkpoint {

// A root's points in time where ranks of it are, and where others hold some, as all of these know
// it.
struct Held {
    int position = 0; // in the job, of who holds it
    size_t store = 0; // which of those asked for it is
    size_t round = 0; // which of its directories
    Content content;
};

struct Apart {
    std::vector<int> ranks;                               // by position in the job
    std::map<std::pair<size_t, int>, Content> of_its_own; // by store and position
    std::vector<Held> held;
};

// Files of a point in time that go from some of those who hold them to whose they are. Records come
// last: where one is, the others are, too, unless there was no room for them and all begin afresh.
struct HandingOver {
    size_t store = 0;
    size_t round = 0;
    CheckpointId point;
    std::vector<Transfer> data;
    std::vector<Transfer> records;
};

// Of the points in time that counted, as far as anything tells, and count still, but for what the
// root's own ranks have something later instead of, whole. Each file once.
std::vector<HandingOver> find_missing(const Apart &apart);

// What need not be held any longer.
struct Dispensable {
    std::map<CheckpointId, std::vector<std::string>> files; // that the root's own ranks have, too
    std::set<CheckpointId> points;                          // that count no more, or never can
};
Dispensable find_dispensable(const Apart &apart, const Held &held);

// What says that points in time do not count any more, and only those who hold it know; with what
// the root's own ranks know of the same number.
std::vector<CommitMarker> find_unheard(const Apart &apart);

} // namespace cd::checkpoint
