// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "mpi/roots_apart.h"

#include "base/no_throw.h"
#include "checkpoint/turns.h"
#include "mpi/meeting.h"
#include "mpi/mpi_ranks.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <utility>

namespace cd::mpi {
namespace {

using checkpoint::Asked;
using checkpoint::Elsewhere;
using redset::Bytes;

Status gather_asked(MpiExchange &all, const Asked &own, std::vector<Asked> &asked) {
    Bytes tells;
    std::vector<Bytes> heard;
    Status ready = catch_exceptions([&] { return encode(own, tells); });
    if (Status status = gather_all(all, ready, view_of(tells), heard); !status) {
        return status;
    }
    Status understood = catch_exceptions([&] {
        for (const Bytes &theirs : heard) {
            if (Status status = decode(theirs, asked.emplace_back()); !status) {
                return status;
            }
        }
        return Status::ok();
    });
    return all.check_all(understood);
}

Status look_elsewhere(MpiExchange &all, const checkpoint::RanksOfRoots &roots,
                      const std::vector<Asked> &asked, std::vector<Elsewhere> &elsewhere) {
    Bytes tells;
    std::vector<Bytes> heard;
    Status ready = catch_exceptions([&] {
        return encode(see_points(roots, asked, all.self(), MpiRanks::name_of_node()), tells);
    });
    if (Status status = gather_all(all, ready, view_of(tells), heard); !status) {
        return status;
    }
    Status understood = catch_exceptions([&] {
        std::vector<Elsewhere> seen;
        for (const Bytes &theirs : heard) {
            if (Status status = decode(theirs, seen); !status) {
                return status;
            }
        }
        elsewhere = find_elsewhere(roots, asked, seen);
        return Status::ok();
    });
    return all.check_all(understood);
}

// What becomes of this rank's own root.
struct Brought {
    std::vector<checkpoint::Holding> same;
    SavedStatus outcome;
};

SavedStatus with_root(Status failure, const std::string &root) {
    const SavedStatus why(failure);
    char text[900];
    std::snprintf(text, sizeof text, "%s", why.text());
    return SavedStatus(fail(failure.code(),
                            "root \"%s\", whose points in time come from nodes where none of its "
                            "ranks is: %s",
                            root.c_str(), text));
}

// All ranks of all come to it, and those of each root meet apart: what these fail at is no matter
// of others, and who only sees their files leaves them then.
void take_turn(MpiExchange &all, checkpoint::Turn &turn, const OwnRoot &own, Brought &brought) {
    const auto part = std::ranges::find_if(turn, [&](const checkpoint::PartInTurn &each) {
        return std::ranges::binary_search(each.ranks, all.self());
    });
    std::unique_ptr<MpiExchange> those;
    Status fetched = make_exchange(all.communicator().get(), static_cast<int>(part - turn.begin()),
                                   all.self(), those);
    if (part == turn.end()) {
        return;
    }
    std::vector<checkpoint::Holding> same;
    if (fetched) {
        MpiRanks job(std::move(those), std::move(part->ranks), all.members());
        fetched = fetch(job, part->root, own.sync, same);
    }
    if (part->root.root == own.name) {
        brought.same = std::move(same);
        brought.outcome = fetched ? SavedStatus() : with_root(fetched, own.name);
    }
}

} // namespace

Status bring_together(MpiExchange &all, const checkpoint::RanksOfRoots &roots,
                      const std::set<std::string> &live, const OwnRoot &own,
                      std::vector<Elsewhere> &left, SavedStatus &own_outcome) {
    if (roots.size() < 2) {
        return Status::ok();
    }
    std::vector<Asked> asked;
    std::vector<Elsewhere> elsewhere;
    if (Status status = gather_asked(all, own.asked, asked); !status) {
        return status;
    }
    if (Status status = look_elsewhere(all, roots, asked, elsewhere); !status) {
        return status;
    }
    std::vector<checkpoint::Turn> turns;
    Status known = catch_exceptions([&] {
        std::vector<checkpoint::RootApart> apart;
        for (const auto &[root, ranks] : roots) {
            checkpoint::RootApart each = root_apart(root, ranks, all.self(), asked, elsewhere);
            if (!each.holdings.empty() && !live.contains(root)) {
                apart.push_back(std::move(each));
            }
        }
        turns = take_turns(std::move(apart));
    });
    if (Status status = all.check_all(known); !status) {
        return status;
    }
    Brought brought;
    for (checkpoint::Turn &turn : turns) {
        take_turn(all, turn, own, brought);
    }
    own_outcome = brought.outcome;
    if (!turns.empty()) {
        if (Status status = look_elsewhere(all, roots, asked, elsewhere); !status) {
            return status;
        }
    }
    std::erase_if(elsewhere, [&](const Elsewhere &each) {
        const auto is_it = [&](const checkpoint::Holding &other) {
            return other.rank == each.rank && other.directory == each.directory;
        };
        return each.root != own.name || std::ranges::any_of(brought.same, is_it);
    });
    left = std::move(elsewhere);
    return Status::ok();
}

} // namespace cd::mpi
