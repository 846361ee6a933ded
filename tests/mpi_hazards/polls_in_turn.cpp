// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Loops that ask about several things in turn, and find nothing for long.
#include "counted_polls.h"
#include "receives.h"

namespace polls_in_turn {

namespace {

constexpr int tag = 1;
constexpr int never = 9; // a tag that nobody sends with

bool probe(int with) {
    int found = 0;
    MPI_Iprobe(1, with, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    return found != 0;
}

bool test(MPI_Request &request) {
    int complete = 0;
    MPI_Test(&request, &complete, MPI_STATUS_IGNORE);
    return complete != 0;
}

bool test_any(MPI_Request &request) {
    int complete = 0;
    int index = 7;
    MPI_Testany(1, &request, &index, &complete, MPI_STATUS_IGNORE);
    CHECK(complete || index == MPI_UNDEFINED);
    return complete != 0;
}

using Kinds = std::vector<std::function<bool(MPI_Request &)>>;

bool probe_one(MPI_Request &) { return probe(never); }
bool probe_other(MPI_Request &) { return probe(never + 1); }

const Kinds two = {test, probe_one};
const Kinds three = {test_any, probe_one, probe_other};
const Kinds three_of_two = {test, test, probe_one};
const Kinds four = {probe_one, test, probe_other, test_any};

// The log ends in the middle of a round.
void finds_nothing_as_often(const Kinds &kinds) {
    if (world_rank() == 1) {
        go_on_when_told([] { send(numbers(1, eager), 0, tag); });
        return;
    }
    Numbers buffer = numbers(9, eager);
    MPI_Request request = MPI_REQUEST_NULL;
    size_t asked = 0;
    Domain domain;
    domain.keep(buffer);
    finds_nothing_as_often(domain,
                           {[&] {
                                request = post_receive(buffer, 1, tag);
                                asked = 0;
                            },
                            [&] { return kinds[asked++ % kinds.size()](request); },
                            [&] {
                                MPI_Wait(&request, MPI_STATUS_IGNORE);
                                CHECK(buffer == numbers(1, eager));
                            }},
                           41);
}

// Rank 1 sends when rank 0 has asked often enough; the log has few entries for that, and a
// re-execution that asks less often, or never for some, finds nothing until it waits.
void make_a_short_log(const Kinds &kinds) {
    if (world_rank() == 1) {
        send_on_signal(numbers(1, eager), tag);
        return;
    }
    Numbers buffer = numbers(9, eager);
    Domain domain;
    domain.keep(buffer);
    const auto take = [&](int rounds, size_t from) {
        MPI_Request request = post_receive(buffer, 1, tag);
        for (int i = 0; i < rounds; ++i) {
            for (size_t kind = from; kind < kinds.size(); ++kind) {
                CHECK(!kinds[kind](request));
            }
        }
        signal(1);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(buffer == numbers(1, eager));
    };
    take(1000, 0);
    CHECK(domain.info().log_length < 20);
    for (const int rounds : {1000, 500, 2, 0}) {
        domain.restore();
        take(rounds, 0);
        CHECK(!domain.info().replaying);
        domain.restore();
        take(rounds, 1);
        CHECK(!domain.info().replaying);
    }
}

} // namespace

HAZARD(log_ends_with_polls_of_two_kinds_in_turn) { finds_nothing_as_often(two); }
HAZARD(log_ends_with_polls_of_three_kinds_in_turn) { finds_nothing_as_often(three); }
HAZARD(log_ends_with_three_polls_of_two_kinds_in_turn) { finds_nothing_as_often(three_of_two); }
HAZARD(log_ends_with_polls_of_four_kinds_in_turn) { finds_nothing_as_often(four); }

HAZARD(polls_of_two_kinds_in_turn_make_a_short_log) { make_a_short_log(two); }
HAZARD(polls_of_three_kinds_in_turn_make_a_short_log) { make_a_short_log(three); }
HAZARD(three_polls_of_two_kinds_in_turn_make_a_short_log) { make_a_short_log(three_of_two); }
HAZARD(polls_of_four_kinds_in_turn_make_a_short_log) { make_a_short_log(four); }

// Each loop has its round, and what comes between them is told apart.
HAZARD(polls_of_loops_behind_each_other_are_told_apart) {
    if (world_rank() == 1) {
        return;
    }
    Domain domain;
    MPI_Request request = MPI_REQUEST_NULL;
    const auto run = [&] {
        for (const Kinds &kinds : {Kinds{probe_one, probe_other}, Kinds{probe_other, probe_one},
                                   Kinds{probe_one, probe_one, probe_other}}) {
            for (int i = 0; i < 10; ++i) {
                for (const auto &poll : kinds) {
                    CHECK(!poll(request));
                }
            }
            MPI_Barrier(MPI_COMM_SELF);
        }
    };
    run();
    const uint64_t entries = domain.info().log_length;
    for (int i = 0; i < 2; ++i) {
        domain.restore();
        run();
        CHECK(domain.info().log_remaining == 0);
        CHECK(domain.info().log_length == entries);
    }
}

} // namespace polls_in_turn
