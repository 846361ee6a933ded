// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "mpi/mpi_job.h"

#include "base/no_throw.h"
#include "checkpoint/checkpoint_dir.h"
#include "mpi/world.h"
#include "redset/kvtree_file.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <string_view>
#include <utility>

namespace cd::mpi {
namespace {

using checkpoint::Elsewhere;
using redset::Bytes;
using redset::KvTree;
using RanksOfRoots = std::map<std::string, std::set<int>>; // by name

struct Names {
    std::mutex mutex;
    std::set<std::string> all;
};

// Lives as long as the process: roots may end after main().
Names &live_names() {
    static Names *const all = new Names;
    return *all;
}

// Gathers all ranks' bytes, or fails where one of them has failed.
Status gather_all(MpiExchange &all, Status own, std::string_view text,
                  std::vector<Bytes> &gathered) {
    if (Status status = redset::gather_outcomes(all, own, std::as_bytes(std::span(text)), gathered);
        !status) {
        return status;
    }
    const auto knows = [](const Bytes &theirs) { return redset::code_of(theirs) == CD_ERROR_NONE; };
    const auto refused = std::ranges::find_if_not(gathered, knows);
    if (refused != gathered.end()) {
        return fail(redset::code_of(*refused), "rank %td: %s", refused - gathered.begin(),
                    redset::text_of(*refused));
    }
    redset::take_codes_off(gathered);
    return Status::ok();
}

std::string_view view_of(const Bytes &bytes) {
    return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

// The root of a rank, and the names of the live roots there, separated by zeros.
std::string joined(const std::string &root, const std::vector<std::string> &live) {
    std::string text = root + '\0';
    for (const std::string &name : live) {
        text += name + '\0';
    }
    return text;
}

// The first is the rank's root.
std::vector<std::string> separated(const Bytes &bytes) {
    std::vector<std::string> names;
    for (std::string_view rest = view_of(bytes); !rest.empty();) {
        const size_t length = std::min(rest.find('\0'), rest.size());
        names.emplace_back(rest.substr(0, length));
        rest.remove_prefix(std::min(length + 1, rest.size()));
    }
    return names;
}

// Two halves of one root would start from different checkpoints.
Status check_name_is_free(const std::string &root, const std::vector<int> &ranks_with_live_one) {
    return ranks_with_live_one.empty()
               ? Status::ok()
               : fail(CD_ERROR_NAME_IN_USE,
                      "root \"%s\" was created by %s before, and lives: commit it first, or give "
                      "this "
                      "one another name. All ranks of a root create it together, in the same order",
                      root.c_str(), redset::name_ranks(ranks_with_live_one).c_str());
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

} // namespace

LiveName::LiveName(std::string name) : name_(std::move(name)) {
    const std::lock_guard lock(live_names().mutex);
    live_names().all.insert(name_);
}

void LiveName::give_up() noexcept {
    if (!name_.empty()) {
        const std::lock_guard lock(live_names().mutex);
        live_names().all.erase(name_);
        name_.clear();
    }
}

std::vector<std::string> LiveName::all() {
    const std::lock_guard lock(live_names().mutex);
    return {live_names().all.begin(), live_names().all.end()};
}

MpiJob::MpiJob(std::unique_ptr<LiveName> name, std::unique_ptr<MpiExchange> all,
               std::vector<int> ranks, int program_ranks, std::vector<Elsewhere> elsewhere)
    : name_(std::move(name)), all_(std::move(all)), ranks_(std::move(ranks)),
      program_ranks_(program_ranks), elsewhere_(std::move(elsewhere)) {}

std::string MpiJob::name_of_node() {
    char name[MPI_MAX_PROCESSOR_NAME] = "";
    int length = 0;
    own().get_processor_name(name, &length);
    return {name, static_cast<size_t>(length)};
}

// Each part has one outcome; here all get one.
Status MpiJob::divide(int color, int key, std::unique_ptr<redset::Exchange> &part) {
    std::unique_ptr<MpiExchange> made;
    Status parted = MpiExchange::make(all_->communicator().get(), color, key, made);
    Status status = all_->check_all(parted);
    if (status) {
        part = std::move(made);
    }
    return status;
}

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
    std::string names;
    std::vector<Bytes> gathered;
    Status ready = catch_exceptions([&] { names = joined(root.name, LiveName::all()); });
    if (Status status = gather_all(all, ready, names, gathered); !status) {
        return status;
    }
    std::vector<int> ranks;
    std::vector<int> ranks_with_live_one;
    RanksOfRoots roots;
    Status known = catch_exceptions([&] {
        for (int rank = 0; rank < all.members(); ++rank) {
            std::vector<std::string> theirs = separated(gathered[redset::index(rank)]);
            theirs.resize(std::max<size_t>(theirs.size(), 1));
            roots[theirs.front()].insert(rank);
            if (std::find(theirs.begin() + 1, theirs.end(), root.name) != theirs.end()) {
                ranks_with_live_one.push_back(rank);
            }
        }
        const std::set<int> &own = roots[root.name];
        ranks.assign(own.begin(), own.end());
    });
    if (Status status = all.check_all(known); !status) {
        return status;
    }
    std::vector<Elsewhere> elsewhere;
    if (Status status = find_elsewhere(all, roots, root, elsewhere); !status) {
        return status;
    }
    std::unique_ptr<MpiExchange> part;
    if (Status status =
            MpiExchange::make(all.communicator().get(), ranks.front(), all.self(), part);
        !status) {
        return status;
    }
    MpiExchange &meeting = *part; // lives on, or ends on all
    std::unique_ptr<MpiJob> made;
    ready = catch_exceptions([&] {
        if (Status status = check_name_is_free(root.name, ranks_with_live_one); !status) {
            return status;
        }
        auto name = std::make_unique<LiveName>(root.name); // what can fail before part is taken
        made = std::make_unique<MpiJob>(std::move(name), std::move(part), std::move(ranks),
                                        all.members(), std::move(elsewhere));
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
    std::vector<Bytes> gathered;
    return gather_all(*assembly.all, why.again(), "", gathered);
}

} // namespace cd::mpi
