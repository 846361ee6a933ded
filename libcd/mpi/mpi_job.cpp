// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "mpi/mpi_job.h"

#include "base/attempt.h"

#include <algorithm>
#include <mutex>
#include <set>
#include <span>

namespace cd::mpi {
namespace {

using redset::Bytes;

// All ranks of whole call it, and get the same outcome.
Status make_exchange(MPI_Comm whole, int color, int key, std::unique_ptr<MpiExchange> &exchange) {
    // Where there is no memory for others. It lives as long as a thread of the program.
    static thread_local Communicator::Tally spare;
    Communicator part;
    if (Status status = Communicator::split(whole, color, key, part); !status) {
        return status;
    }
    std::unique_ptr<MpiExchange> made;
    Status ready = attempt([&] { made = std::make_unique<MpiExchange>(part); });
    if (made == nullptr) {
        Status all;
        Status met = part.check_all(ready, spare, all);
        if (!met) {
            part.abandon();
        }
        return met ? all : met;
    }
    Status status = made->check_all(ready);
    if (status) {
        exchange = std::move(made);
    }
    return status;
}

// What everybody tells, unless somebody fails.
Status gather_all(MpiExchange &all, Status own, std::string_view tells, std::vector<Bytes> &told) {
    if (Status status = redset::gather_outcomes(all, own, std::as_bytes(std::span(tells)), told);
        !status) {
        return status;
    }
    const auto knows = [](const Bytes &theirs) { return redset::code_of(theirs) == CD_ERROR_NONE; };
    const auto refused = std::ranges::find_if_not(told, knows);
    if (refused != told.end()) {
        return fail(redset::code_of(*refused), "rank %td: %s", refused - told.begin(),
                    redset::text_of(*refused));
    }
    redset::take_codes_off(told);
    return Status::ok();
}

std::string text_in(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

protection::RanksOfRoots by_root(const std::vector<Bytes> &names) {
    protection::RanksOfRoots roots;
    for (size_t rank = 0; rank < names.size(); ++rank) {
        roots[text_in(names[rank])].insert(static_cast<int>(rank));
    }
    return roots;
}

std::string joined(const std::vector<std::string> &directories) {
    std::string text;
    for (const std::string &directory : directories) {
        text += directory;
        text += '\0';
    }
    return text;
}

// What was joined.
std::set<std::string> separated(const Bytes &told) {
    std::set<std::string> all;
    const std::string text = text_in(told);
    for (size_t begin = 0; begin < text.size();) {
        const std::string each = text.c_str() + begin;
        begin += each.size() + 1;
        all.insert(each);
    }
    return all;
}

std::set<std::string> all_in(const std::vector<Bytes> &told) {
    std::set<std::string> all;
    for (const Bytes &theirs : told) {
        all.merge(separated(theirs));
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
                "root \"%s\" was created by ranks %s before, and lives: commit it first, or give "
                "this one another name. Ranks that share a root create it together, and several "
                "ones in the same order, also where threads do it",
                root.c_str(), redset::list_ranks(ranks).c_str());
}

// Where ranks have roots of several names: what each sees of the others', and is told of its own.
// Those who do not meet for a root may be on the nodes that have its points in time.
Status look_elsewhere(MpiExchange &all, const protection::RanksOfRoots &roots,
                      std::string_view root, const std::vector<std::string> &directories,
                      std::vector<protection::Elsewhere> &elsewhere) {
    if (roots.size() < 2) {
        return Status::ok();
    }
    std::string tells;
    std::vector<Bytes> heard;
    Status ready = attempt([&] { tells = joined(directories); });
    if (Status status = gather_all(all, ready, tells, heard); !status) {
        return status;
    }
    Bytes seen;
    ready = attempt([&] {
        protection::RanksOfRoots others = roots;
        others.erase(std::string(root));
        return encode(protection::see_elsewhere(others, all_in(heard), all.self()), seen);
    });
    if (Status status = gather_all(all, ready, text_in(seen), heard); !status) {
        return status;
    }
    Status understood = attempt([&] {
        for (const Bytes &theirs : heard) {
            if (Status status = decode(theirs, elsewhere); !status) {
                return status;
            }
        }
        std::erase_if(elsewhere, [&](const auto &each) { return each.root != root; });
        return Status::ok();
    });
    return all.check_all(understood);
}

// The exchange between all ranks: what the program does with MPI_COMM_WORLD is another matter. It
// is there as long as the process: ranks that end without MPI_Finalize do not meet to free it.
struct World {
    std::mutex mutex; // one thread at a time meets the others
    MpiExchange *exchange = nullptr;
};

constinit World world;

Status open_world() {
    if (world.exchange != nullptr) {
        return Status::ok();
    }
    int rank = 0;
    if (Status status = outcome(own().comm_rank(MPI_COMM_WORLD, &rank), "tell this rank");
        !status) {
        return status;
    }
    std::unique_ptr<MpiExchange> made;
    Status status = make_exchange(MPI_COMM_WORLD, 0, rank, made);
    world.exchange = made.release();
    return status;
}

} // namespace

MpiJob::MpiJob(std::string_view root, std::unique_ptr<MpiExchange> all, std::vector<int> ranks,
               int program_ranks, std::vector<protection::Elsewhere> elsewhere)
    : name_(std::string(root)), all_(std::move(all)), ranks_(std::move(ranks)),
      program_ranks_(program_ranks), elsewhere_(std::move(elsewhere)) {}

Status MpiJob::meet(std::string_view root, const std::vector<std::string> &directories,
                    std::unique_ptr<protection::Job> &job) {
    if (!is_usable()) {
        return fail(
            CD_ERROR_ARGUMENT,
            "the root \"%.*s\" has redundancy, by which the ranks of an MPI program protect each "
            "other; create it between MPI_Init and MPI_Finalize, in the process that calls these",
            static_cast<int>(root.size()), root.data());
    }
    const std::lock_guard lock(world.mutex);
    if (Status status = open_world(); !status) {
        return status;
    }
    MpiExchange &all = *world.exchange;
    std::vector<Bytes> names;
    if (Status status = gather_all(all, Status::ok(), root, names); !status) {
        return status;
    }
    std::vector<int> ranks;
    protection::RanksOfRoots roots;
    std::string own_live;
    Status known = attempt([&] {
        roots = by_root(names);
        const std::set<int> &own = roots[std::string(root)];
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
    std::vector<protection::Elsewhere> elsewhere;
    if (Status status = look_elsewhere(all, roots, root, directories, elsewhere); !status) {
        return status;
    }
    std::unique_ptr<MpiExchange> part;
    if (Status status = make_exchange(all.communicator().get(), ranks.front(), all.self(), part);
        !status) {
        return status;
    }
    MpiExchange &meeting = *part; // lives on, or ends on all
    std::unique_ptr<MpiJob> made;
    Status ready = attempt([&] {
        if (Status status = check_that_nobody_has(std::string(root), live); !status) {
            return status;
        }
        made.reset(new MpiJob(root, std::move(part), std::move(ranks), all.members(),
                              std::move(elsewhere)));
        return Status::ok();
    });
    if (Status status = meeting.check_all(ready); !status) {
        return status;
    }
    job = std::move(made);
    return Status::ok();
}

Status MpiJob::refuse(const KeptOutcome &why) {
    const std::lock_guard lock(world.mutex);
    if (Status status = open_world(); !status) {
        return status;
    }
    std::vector<Bytes> names;
    return gather_all(*world.exchange, why.again(), "", names);
}

std::string MpiJob::name_of_node() {
    char name[MPI_MAX_PROCESSOR_NAME] = "";
    int length = 0;
    own().get_processor_name(name, &length);
    return {name, static_cast<size_t>(length)};
}

Status MpiJob::divide(int color, int key, std::unique_ptr<redset::Exchange> &part) {
    std::unique_ptr<MpiExchange> made;
    if (Status status = make_exchange(all_->communicator().get(), color, key, made); !status) {
        return status;
    }
    part = std::move(made);
    return Status::ok();
}

} // namespace cd::mpi
