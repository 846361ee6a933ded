// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "checkpoint/fetching.h"

#include "base/no_throw.h"
#include "checkpoint/file_transfer.h"
#include "checkpoint/handing_over.h"
#include "checkpoint/open_places.h"
#include "checkpoint/sharing.h"
#include "checkpoint/store_list.h"

#include <algorithm>
#include <map>
#include <set>

namespace cd::checkpoint {
namespace {

class Fetching {
public:
    Fetching(Job &job, const RootApart &root, bool sync, std::vector<Holding> &same)
        : job_(job), root_(root), sync_(sync), has_root_(root.ranks.contains(job.rank())),
          open_(job, root, sync), places_(open_.places()), same_(same) {}

    // The steps, in which all meet.
    Status run() {
        Status status = open_.open();
        status = status ? open_.leave_what_is_one(same_) : status;
        status = status ? look() : status;
        status =
            status ? agree(job_, catch_exceptions([&] { return write_commit_marker(); })) : status;
        status = status ? hand_over() : status;
        status = status ? look() : status;
        status =
            status ? agree(job_, catch_exceptions([&] { return force_what_is_there(); })) : status;
        status = status ? agree(job_, catch_exceptions([&] { return list_stores(); })) : status;
        status = status ? agree(job_, catch_exceptions([&] { return remove_what_is_there_now(); }))
                        : status;
        status =
            status ? agree(job_, catch_exceptions([&] { return remove_empty_places(); })) : status;
        if (!status) {
            open_.leave();
        }
        return status;
    }

private:
    void count_rounds() {
        for (const Holding &each : root_.holdings) {
            if (!open_.is_lacking(each.store)) {
                stores_.insert(each.store);
            }
            rounds_ = std::max(rounds_, static_cast<size_t>(std::ranges::count(
                                            root_.holdings, each.rank, &Holding::rank)));
        }
        stores_.insert(0); // which tells what does not count any more
        rounds_ = std::max(rounds_, stores_.size());
    }

    // ---- What there is

    Status look() {
        Status begun = catch_exceptions([&] {
            apart_ = {};
            apart_.ranks = job_.ranks();
            count_rounds();
            return Status::ok();
        });
        if (Status status = agree_on_memory(job_, begun); !status) {
            return status;
        }
        for (size_t round = 0; round < rounds_; ++round) {
            Content own;
            Status looked = catch_exceptions([&] { return look_at(round, own); });
            std::vector<Content> all;
            if (Status status = share(job_, looked, own, all); !status) {
                return status;
            }
            Status sorted = catch_exceptions([&] {
                for (size_t position = 0; position < all.size(); ++position) {
                    sort_in(round, static_cast<int>(position), std::move(all[position]));
                }
                return Status::ok();
            });
            if (Status status = agree_on_memory(job_, sorted); !status) {
                return status;
            }
        }
        return Status::ok();
    }

    Status look_at(size_t round, Content &content) {
        if (has_root_) {
            return round < stores_.size() ? places_[store_of(round)].folder.look(content)
                                          : Status::ok();
        }
        if (round >= places_.size() || places_[round].use == nullptr) {
            return Status::ok();
        }
        const SavedMessage keeper;
        if (!places_[round].folder.look(content)) { // it is left alone
            content = {};
            places_[round].use = nullptr;
        }
        std::erase_if(content.points, [&](const auto &found) {
            return !is_for_its_store(found.first, *places_[round].holding);
        });
        return Status::ok();
    }

    // Copies are where all see them. What is not named may be the store of a level by another name.
    bool is_for_its_store(const CheckpointId &point, const Holding &holding) const {
        if (holding.is_named && !root_.is_earlier(holding.store)) {
            return true;
        }
        const auto store = root_.asked.stores.find(point.level);
        return point.level != flush_level &&
               (holding.is_named || store == root_.asked.stores.end() || store->second == 0);
    }

    size_t store_of(size_t round) const {
        return *std::next(stores_.begin(), static_cast<std::ptrdiff_t>(round));
    }

