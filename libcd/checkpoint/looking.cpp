// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "checkpoint/looking.h"

#include "base/no_throw.h"
#include "checkpoint/sharing.h"
#include "checkpoint/store_list.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <set>
#include <span>
#include <utility>

namespace cd::checkpoint {
namespace {

Status because_of_list(Status status, const std::vector<OpenStore> &stores, size_t which,
                       size_t asked_for) {
    return status || which < asked_for
               ? status
               : because_it_is_listed(status, stores[which].folder.directory(),
                                      stores.front().folder);
}

// Calls use(store, which) for those that this rank speaks for, until one fails.
template <typename Use>
Status each_spoken_for(std::vector<OpenStore> &stores, size_t asked_for, const Use &use) {
    for (size_t i = 0; i < stores.size(); ++i) {
        Status status = stores[i].speaks ? use(stores[i], i) : Status::ok();
        if (!status) {
            return because_of_list(status, stores, i, asked_for);
        }
    }
    return Status::ok();
}

// Who speaks keeps other jobs away from then on, and is seen to do so in its directories by others
// who see them on other nodes.
Status take_all(Job &job, uint64_t session, size_t asked_for, std::vector<OpenStore> &stores) {
    return agree(job, catch_exceptions([&] {
                     const User user{session, job.rank(), job.node()};
                     return each_spoken_for(stores, asked_for, [&](OpenStore &store, size_t) {
                         return DirLock::take(store.folder.path(), user, store.use);
                     });
                 }));
}

// Whom a rank sees of those who speak for a directory.
struct Sight {
    int32_t first = -1; // the position of who comes first; nobody's where it does not speak itself
    int32_t count = 0;
};

Status find_sights(Job &job, uint64_t session, size_t asked_for, std::vector<OpenStore> &stores,
                   std::vector<Sight> &sights) {
    sights.assign(stores.size(), {});
    return each_spoken_for(stores, asked_for, [&](OpenStore &store, size_t which) {
        std::vector<int> users;
        Status status = DirLock::find_users(store.folder.path(), session, users);
        Sight &sight = sights[which];
        sight.first = job.all().self();
        for (const int user : users) {
            const auto at = std::ranges::lower_bound(job.ranks(), user);
            if (at != job.ranks().end() && *at == user) {
                const auto position = static_cast<int32_t>(at - job.ranks().begin());
                sight.first = std::min(sight.first, position);
                ++sight.count;
            }
        }
        return status;
    });
}

std::vector<Sight> sights_of_all(const std::vector<redset::Bytes> &heard, size_t store) {
    std::vector<Sight> sights;
    for (const redset::Bytes &theirs : heard) {
        Sight &sight = sights.emplace_back();
        if ((store + 1) * sizeof sight <= theirs.size()) {
            std::memcpy(&sight, theirs.data() + store * sizeof sight, sizeof sight);
        }
    }
    return sights;
}

// Where a file system tells of new files late, who looks last sees all.
bool anyone_sees_all(const std::vector<int> &speakers, const std::vector<Sight> &sights) {
    const size_t all = std::set<int>(speakers.begin(), speakers.end()).size();
    return std::ranges::any_of(
        sights, [&](const Sight &sight) { return std::cmp_equal(sight.count, all); });
}

void warn_that_copies_are_apart(Job &job, const CheckpointDir &folder,
                                const std::vector<int> &speakers) {
    const auto other =
        std::ranges::find_if(speakers, [&](int speaker) { return speaker != speakers.front(); });
    if (other == speakers.end() || job.all().self() != 0) {
        return;
    }
    const std::string rank = std::to_string(job.ranks()[static_cast<size_t>(*other)]);
    const std::string line =
        folder.path() + ", where flush= copies to, is not one directory for all nodes: ranks " +
        std::to_string(job.ranks().front()) + " and " + rank +
        " do not see each other's files in it; copies that only one node has "
        "are lost with it";
    os::system().warn(line.c_str());
}

// What all nodes see is told by one rank, and not by one of each node.
Status find_tellers(Job &job, uint64_t session, size_t asked_for, std::optional<size_t> flush_store,
                    std::vector<OpenStore> &stores, std::vector<Findings> &findings) {
    std::vector<Sight> own;
    std::vector<redset::Bytes> all;
    Status seen =
        catch_exceptions([&] { return find_sights(job, session, asked_for, stores, own); });
    if (Status status = agree(job, seen, std::as_bytes(std::span(own)), all); !status) {
        return status;
    }
    return agree_on_memory(
        job, catch_exceptions([&] {
            for (size_t i = 0; i < stores.size(); ++i) {
                const std::vector<Sight> sights = sights_of_all(all, i);
                std::vector<int> first;
                std::ranges::transform(sights, std::back_inserter(first), &Sight::first);
                const bool is_one = anyone_sees_all(findings[i].speakers, sights);
                findings[i].speakers = find_common_speakers(findings[i].speakers, first);
                if (i == flush_store && !is_one) {
                    warn_that_copies_are_apart(job, stores[i].folder, findings[i].speakers);
                }
            }
        }));
}

} // namespace

Status look(Job &job, uint64_t session, size_t asked_for, std::optional<size_t> flush_store,
            std::vector<OpenStore> &stores, std::vector<Findings> &findings) {
    if (Status status = take_all(job, session, asked_for, stores); !status) {
        return status;
    }
    if (Status status = find_tellers(job, session, asked_for, flush_store, stores, findings);
        !status) {
        return status;
    }
    const int self = job.all().self();
    for (size_t i = 0; i < stores.size(); ++i) {
        Content content;
        Status looked = catch_exceptions([&] {
            const bool tells =
                stores[i].speaks && findings[i].speakers[static_cast<size_t>(self)] == self;
            Status status = tells ? stores[i].folder.look(content) : Status::ok();
            return because_of_list(status, stores, i, asked_for);
        });
        if (Status status = share(job, looked, content, findings[i].contents); !status) {
            return status;
        }
    }
    return Status::ok();
}

} // namespace cd::checkpoint
