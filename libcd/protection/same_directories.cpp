// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "protection/same_directories.h"

#include <algorithm>
#include <utility>

namespace cd::protection {
namespace {

// Which of the stores each is.
Status find_places(const Request &request, Introduced &introduced) {
    const std::vector<Introduction> &all = introduced.all;
    const std::vector<OpenStore> &stores = introduced.stores;
    std::vector<size_t> &places = introduced.places;
    places.clear();
    for (size_t i = 0; i < stores.size(); ++i) {
        places.push_back(i);
        for (size_t earlier = 0; earlier < i && places[i] == i; ++earlier) {
            const auto same =
                static_cast<size_t>(std::ranges::count_if(all, [&](const Introduction &each) {
                    return each.directories[earlier] == each.directories[i];
                }));
            const bool is_flush = request.flush_store == i || request.flush_store == earlier;
            if (same > 0 && (same < all.size() || is_flush)) {
                return fail(CD_ERROR_STORAGE_VALUE,
                            "%s and %s are one directory%s; flush= needs one of its own, and "
                            "where dir= and the STORE= of levels lead to one directory they have "
                            "to do so on all nodes",
                            stores[earlier].folder.path().c_str(), stores[i].folder.path().c_str(),
                            same < all.size() ? " on some nodes" : "");
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
    for (Introduction &each : introduced.all) {
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

Status keep_each_once(const Request &request, Introduced &introduced) {
    Status status = find_places(request, introduced);
    if (status) {
        erase_other_names(request, introduced);
    }
    return status;
}

} // namespace cd::protection