    void sort_in(size_t round, int position, Content content) {
        const int rank = job_.ranks()[static_cast<size_t>(position)];
        if (root_.ranks.contains(rank)) {
            if (round < stores_.size()) {
                apart_.of_its_own[{store_of(round), position}] = std::move(content);
            }
            return;
        }
        size_t before = 0;
        for (const Holding &each : root_.holdings) {
            if (each.rank == rank && before++ == round) {
                if (!open_.is_lacking(each.store)) {
                    apart_.held.push_back({position, each.store, round, std::move(content)});
                }
                return;
            }
        }
    }

    // ---- What is done

    // On all nodes, since one of them may be lost.
    Status write_commit_marker() {
        if (!has_root_) {
            return Status::ok();
        }
        for (const CommitMarker &tombstone : find_unheard(apart_)) {
            if (Status status = places_.front().folder.write_commit_marker(tombstone, job_.rank());
                !status) {
                return status;
            }
        }
        return Status::ok();
    }

    Status hand_over() {
        std::vector<HandingOver> all;
        Status found = catch_exceptions([&] {
            all = find_missing(apart_);
            return Status::ok();
        });
        if (Status status = agree_on_memory(job_, found); !status) {
            return status;
        }
        for (const HandingOver &each : all) {
            if (Status status = hand_over(each); !status) {
                return status;
            }
        }
        return Status::ok();
    }

    // Who starts afresh can do without, but has to know what there was.
    Status hand_over(const HandingOver &handing) {
        const CheckpointDir &folder = folder_for(handing);
        Status status =
            agree(job_, catch_exceptions([&] { return reserve_room(folder, handing); }));
        status = status ? move_files(job_, folder, handing.point, handing.data, sync_) : status;
        if (root_.asked.afresh && status.code() == CD_ERROR_STORE_FULL) {
            tell_that_it_stays(handing);
            status = Status::ok();
        }
        status = status ? move_files(job_, folder, handing.point, handing.records, sync_) : status;
        if (!status && has_root_) {
            best_effort([&] { folder.remove_if_empty(handing.point); });
        }
        return status;
    }

    // Of who has no part in it, any.
    const CheckpointDir &folder_for(const HandingOver &handing) const {
        const size_t place = has_root_ ? handing.store : handing.round;
        return place < places_.size() ? places_[place].folder : no_folder_;
    }

    Status reserve_room(const CheckpointDir &folder, const HandingOver &handing) {
        const auto is_to_this = [&](const Transfer &each) { return each.to == job_.all().self(); };
        return std::ranges::any_of(handing.data, is_to_this) ||
                       std::ranges::any_of(handing.records, is_to_this)
                   ? folder.make(handing.point)
                   : Status::ok();
    }

    void tell_that_it_stays(const HandingOver &handing) {
        const SavedMessage keeper;
        for (const Transfer &each : handing.data) {
            if (each.from == job_.all().self()) {
                best_effort([&] {
                    const std::string line =
                        places_[handing.round].folder.path_of(handing.point) +
                        ": it is of root \"" + root_.root +
                        "\", which begins afresh, and none of its ranks is here, nor has room for "
                        "it; remove it";
                    os::system().warn(line.c_str());
                    return Status::ok();
                });
                return;
            }
        }
    }

    // Names that a process has given that was interrupted may not outlive the machine yet.
    Status force_what_is_there() const {
        for (const Held &held : apart_.held) {
            const auto own = apart_.of_its_own.find({held.store, job_.all().self()});
            for (const auto &[point, ranks] : held.content.points) {
                if (own == apart_.of_its_own.end() || !own->second.points.contains(point)) {
                    continue;
                }
                if (Status status = places_[held.store].folder.make(point); !status) {
                    return status;
                }
            }
        }
        return Status::ok();
    }

