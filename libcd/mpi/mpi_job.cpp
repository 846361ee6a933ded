// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "mpi/mpi_job.h"

#include "base/no_throw.h"
#include "checkpoint/checkpoint_dir.h"

#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>

namespace cd::mpi {
namespace {

using checkpoint::Elsewhere;
using redset::Bytes;
using RanksOfRoots = std::map<std::string, std::set<int>>; // by name

// ---- MPI_COMM_WORLD

// Lives as long as the process: ranks that end without MPI_Finalize do not meet to free it.
struct World {
    std::mutex mutex; // one thread of each process is there at a time
    MpiExchange *all = nullptr;
    bool failed = false;
};

constinit World world;

Status open_world() {
    int rank = 0;
    std::unique_ptr<MpiExchange> made;
    Status status = outcome(own().comm_rank(MPI_COMM_WORLD, &rank), "find this rank");
    status = status ? MpiExchange::make(MPI_COMM_WORLD, 0, rank, made) : status;
    world.failed = !status;
    if (!status) {
        return status;
    }
    world.all = made.release();
    return agree(*world.all, catch_exceptions([] {
        std::vector<int> ranks(redset::index(world.all->members()));
        std::iota(ranks.begin(), ranks.end(), 0);
        world.all->call_by_ranks(std::move(ranks));
    }));
}

// Calls meet(exchange) with all ranks of MPI_COMM_WORLD.
template <typename Meet> Status with_world(const Meet &meet) {
    const std::lock_guard alone(world.mutex);
    if (world.failed) {
        return fail(CD_ERROR_STORE_IO, "an earlier exchange between the ranks failed half-way");
    }
    if (Status status = world.all == nullptr ? open_world() : Status::ok(); !status) {
        return status;
    }
    return meet(*world.all);
}

// ---- Checkpoints of other roots

std::string_view view_of(const Bytes &bytes) {
    return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

// The newest committed checkpoint of a root in this rank's directories, as its directory's name and
// path with a slash between them; "": there is none.
std::string find_newest(const std::string &root, const OwnRoot &own) {
    std::string found;
    std::optional<checkpoint::CheckpointId> newest;
    for (const std::string &directory : own.directories) {
        const std::string path = checkpoint::CheckpointDir::path_below(directory, root);
        if (const auto there = checkpoint::find_newest_committed(path);
            there && (!newest || *newest < *there)) {
            newest = there;
            found = checkpoint::directory_name(*there) + "/" + path;
        }
    }
    return found;
}

// Collective. elsewhere: what ranks without this rank's root have of it.
Status find_elsewhere(MpiExchange &all, const RanksOfRoots &roots, const OwnRoot &own,
                      std::vector<Elsewhere> &elsewhere) {
    Status understood;
    for (auto root = roots.begin(); root != roots.end() && roots.size() > 1; ++root) {
        const auto &name = root->first;
        const auto &ranks = root->second;
        std::string found;
        std::vector<Bytes> gathered;
        Status looked = catch_exceptions(
            [&] { found = ranks.contains(all.self()) ? "" : find_newest(name, own); });
        if (Status status = agree(all, looked, std::as_bytes(std::span(found)), gathered);
            !status) {
            return status;
        }
        for (size_t rank = 0; understood && name == own.name && rank < gathered.size(); ++rank) {
            understood = catch_exceptions([&] {
                const std::string_view text = view_of(gathered[rank]);
                const size_t slash = text.find('/');
                if (const auto id = checkpoint::id_of_directory(text.substr(0, slash))) {
                    elsewhere.push_back(
                        {*id, static_cast<int>(rank), std::string(text.substr(slash + 1))});
                }
            });
        }
    }
    return agree(all, understood);
}

// ---- The ranks of a root

Status meet_ranks(MpiExchange &all, const OwnRoot &root, std::unique_ptr<checkpoint::Job> &job) {
    std::vector<Bytes> names;
    if (Status status = agree(all, Status::ok(), std::as_bytes(std::span(root.name)), names);
        !status) {
        return status;
    }
    RanksOfRoots roots;
    std::vector<int> ranks;
    Status known = catch_exceptions([&] {
        for (int rank = 0; rank < all.members(); ++rank) {
            roots[std::string(view_of(names[redset::index(rank)]))].insert(rank);
        }
        ranks.assign(roots[root.name].begin(), roots[root.name].end());
    });
    if (Status status = agree(all, known); !status) {
        return status;
    }
    std::vector<Elsewhere> elsewhere;
    if (Status status = find_elsewhere(all, roots, root, elsewhere); !status) {
        return status;
    }
    std::unique_ptr<MpiExchange> part;
    if (Status status = MpiExchange::make(all.communicator(), ranks.front(), all.self(), part);
        !status) {
        return status;
    }
    MpiExchange &meeting = *part; // lives on, or ends on all
    std::unique_ptr<MpiJob> made;
    Status ready = catch_exceptions([&] {
        made = std::make_unique<MpiJob>(std::move(part), std::move(ranks), all.members(),
                                        std::move(elsewhere));
    });
    Status status = agree(meeting, ready);
    if (status) {
        job = std::move(made);
    }
    return status;
}

} // namespace

MpiJob::MpiJob(std::unique_ptr<MpiExchange> all, std::vector<int> ranks, int program_ranks,
               std::vector<Elsewhere> elsewhere)
    : all_(std::move(all)), ranks_(std::move(ranks)), program_ranks_(program_ranks),
      elsewhere_(std::move(elsewhere)) {}

std::string MpiJob::name_of_node() {
    char name[MPI_MAX_PROCESSOR_NAME] = "";
    int length = 0;
    own().get_processor_name(name, &length);
    return {name, static_cast<size_t>(length)};
}

Status MpiJob::divide(int color, int key, std::unique_ptr<redset::Exchange> &part) {
    std::unique_ptr<MpiExchange> made;
    Status status = agree(*all_, MpiExchange::make(all_->communicator(), color, key, made));
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
    return with_world([&](MpiExchange &all) { return meet_ranks(all, root, job); });
}

Status MpiJob::refuse(const SavedStatus &why) {
    return with_world([&](MpiExchange &all) { return agree(all, why.again()); });
}

} // namespace cd::mpi
