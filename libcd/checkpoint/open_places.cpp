// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "checkpoint/open_places.h"

#include "base/no_throw.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace cd::checkpoint {

Status OpenPlaces::agree_on_session() {
    uint64_t own = 0;
    Status drawn = os::system().random(&own, sizeof own) == 0
                       ? Status::ok()
                       : fail(CD_ERROR_STORE_IO, "the system gives no random number");
    std::vector<redset::Bytes> all;
    if (Status status = agree(job_, drawn, std::as_bytes(std::span(&own, size_t{1})), all);
        !status) {
        return status;
    }
    std::memcpy(&session_, all.front().data(), std::min(sizeof session_, all.front().size()));
    return Status::ok();
}

Status OpenPlaces::open() {
    if (Status status = agree_on_session(); !status) {
        return status;
    }
    std::vector<std::byte> own; // by earlier store: whether it cannot be had here
    std::vector<redset::Bytes> all;
    Status opened = catch_exceptions([&] { return has_root_ ? open_own(own) : open_held(); });
    if (Status status = agree(job_, opened, own, all); !status) {
        return status;
    }
    return agree_on_memory(job_, catch_exceptions([&] {
                               for (const redset::Bytes &theirs : all) {
                                   close_where_lacking(theirs);
                               }
                               return Status::ok();
                           }));
}

Status OpenPlaces::open_own(std::vector<std::byte> &lacking) {
    for (const std::string &directory : root_.asked.directories) {
        if (Status status = open_own(directory); !status) {
            return status;
        }
    }
    for (const std::string &directory : root_.earlier) {
        Status status = open_own(directory);
        if (status.code() == CD_ERROR_NO_MEMORY) {
            return status;
        }
        lacking.push_back(std::byte{!status});
    }
    return Status::ok();
}

Status OpenPlaces::open_own(const std::string &directory) {
    Place &place = places_.emplace_back();
    Status status = CheckpointDir::open(directory, root_.root, sync_, place.folder);
    const auto is_same = [&](const Place &other) {
        return &other != &place && other.folder.identity() == place.folder.identity();
    };
    return status && std::ranges::none_of(places_, is_same)
               ? DirLock::take(place.folder.path(), own_user(), place.use)
               : status;
}

void OpenPlaces::close_where_lacking(const redset::Bytes &lacking) {
    for (size_t i = 0; i < lacking.size(); ++i) {
        const size_t store = root_.asked.directories.size() + i;
        if (lacking[i] == std::byte{} || !lacking_.insert(store).second) {
            continue;
        }
        if (has_root_) {
            places_[store].use = nullptr;
            places_[store].folder.remove_if_empty();
        } else {
            leave_what_is_held_for(store);
        }
    }
}

void OpenPlaces::leave_what_is_held_for(size_t store) {
    for (Place &place : places_) {
        if (place.holding->store == store) {
            place.use = nullptr;
        }
    }
}

void OpenPlaces::leave() {
    const SavedMessage keeper;
    for (Place &place : places_) {
        place.use = nullptr;
        if (has_root_) {
            place.folder.remove_if_empty();
        }
    }
}

Status OpenPlaces::open_held() {
    const SavedMessage keeper;
    for (const Holding &each : root_.holdings) {
        if (each.rank != job_.rank()) {
            continue;
        }
        Place &place = places_.emplace_back();
        place.holding = &each;
        bool there = false;
        Status status = CheckpointDir::find(each.directory, root_.root, sync_, place.folder, there);
        status = status && there ? DirLock::check_unused(place.folder.path(), session_) : status;
        if (status && there) {
            (void)DirLock::take_if_there(place.folder.path(), own_user(), place.use).is_ok();
        }
    }
    return Status::ok();
}

User OpenPlaces::own_user() { return {session_, job_.rank(), job_.node()}; }

Status OpenPlaces::leave_what_is_one(std::vector<Holding> &same) {
    std::vector<std::byte> own;
    Status seen = catch_exceptions([&] {
        for (Place &place : places_) {
            own.push_back(std::byte{leave_if_it_is_others(place)});
        }
        return Status::ok();
    });
    std::vector<redset::Bytes> all;
    if (Status status = agree(job_, seen, own, all); !status) {
        return status;
    }
    return agree_on_memory(job_, catch_exceptions([&] {
                               for (size_t position = 0; position < all.size(); ++position) {
                                   note_what_is_the_roots(job_.ranks()[position], all[position],
                                                          same);
                               }
                               return Status::ok();
                           }));
}

// Whether a rank that has the root sees it.
bool OpenPlaces::leave_if_it_is_others(Place &place) const {
    if (has_root_ || place.use == nullptr) {
        return false;
    }
    const auto uses = [&](int rank) {
        return DirLock::is_used_by(place.folder.path(), session_, rank);
    };
    const bool is_the_roots = std::ranges::any_of(root_.ranks, uses);
    const bool is_others = std::ranges::any_of(
        job_.ranks(), [&](int rank) { return rank < job_.rank() && uses(rank); });
    if (is_the_roots || is_others) {
        place.use = nullptr;
    }
    return is_the_roots;
}

void OpenPlaces::note_what_is_the_roots(int rank, const redset::Bytes &flags,
                                        std::vector<Holding> &same) {
    size_t number = 0;
    for (const Holding &each : root_.holdings) {
        if (each.rank == rank && number++ < flags.size() && flags[number - 1] != std::byte{}) {
            same.push_back(each);
        }
    }
}

} // namespace cd::checkpoint
