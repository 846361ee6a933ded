// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "mpi/roots_apart.h"

#include "base/attempt.h"
#include "mpi/meeting.h"
#include "mpi/mpi_ranks.h"
#include "protection/fetching.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <utility>

namespace cd::mpi {
namespace {

using protection::Asked;
using protection::Elsewhere;
using redset::Bytes;

Status gather_asked(MpiExchange &all, const Asked &own, std::vector<Asked> &asked) {
    Bytes tells;
    std::vector<Bytes> heard;
    Status ready = attempt([&] { return encode(own, tells); });
    if (Status status = gather_all(all, ready, view_of(tells), heard); !status) {
        return status;
    }
    Status understood = attempt([&] {
        for (const Bytes &theirs : heard) {
            if (Status status = decode(theirs, asked.emplace_back()); !status) {
                return status;
            }
        }
        return Status::ok();
    });
    return all.check_all(understood);
}

Status look_elsewhere(MpiExchange &all, const protection::RanksOfRoots &roots,
                      const std::vector<Asked> &asked, std::vector<Elsewhere> &elsewhere) {
    Bytes tells;
    std::vector<Bytes> heard;
    Status ready = attempt([&] {
        return encode(see_points(roots, asked, all.self(), MpiRanks::name_of_node()), tells);
    });
    if (Status status = gather_all(all, ready, view_of(tells), heard); !status) {
        return status;
    }
    Status understood = attempt([&] {
        std::vector<Elsewhere> seen;
        for (const Bytes &theirs : heard) {
            if (Status status = decode(theirs, seen); !status) {
                return status;
            }
        }
        elsewhere = find_elsewhere(roots, seen);
        return Status::ok();
    });
    return all.check_all(understood);
}

// All ranks of all meet in it, of which those that it concerns do something.
Status fetch_one(MpiExchange &all, const protection::RootApart &apart, bool sync,
                 std::vector<protection::Holding> &same) {
    std::vector<int> ranks;
    Status ready = attempt([&] {
        std::set<int> concerned = apart.ranks;
        for (const protection::Holding &each : apart.holdings) {
            concerned.insert(each.rank);
        }
        ranks.assign(concerned.begin(), concerned.end());
        return Status::ok();
    });
    if (Status status = all.check_all(ready); !status) {
        return status;
    }
    const bool takes_part = std::ranges::binary_search(ranks, all.self());
    std::unique_ptr<MpiExchange> part;
    if (Status status =
            make_exchange(all.communicator().get(), takes_part ? 0 : 1, all.self(), part);
        !status) {
        return status;
    }
    Status fetched;
    if (takes_part) {
        MpiRanks job(std::move(part), std::move(ranks), all.members());
        fetched = fetch(job, apart, sync, same);
    }
    if (!fetched) {
        char why[900];
        std::snprintf(why, sizeof why, "%s", message());
        fetched = fail(fetched.code(),
                       "root \"%s\", whose points in time come from nodes where "
                       "none of its ranks is: %s",
                       apart.root.c_str(), why);
    }
    std::vector<Bytes> told;
    return gather_all(all, fetched, "", told);
}

} // namespace

Status bring_together(MpiExchange &all, const protection::RanksOfRoots &roots,
                      const std::set<std::string> &live, const OwnRoot &own,
                      std::vector<Elsewhere> &left) {
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
    std::vector<protection::RootApart> apart;
    Status known = attempt([&] {
        for (const auto &[root, ranks] : roots) {
            protection::RootApart each = root_apart(root, ranks, all.self(), asked, elsewhere);
            if (!each.holdings.empty() && !live.contains(root)) {
                apart.push_back(std::move(each));
            }
        }
        return Status::ok();
    });
    if (Status status = all.check_all(known); !status) {
        return status;
    }
    std::vector<protection::Holding> same;
    for (const protection::RootApart &each : apart) {
        std::vector<protection::Holding> of_this;
        if (Status status = fetch_one(all, each, own.sync, of_this); !status) {
            return status;
        }
        if (each.root == own.name) {
            same = std::move(of_this);
        }
    }
    if (!apart.empty()) {
        if (Status status = look_elsewhere(all, roots, asked, elsewhere); !status) {
            return status;
        }
    }
    std::erase_if(elsewhere, [&](const Elsewhere &each) {
        const auto is_it = [&](const protection::Holding &other) {
            return other.rank == each.rank && other.directory == each.directory;
        };
        return each.root != own.name || std::ranges::any_of(same, is_it);
    });
    left = std::move(elsewhere);
    return Status::ok();
}

} // namespace cd::mpi
