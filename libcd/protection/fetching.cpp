// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "protection/fetching.h"

#include "base/attempt.h"
#include "protection/handing_over.h"
#include "protection/moving.h"
#include "protection/sharing.h"
#include "protection/store_list.h"
#include "protection/use_lock.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <span>

namespace cd::protection {
namespace {

// A directory that this rank has, or holds for others.
struct Place {
    size_t store = 0;
    Folder folder;
    std::unique_ptr<UseLock> use = nullptr; // none: it is left alone
};

class Fetching {
public:
    Fetching(Job &job, const RootApart &root, bool sync)
        : job_(job), root_(root), sync_(sync), has_root_(root.ranks.contains(job.rank())) {}

    // The steps, in which all meet.
    Status run() {
        Status status = agree_on_session();
        status = status ? agree(job_, attempt([&] { return open_places(); })) : status;
        status = status ? agree(job_, attempt([&] { return leave_what_is_one(); })) : status;
        status = status ? look() : status;
        status = status ? agree(job_, attempt([&] { return bury(); })) : status;
        status = status ? hand_over() : status;
        status = status ? look() : status;
        return status ? agree(job_, attempt([&] { return remove_what_is_there_now(); })) : status;
    }

private:
    Status agree_on_session() {
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

    // ---- Places: who has the root has all of them, in the order of stores

    Status open_places() {
        for (const Elsewhere &each : root_.elsewhere) {
            stores_.insert(*each.store);
            rounds_ = std::max(rounds_, static_cast<size_t>(std::ranges::count(
                                            root_.elsewhere, each.rank, &Elsewhere::rank)));
        }
        rounds_ = std::max(rounds_, stores_.size());
        return has_root_ ? open_own() : open_held();
    }

    Status open_own() {
        for (const size_t store : stores_) {
            Place &place = places_.emplace_back(Place{store, {}});
            Status status =
                Folder::open(root_.asked.directories[store], root_.root, sync_, place.folder);
            status = status ? use(place) : status;
            if (!status) {
                return status;
            }
        }
        return Status::ok();
    }

    Status open_held() {
        const MessageKeeper keeper;
        for (const Elsewhere &each : root_.elsewhere) {
            if (each.rank != job_.rank()) {
                continue;
            }
            Place &place = places_.emplace_back(Place{*each.store, {}});
            bool there = false;
            Status status = Folder::find(each.directory, root_.root, sync_, place.folder, there);
            status = status && there ? UseLock::check_unused(place.folder.path()) : status;
            if (status && there) {
                (void)use(place).is_ok();
            }
        }
        return Status::ok();
    }

    Status use(Place &place) {
        return UseLock::take(place.folder.path(), {session_, job_.rank(), job_.node()}, place.use);
    }

    // What several see is of whoever has the root, or of who comes first.
    Status leave_what_is_one() {
        for (Place &place : places_) {
            const bool is_others =
                !has_root_ && place.use != nullptr &&
                std::ranges::any_of(job_.ranks(), [&](int rank) {
                    return (root_.ranks.contains(rank) || rank < job_.rank()) &&
                           UseLock::is_used_by(place.folder.path(), session_, rank);
                });
            if (is_others) {
                place.use = nullptr;
            }
        }
        return Status::ok();
    }

    // ---- What there is

    Status look() {
        apart_ = {};
        apart_.ranks = job_.ranks();
        for (size_t round = 0; round < rounds_; ++round) {
            Content own;
            Status looked = attempt([&] { return look_at(round, own); });
            std::vector<Content> all;
            if (Status status = share(job_, looked, own, all); !status) {
                return status;
            }
            Status sorted = attempt([&] {
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

    // What is held and cannot be looked at is left alone.
    Status look_at(size_t round, Content &content) {
        Place *const place = round < places_.size() ? &places_[round] : nullptr;
        if (place == nullptr || place->use == nullptr) {
            return Status::ok();
        }
        if (has_root_) {
            return place->folder.look(content);
        }
        const MessageKeeper keeper;
        if (!place->folder.look(content)) {
            content = {};
            place->use = nullptr;
        }
        return Status::ok();
    }

    void sort_in(size_t round, int position, Content content) {
        const int rank = job_.ranks()[static_cast<size_t>(position)];
        if (root_.ranks.contains(rank)) {
            if (round < stores_.size()) {
                const size_t store = *std::next(stores_.begin(), static_cast<long>(round));
                apart_.of_its_own[{store, position}] = std::move(content);
            }
            return;
        }
        size_t before = 0;
        for (const Elsewhere &each : root_.elsewhere) {
            if (each.rank == rank && before++ == round) {
                apart_.held.push_back({position, *each.store, round, std::move(content)});
                return;
            }
        }
    }

    // ---- What is done

    // One rank is enough.
    Status bury() {
        if (job_.rank() != *root_.ranks.begin()) {
            return Status::ok();
        }
        for (const Tombstone &tombstone : find_unheard(apart_)) {
            if (Status status = places_.front().folder.bury(tombstone, job_.rank()); !status) {
                return status;
            }
        }
        return Status::ok();
    }

    Status hand_over() {
        std::vector<HandingOver> all;
        Status found = attempt([&] {
            all = find_missing(apart_);
            return Status::ok();
        });
        if (Status status = agree_on_memory(job_, found); !status) {
            return status;
        }
        for (const HandingOver &each : all) {
            const Folder &folder = folder_for(each);
            Status status = agree(job_, attempt([&] { return make_room(folder, each); }));
            status = status ? move_files(job_, folder, each.point, each.data, sync_) : status;
            status = status ? move_files(job_, folder, each.point, each.records, sync_) : status;
            if (!status) {
                return status;
            }
        }
        return Status::ok();
    }

    // Of who has no part in it, any.
    const Folder &folder_for(const HandingOver &handing) const {
        if (!has_root_) {
            return handing.round < places_.size() ? places_[handing.round].folder : no_folder_;
        }
        return std::ranges::find(places_, handing.store, &Place::store)->folder;
    }

    Status make_room(const Folder &folder, const HandingOver &handing) {
        const auto is_to_this = [&](const Transfer &each) { return each.to == job_.all().self(); };
        return std::ranges::any_of(handing.data, is_to_this) ||
                       std::ranges::any_of(handing.records, is_to_this)
                   ? folder.make(handing.point)
                   : Status::ok();
    }

    // What cannot be removed stays.
    Status remove_what_is_there_now() {
        const MessageKeeper keeper;
        for (const Held &held : apart_.held) {
            const Folder &folder = folder_for({held.store, held.round, {}, {}, {}});
            if (held.position != job_.all().self() || places_[held.round].use == nullptr) {
                continue;
            }
            const std::set<Point> gone = find_dispensable(apart_, held);
            const auto keeps = [&](const Point &point) { return !gone.contains(point); };
            const uint64_t end = gone.empty() ? 0 : gone.rbegin()->number + 1;
            (void)folder.remove_before(end, keeps).is_ok();
            if (gone.size() == held.content.points.size() && lists_nothing_else(folder)) {
                places_[held.round].use = nullptr;
                UseLock::remove_what_the_dead_left(folder.path(), session_);
                folder.remove_what_is_left();
            }
        }
        return Status::ok();
    }

    // Where other points in time may be found, which are not asked for here.
    bool lists_nothing_else(const Folder &folder) const {
        StoreList list;
        return read_store_list(folder, list) &&
               std::ranges::all_of(list.directories, [&](const std::string &directory) {
                   return std::ranges::find(root_.asked.directories, directory) !=
                          root_.asked.directories.end();
               });
    }

    Job &job_;
    const RootApart &root_;
    const bool sync_;
    const bool has_root_;
    uint64_t session_ = 0;
    std::set<size_t> stores_; // in which anything is elsewhere
    size_t rounds_ = 0;       // so many places one rank has at most
    std::vector<Place> places_;
    Folder no_folder_;
    Apart apart_;
};

} // namespace

Status fetch(Job &job, const RootApart &root, bool sync) { return Fetching(job, root, sync).run(); }

} // namespace cd::protection
