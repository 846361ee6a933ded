// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "protection/findings.h"

#include <map>
#include <set>
#include <utility>
#include <vector>

namespace cd::protection {

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
// last: where one is, the others are, too.
struct HandingOver {
    size_t store = 0;
    size_t round = 0;
    Point point;
    std::vector<Transfer> data;
    std::vector<Transfer> records;
};

// Of the points in time that counted, as far as anything tells, and count still. Each file once.
std::vector<HandingOver> find_missing(const Apart &apart);

// Points in time of which the root's own ranks have all that is held, and what can never count
// beside later ones of these; they need not be held any longer.
std::set<Point> find_dispensable(const Apart &apart, const Held &held);

// What says that points in time do not count any more, and only those who hold it know; with what
// the root's own ranks know of the same number.
std::vector<Tombstone> find_unheard(const Apart &apart);

} // namespace cd::protection
