// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "mpi/mpi_job.h"

#include "base/no_throw.h"
#include "mpi/meeting.h"
#include "mpi/world.h"

#include <algorithm>
#include <set>
#include <span>

namespace cd::mpi {
namespace {

using redset::Bytes;

checkpoint::RanksOfRoots by_root(const std::vector<Bytes> &names) {
    checkpoint::RanksOfRoots roots;
    for (size_t rank = 0; rank < names.size(); ++rank) {
        roots[std::string(view_of(names[rank]))].insert(static_cast<int>(rank));
    }
    return roots;
}

std::string joined(const std::vector<std::string> &names) {
    std::string text;
    for (const std::string &name : names) {
        text += name;
        text += '\0';
    }
    return text;
}

// What was joined.
std::set<std::string> separated(const Bytes &told) {
    std::set<std::string> all;
    const std::string text(view_of(told));
    for (size_t begin = 0; begin < text.size();) {
        const std::string each = text.c_str() + begin;
        begin += each.size() + 1;
        all.insert(each);
    }
    return all;
}

// live: what each rank has. Halves of one root would go on from different points in time.
Status check_that_nobody_has(const std::string &root, const std::vector<Bytes> &live) {
    std::vector<int> ranks;
    for (size_t rank = 0; rank < live.size(); ++rank) {
        const std::set<std::string> names = separated(live[rank]);
        if (names.contains(root)) {
            ranks.push_back(static_cast<int>(rank));
        }
    }
    if (ranks.empty()) {
        return Status::ok();
    }
    return fail(CD_ERROR_NAME_IN_USE,
                "root \"%s\" was created by %s before, and lives: commit it first, or give "
                "this one another name. Ranks that share a root create it together, and several "
                "ones in the same order, also where threads do it",
                root.c_str(), redset::name_ranks(ranks).c_str());
}

} // namespace

MpiJob::MpiJob(std::unique_ptr<LiveName> name, std::unique_ptr<MpiExchange> all,
               std::vector<int> ranks, int program_ranks,
               std::vector<checkpoint::Elsewhere> elsewhere)
    : MpiRanks(std::move(all), std::move(ranks), program_ranks, std::move(elsewhere)),
      name_(std::move(name)) {}

Status MpiJob::meet(const OwnRoot &root, std::unique_ptr<checkpoint::Job> &job) {
    if (!is_usable()) {
        return fail(
            CD_ERROR_ARGUMENT,
            "the root \"%s\" has redundancy, by which the ranks of an MPI program protect each "
            "other; create it between MPI_Init and MPI_Finalize, in the process that calls these",
            root.name.c_str());
    }
    Assembly assembly;
    if (Status status = assemble(assembly); !status) {
        return status;
    }
    MpiExchange &all = *assembly.all;
    std::vector<Bytes> names;
    if (Status status = gather_all(all, Status::ok(), root.name, names); !status) {
        return status;
    }
    std::vector<int> ranks;
    checkpoint::RanksOfRoots roots;
    std::string own_live;
    Status known = catch_exceptions([&] {
        roots = by_root(names);
        const std::set<int> &own = roots[root.name];
        ranks.assign(own.begin(), own.end());
        own_live = joined(LiveName::all());
    });
    if (Status status = all.check_all(known); !status) {
        return status;
    }
    std::vector<Bytes> live;
    if (Status status = gather_all(all, Status::ok(), own_live, live); !status) {
        return status;
    }
    std::set<std::string> live_names;
    known = catch_exceptions([&] {
        for (const Bytes &theirs : live) {
            live_names.merge(separated(theirs));
        }
        return Status::ok();
    });
    if (Status status = all.check_all(known); !status) {
        return status;
    }
    std::vector<checkpoint::Elsewhere> elsewhere;
    SavedStatus brought;
    if (Status status = bring_together(all, roots, live_names, root, elsewhere, brought); !status) {
        return status;
    }
    std::unique_ptr<MpiExchange> part;
    if (Status status = make_exchange(all.communicator().get(), ranks.front(), all.self(), part);
        !status) {
        return status;
    }
    MpiExchange &meeting = *part; // lives on, or ends on all
    std::unique_ptr<MpiJob> made;
    Status ready = catch_exceptions([&] {
        Status status = brought.again();
        status = status ? check_that_nobody_has(root.name, live) : status;
        if (!status) {
            return status;
        }
        auto name = std::make_unique<LiveName>(root.name); // what can fail before part is taken
        made.reset(new MpiJob(std::move(name), std::move(part), std::move(ranks), all.members(),
                              std::move(elsewhere)));
        return Status::ok();
    });
    if (Status status = meeting.check_all(ready); !status) {
        return status;
    }
    job = std::move(made);
    return Status::ok();
}

Status MpiJob::refuse(const SavedStatus &why) {
    Assembly assembly;
    if (Status status = assemble(assembly); !status) {
        return status;
    }
    std::vector<Bytes> names;
    return gather_all(*assembly.all, why.again(), "", names);
}

} // namespace cd::mpi
