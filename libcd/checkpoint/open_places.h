// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "checkpoint/dir_lock.h"
#include "checkpoint/folder.h"
#include "checkpoint/job.h"
#include "checkpoint/root_apart.h"

#include <memory>
#include <set>
#include <vector>

namespace cd::checkpoint {

// A directory that this rank has, or holds for others.
struct Place {
    CheckpointDir folder;
    std::unique_ptr<DirLock> use = nullptr; // none: what is held is left alone
    const Holding *holding = nullptr;
};

// What the ranks open of a root whose points in time are elsewhere: who has the root all of its
// stores, the others what they hold, and each has a mark in them.
class OpenPlaces {
public:
    OpenPlaces(Job &job, const RootApart &root, bool sync)
        : job_(job), root_(root), sync_(sync), has_root_(root.ranks.contains(job.rank())) {}

    // All get the same outcome. Do not throw.
    Status open();
    // What several see is of whoever has the root, or of who comes first. same: gets what a rank
    // that has the root sees, too.
    Status leave_what_is_one(std::vector<Holding> &same);

    // Of a directory in which there is nothing, nothing is left, where none of the root's ranks is
    // about to open it again.
    void leave();

    // By store, for who has the root; else by the number of what it holds.
    std::vector<Place> &places() { return places_; }
    uint64_t session() const { return session_; }
    // Whether it is an earlier store that not all who have the root can have: what is in it stays
    // where it is, all of it, as a point in time counts by what one store has.
    bool is_lacking(size_t store) const { return lacking_.contains(store); }

private:
    Status agree_on_session();
    Status open_own(std::vector<std::byte> &lacking);
    Status open_own(const std::string &directory);
    void close_where_lacking(const redset::Bytes &lacking);
    void leave_what_is_held_for(size_t store);
    Status open_held();
    User own_user();
    bool leave_if_it_is_others(Place &place) const;
    void note_what_is_the_roots(int rank, const redset::Bytes &flags, std::vector<Holding> &same);

    Job &job_;
    const RootApart &root_;
    const bool sync_;
    const bool has_root_;
    uint64_t session_ = 0;
    std::vector<Place> places_;
    std::set<size_t> lacking_;
};

} // namespace cd::checkpoint
