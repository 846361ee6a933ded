// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "protection/looking.h"

#include "base/attempt.h"
#include "protection/sharing.h"
#include "protection/store_list.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace cd::protection {
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
    return agree(job, attempt([&] {
                     const User user{session, job.rank(), job.node()};
                     return each_spoken_for(stores, asked_for, [&](OpenStore &store, size_t) {
                         return UseLock::take(store.folder.path(), user, store.use);
                     });
                 }));
}

// By store, the position of who comes first in a directory; nobody's where this rank does not
// speak.
using Firsts = std::vector<int32_t>;

Status find_firsts(Job &job, uint64_t session, size_t asked_for, std::vector<OpenStore> &stores,
                   Firsts &firsts) {
    firsts.assign(stores.size(), -1);
    return each_spoken_for(stores, asked_for, [&](OpenStore &store, size_t which) {
        std::vector<int> users;
        Status status = UseLock::find_users(store.folder.path(), session, users);
        int32_t position = job.all().self();
        for (const int user : users) {
            const auto at = std::ranges::lower_bound(job.ranks(), user);
            if (at != job.ranks().end() && *at == user) {
                position = std::min(position, static_cast<int32_t>(at - job.ranks().begin()));
            }
        }
        firsts[which] = position;
        return status;
    });
}

// What all nodes see is told by one rank, and not by one of each node.
Status find_tellers(Job &job, uint64_t session, size_t asked_for, std::vector<OpenStore> &stores,
                    std::vector<Findings> &findings) {
    Firsts own;
    std::vector<redset::Bytes> all;
    Status seen = attempt([&] { return find_firsts(job, session, asked_for, stores, own); });
    if (Status status = agree(job, seen, std::as_bytes(std::span(own)), all); !status) {
        return status;
    }
    return agree_on_memory(
        job, attempt([&] {
            for (size_t i = 0; i < stores.size(); ++i) {
                std::vector<int> first;
                for (const redset::Bytes &theirs : all) {
                    int32_t position = -1;
                    if ((i + 1) * sizeof position <= theirs.size()) {
                        std::memcpy(&position, theirs.data() + i * sizeof position,
                                    sizeof position);
                    }
                    first.push_back(position);
                }
                findings[i].speakers = find_common_speakers(findings[i].speakers, first);
            }
        }));
}

} // namespace

Status look(Job &job, uint64_t session, size_t asked_for, std::vector<OpenStore> &stores,
            std::vector<Findings> &findings) {
    if (Status status = take_all(job, session, asked_for, stores); !status) {
        return status;
    }
    if (Status status = find_tellers(job, session, asked_for, stores, findings); !status) {
        return status;
    }
    const int self = job.all().self();
    for (size_t i = 0; i < stores.size(); ++i) {
        Content content;
        Status looked = attempt([&] {
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

} // namespace cd::protection