    // Before it is nowhere else: a start of other stores looks into those that are listed.
    Status list_stores() const {
        if (!has_root_ || stores_.size() < 2) {
            return Status::ok();
        }
        const CheckpointDir &first = places_.front().folder;
        StoreList list;
        {
            const SavedMessage keeper;
            if (!read_store_list(first, list)) {
                return Status::ok(); // people have to see to it
            }
        }
        const size_t listed = list.directories.size();
        for (size_t store = 1; store < places_.size(); ++store) {
            const std::string directory = places_[store].folder.directory();
            if (!open_.is_lacking(store) &&
                std::ranges::find(list.directories, directory) == list.directories.end()) {
                list.directories.push_back(directory);
            }
        }
        return list.directories.size() == listed
                   ? Status::ok()
                   : write_store_list(first, job_.rank(), sync_, list.directories);
    }

    // What cannot be removed stays.
    Status remove_what_is_there_now() {
        const SavedMessage keeper;
        for (const Held &held : apart_.held) {
            if (held.position == job_.all().self() && places_[held.round].use != nullptr) {
                remove_what_is_there_now(held, places_[held.round]);
            }
        }
        return Status::ok();
    }

    void remove_what_is_there_now(const Held &held, Place &place) const {
        const CheckpointDir &folder = place.folder;
        const Dispensable dispensable = find_dispensable(apart_, held);
        for (const auto &[point, names] : dispensable.files) {
            folder.remove_files(point, names);
        }
        const auto keeps = [&](const CheckpointId &point) {
            return !dispensable.points.contains(point);
        };
        const auto &gone = dispensable.points;
        const uint64_t end = gone.empty() ? 0 : gone.rbegin()->number + 1;
        (void)folder.remove_before(end, keeps).is_ok();
    }

    // When those who hold them on a node have all done so.
    Status remove_empty_places() {
        const SavedMessage keeper;
        for (Place &place : places_) {
            const CheckpointDir &folder = place.folder;
            if (has_root_ || place.use == nullptr || !has_no_points(folder) ||
                !lists_nothing_else(folder)) {
                continue;
            }
            place.use = nullptr;
            DirLock::remove_what_the_dead_left(folder.path(), open_.session());
            folder.remove_what_is_left();
        }
        return Status::ok();
    }

    static bool has_no_points(const CheckpointDir &folder) {
        std::vector<std::string> names;
        return names_in(folder.path(), names) &&
               std::ranges::none_of(
                   names, [](const std::string &name) { return point_of(name).has_value(); });
    }

    // Where other points in time may be found, which are not asked for here, nor have come.
    bool lists_nothing_else(const CheckpointDir &folder) const {
        const auto is_one_of = [](const std::vector<std::string> &all,
                                  const std::string &directory) {
            return std::ranges::find(all, directory) != all.end();
        };
        StoreList list;
        return read_store_list(folder, list) &&
               std::ranges::all_of(list.directories, [&](const std::string &directory) {
                   return is_one_of(root_.asked.directories, directory) ||
                          is_the_roots(directory) ||
                          (is_one_of(root_.earlier, directory) && is_empty_now(directory));
               });
    }

    bool is_empty_now(const std::string &earlier) const {
        CheckpointDir folder;
        bool there = false;
        return CheckpointDir::find(earlier, root_.root, sync_, folder, there) &&
               (!there || has_no_points(folder));
    }

    bool is_the_roots(const std::string &directory) const {
        return std::ranges::any_of(same_, [&](const Holding &each) {
            return each.rank == job_.rank() && each.directory == directory;
        });
    }

    Job &job_;
    const RootApart &root_;
    const bool sync_;
    const bool has_root_;
    OpenPlaces open_;
    std::vector<Place> &places_; // which are open
    std::vector<Holding> &same_; // what a rank that has the root has, too
    std::set<size_t> stores_;    // in which anything is elsewhere
    size_t rounds_ = 0;          // so many places one rank has at most
    CheckpointDir no_folder_;
    Apart apart_;
};

} // namespace

Status fetch(Job &job, const RootApart &root, bool sync, std::vector<Holding> &same) {
    return Fetching(job, root, sync, same).run();
}

} // namespace cd::checkpoint
