// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "checkpoint/same_directories.h"

#include "base/no_throw.h"

#include <algorithm>
#include <string>
#include <utility>

namespace cd::checkpoint {
namespace {

Status are_one(const std::string &one, const std::string &other, const char *where) {
    const std::string both =
        one == other ? one + " is given twice" : one + " and " + other + " are one directory";
    return fail(
        CD_ERROR_STORAGE_VALUE,
        "%s%s; flush= needs one of its own, and where dir= and the STORE= of levels lead to "
        "one directory they have to do so on all nodes",
        both.c_str(), where);
}

// Which of the stores each is. Where two must not be one, those fail whose two are, as only there
// the names are of one directory, and others find no more.
Status find_places(size_t self, const Request &request, Introduced &introduced) {
    const std::vector<Handshake> &all = introduced.all;
    const std::vector<OpenStore> &stores = introduced.stores;
    std::vector<size_t> &places = introduced.places;
    places.clear();
    for (size_t i = 0; i < stores.size(); ++i) {
        places.push_back(i);
        for (size_t earlier = 0; earlier < i && places[i] == i; ++earlier) {
            const auto is_one = [&](const Handshake &each) {
                return each.directories[earlier] == each.directories[i];
            };
            const auto same = static_cast<size_t>(std::ranges::count_if(all, is_one));
            const bool is_flush = request.flush_store == i || request.flush_store == earlier;
            if (same > 0 && (same < all.size() || is_flush)) {
                return is_one(all[self])
                           ? are_one(stores[earlier].folder.path(), stores[i].folder.path(),
                                     same < all.size() ? " on some nodes" : "")
                           : Status::ok();
            }
            places[i] = same > 0 ? earlier : i;
        }
    }
    return Status::ok();
}

void erase_other_names(const Request &request, Introduced &introduced) {
    std::vector<OpenStore> &stores = introduced.stores;
    std::vector<size_t> &places = introduced.places;
    std::vector<size_t> left; // of those that were opened
    std::vector<size_t> now(stores.size());
    introduced.asked_for = 0;
    for (size_t i = 0; i < stores.size(); ++i) {
        if (places[i] == i) {
            now[i] = left.size();
            left.push_back(i);
            introduced.asked_for += i < request.stores.size() ? 1 : 0;
        }
    }
    const auto pick = [&](auto &values) {
        for (size_t i = 0; i < left.size(); ++i) {
            if (left[i] != i) {
                values[i] = std::move(values[left[i]]);
            }
        }
        values.resize(left.size());
    };
    pick(stores);
    for (Handshake &each : introduced.all) {
        pick(each.directories);
        pick(each.problems);
        pick(each.there);
    }
    places.resize(request.stores.size());
    for (size_t &place : places) {
        place = now[place];
    }
}

} // namespace

Status keep_each_once(Job &job, const Request &request, Introduced &introduced) {
    const auto self = static_cast<size_t>(job.all().self());
    Status found = catch_exceptions([&] { return find_places(self, request, introduced); });
    if (Status status = agree(job, found); !status) {
        return status;
    }
    return agree_on_memory(job, catch_exceptions([&] { erase_other_names(request, introduced); }));
}

} // namespace cd::checkpoint
