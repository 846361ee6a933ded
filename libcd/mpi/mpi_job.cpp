// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "mpi/mpi_job.h"

#include "base/no_throw.h"
#include "checkpoint/folder.h"
#include "mpi/meeting.h"
#include "mpi/world.h"
#include "redset/kvtree_file.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>

namespace cd::mpi {
namespace {

using checkpoint::Elsewhere;
using redset::Bytes;
using redset::KvTree;
using RanksOfRoots = std::map<std::string, std::set<int>>; // by name

RanksOfRoots by_root(const std::vector<Bytes> &names) {
    RanksOfRoots roots;
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

constexpr char source[] = "checkpoints of other roots";

// The checkpoints of roots that this rank does not have, in its directories.
Status encode_others(int self, const RanksOfRoots &roots, const OwnRoot &own, Bytes &bytes) {
    KvTree tree;
    for (const auto &[root, ranks] : roots) {
        for (const std::string &directory : own.directories) {
            const std::string path = checkpoint::CheckpointDir::path_below(directory, root);
            if (ranks.contains(self)) {
                continue;
            }
            if (const auto newest = checkpoint::find_newest_committed(path)) {
                KvTree &found = tree.add(std::to_string(tree.elements().size()));
                found.add_value("ROOT", root);
                found.add_value("POINT", checkpoint::directory_name(*newest));
                found.add_value("PATH", path);
            }
        }
    }
    return redset::encode_image(tree, source, bytes);
}

Status decode_others(const Bytes &bytes, int rank, const std::string &root,
                     std::vector<Elsewhere> &elsewhere) {
    KvTree tree;
    uint64_t size = 0;
    if (Status status = redset::decode_image(bytes, source, tree, size); !status) {
        return status;
    }
    for (const auto &[number, each] : tree.elements()) {
        const auto newest = checkpoint::point_of(each.value("POINT").value_or(""));
        if (newest && each.value("ROOT") == root) {
            elsewhere.push_back({*newest, rank, std::string(each.value("PATH").value_or(""))});
        }
    }
    return Status::ok();
}

// All ranks of `all` call it and get the same outcome. elsewhere: of this rank's root.
Status find_elsewhere(MpiExchange &all, const RanksOfRoots &roots, const OwnRoot &own,
                      std::vector<Elsewhere> &elsewhere) {
    if (roots.size() < 2) {
        return Status::ok();
    }
    Bytes found;
    std::vector<Bytes> gathered;
    Status ready = catch_exceptions([&] { return encode_others(all.self(), roots, own, found); });
    if (Status status = gather_all(all, ready, view_of(found), gathered); !status) {
        return status;
    }
    return all.check_all(catch_exceptions([&] {
        for (size_t rank = 0; rank < gathered.size(); ++rank) {
            if (Status status =
                    decode_others(gathered[rank], static_cast<int>(rank), own.name, elsewhere);
                !status) {
                return status;
            }
        }
        return Status::ok();
    }));
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
               std::vector<int> ranks, int program_ranks, std::vector<Elsewhere> elsewhere)
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
    RanksOfRoots roots;
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
    std::vector<Elsewhere> elsewhere;
    if (Status status = find_elsewhere(all, roots, root, elsewhere); !status) {
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
        if (Status status = check_that_nobody_has(root.name, live); !status) {
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
