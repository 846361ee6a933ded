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
#include <optional>
#include <span>

namespace cd::protection {
namespace {

// A directory that this rank has, or holds for others.
struct Place {
    Folder folder;
    std::unique_ptr<UseLock> use = nullptr; // none: what is held is left alone
    const Holding *holding = nullptr;
};

class Fetching {
public:
    Fetching(Job &job, const RootApart &root, bool sync, std::vector<Holding> &same)
        : job_(job), root_(root), sync_(sync), has_root_(root.ranks.contains(job.rank())),
          same_(same) {}

    // The steps, in which all meet.
    Status run() {
        Status status = agree_on_session();
        status = status ? agree(job_, attempt([&] { return open_places(); })) : status;
        status = status ? leave_what_is_one() : status;
        status = status ? look() : status;
        status = status ? agree(job_, attempt([&] { return bury(); })) : status;
        status = status ? hand_over() : status;
        status = status ? look() : status;
        status = status ? agree(job_, attempt([&] { return force_what_is_there(); })) : status;
        status = status ? agree(job_, attempt([&] { return remove_what_is_there_now(); })) : status;
        if (!status) {
            leave_own_places();
        }
        return status;
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

    // ---- Places: who has the root has all that it asks for, and each a mark in them

    Status open_places() {
        for (const Holding &each : root_.holdings) {
            stores_.insert(each.store);
            rounds_ = std::max(rounds_, static_cast<size_t>(std::ranges::count(
                                            root_.holdings, each.rank, &Holding::rank)));
        }
        stores_.insert(0); // which tells what does not count any more
        rounds_ = std::max(rounds_, stores_.size());
        return has_root_ ? open_own() : open_held();
    }

    Status open_own() {
        for (const std::string &directory : root_.asked.directories) {
            Place place;
            Status status = Folder::open(directory, root_.root, sync_, place.folder);
            const auto is_same = [&](const Place &other) {
                return other.folder.identity() == place.folder.identity();
            };
            status = status && std::ranges::none_of(places_, is_same) ? use(place) : status;
            if (!status) {
                return status;
            }
            places_.push_back(std::move(place));
        }
        return Status::ok();
    }

    // Of a directory in which there is nothing, nothing is left, where none of the root's ranks is
    // about to open it again.
    void leave_own_places() {
        const MessageKeeper keeper;
        for (Place &place : places_) {
            place.use = nullptr;
            if (has_root_) {
                place.folder.remove_if_empty();
            }
        }
    }

    Status open_held() {
        const MessageKeeper keeper;
        for (const Holding &each : root_.holdings) {
            if (each.rank != job_.rank()) {
                continue;
            }
            Place &place = places_.emplace_back();
            place.holding = &each;
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

    Status leave_what_is_one() {
        std::vector<std::byte> own;
        Status seen = attempt([&] {
            for (Place &place : places_) {
                own.push_back(std::byte{leave_if_it_is_others(place)});
            }
            return Status::ok();
        });
        std::vector<redset::Bytes> all;
        if (Status status = agree(job_, seen, own, all); !status) {
            return status;
        }
        return agree_on_memory(job_, attempt([&] {
                                   for (size_t position = 0; position < all.size(); ++position) {
                                       note_what_is_the_roots(job_.ranks()[position],
                                                              all[position]);
                                   }
                                   return Status::ok();
                               }));
    }

    // What several see is of whoever has the root, or of who comes first. Whether a rank that has
    // the root sees it.
    bool leave_if_it_is_others(Place &place) const {
        if (has_root_ || place.use == nullptr) {
            return false;
        }
        const auto uses = [&](int rank) {
            return UseLock::is_used_by(place.folder.path(), session_, rank);
        };
        const bool is_the_roots = std::ranges::any_of(root_.ranks, uses);
        const bool is_others = std::ranges::any_of(
            job_.ranks(), [&](int rank) { return rank < job_.rank() && uses(rank); });
        if (is_the_roots || is_others) {
            place.use = nullptr;
        }
        return is_the_roots;
    }

    void note_what_is_the_roots(int rank, const redset::Bytes &flags) {
        size_t number = 0;
        for (const Holding &each : root_.holdings) {
            if (each.rank == rank && number++ < flags.size() && flags[number - 1] != std::byte{}) {
                same_.push_back(each);
            }
        }
    }

    // ---- What there is

    Status look() {
        Status begun = attempt([&] {
            apart_ = {};
            apart_.ranks = job_.ranks();
            return Status::ok();
        });
        if (Status status = agree_on_memory(job_, begun); !status) {
            return status;
        }
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

    Status look_at(size_t round, Content &content) {
        if (has_root_) {
            return round < stores_.size() ? places_[store_of(round)].folder.look(content)
                                          : Status::ok();
        }
        if (round >= places_.size() || places_[round].use == nullptr) {
            return Status::ok();
        }
        const MessageKeeper keeper;
        if (!places_[round].folder.look(content)) { // it is left alone
            content = {};
            places_[round].use = nullptr;
        }
        if (!places_[round].holding->is_named) {
            std::erase_if(content.points, [&](const auto &found) {
                const auto store = root_.asked.stores.find(found.first.level);
                return store == root_.asked.stores.end() || store->second != 0;
            });
        }
        return Status::ok();
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
                apart_.held.push_back({position, each.store, round, std::move(content)});
                return;
            }
        }
    }

    // ---- What is done

    // On all nodes, since one of them may be lost.
    Status bury() {
        if (!has_root_) {
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
            if (Status status = hand_over(each); !status) {
                return status;
            }
        }
        return Status::ok();
    }

    // Who starts afresh can do without, but has to know what there was.
    Status hand_over(const HandingOver &handing) {
        const Folder &folder = folder_for(handing);
        Status status = agree(job_, attempt([&] { return make_room(folder, handing); }));
        status = status ? move_files(job_, folder, handing.point, handing.data, sync_) : status;
        if (root_.asked.afresh && status.code() == CD_ERROR_STORE_FULL) {
            tell_that_it_stays(handing);
            status = Status::ok();
        }
        status = status ? move_files(job_, folder, handing.point, handing.records, sync_) : status;
        if (!status && has_root_) {
            attempt_quietly([&] { folder.remove_if_empty(handing.point); });
        }
        return status;
    }

    // Of who has no part in it, any.
    const Folder &folder_for(const HandingOver &handing) const {
        const size_t place = has_root_ ? handing.store : handing.round;
        return place < places_.size() ? places_[place].folder : no_folder_;
    }

    Status make_room(const Folder &folder, const HandingOver &handing) {
        const auto is_to_this = [&](const Transfer &each) { return each.to == job_.all().self(); };
        return std::ranges::any_of(handing.data, is_to_this) ||
                       std::ranges::any_of(handing.records, is_to_this)
                   ? folder.make(handing.point)
                   : Status::ok();
    }

    void tell_that_it_stays(const HandingOver &handing) {
        const MessageKeeper keeper;
        for (const Transfer &each : handing.data) {
            if (each.from == job_.all().self()) {
                attempt_quietly([&] {
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

    // What cannot be removed stays.
    Status remove_what_is_there_now() {
        const MessageKeeper keeper;
        for (const Held &held : apart_.held) {
            if (held.position == job_.all().self() && places_[held.round].use != nullptr) {
                remove_what_is_there_now(held, places_[held.round]);
            }
        }
        return Status::ok();
    }

    void remove_what_is_there_now(const Held &held, Place &place) const {
        const Folder &folder = place.folder;
        const Dispensable dispensable = find_dispensable(apart_, held);
        for (const auto &[point, names] : dispensable.files) {
            folder.remove_files(point, names);
        }
        const auto keeps = [&](const Point &point) { return !dispensable.points.contains(point); };
        const auto &gone = dispensable.points;
        const uint64_t end = gone.empty() ? 0 : gone.rbegin()->number + 1;
        (void)folder.remove_before(end, keeps).is_ok();
        if (has_no_points(folder) && lists_nothing_else(folder)) {
            place.use = nullptr;
            UseLock::remove_what_the_dead_left(folder.path(), session_);
            folder.remove_what_is_left();
        }
    }

    static bool has_no_points(const Folder &folder) {
        std::vector<std::string> names;
        return names_in(folder.path(), names) &&
               std::ranges::none_of(
                   names, [](const std::string &name) { return point_of(name).has_value(); });
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
    std::vector<Holding> &same_; // what a rank that has the root has, too
    uint64_t session_ = 0;
    std::set<size_t> stores_; // in which anything is elsewhere
    size_t rounds_ = 0;       // so many places one rank has at most
    std::vector<Place> places_;
    Folder no_folder_;
    Apart apart_;
};

// Where a root's ranks will not open it, or not alike, nothing moves.
bool open_alike(const std::set<int> &ranks, const std::vector<Asked> &asked) {
    const Asked &first = asked[static_cast<size_t>(*ranks.begin())];
    return !first.directories.empty() && std::ranges::all_of(ranks, [&](int rank) {
        const Asked &theirs = asked[static_cast<size_t>(rank)];
        return theirs.directories.size() == first.directories.size() &&
               theirs.flush_store == first.flush_store && theirs.stores == first.stores;
    });
}

// Which of what a root's ranks ask for a directory is, by its name.
std::optional<size_t> store_of_name(const std::string &directory, const std::set<int> &ranks,
                                    const std::vector<Asked> &asked) {
    for (const int rank : ranks) {
        const auto &theirs = asked[static_cast<size_t>(rank)].directories;
        const auto at = std::ranges::find(theirs, directory);
        if (at != theirs.end()) {
            return static_cast<size_t>(at - theirs.begin());
        }
    }
    return std::nullopt;
}

bool is_listed(const std::string &directory, const std::set<int> &ranks,
               const std::vector<Asked> &asked) {
    return std::ranges::any_of(ranks, [&](int rank) {
        return asked[static_cast<size_t>(rank)].listed.contains(directory);
    });
}

bool is_first_of_any(const std::string &directory, const std::vector<Asked> &asked) {
    return std::ranges::any_of(asked, [&](const Asked &theirs) {
        return !theirs.directories.empty() && theirs.directories.front() == directory;
    });
}

} // namespace

RootApart root_apart(const std::string &root, const std::set<int> &ranks, int self,
                     const std::vector<Asked> &asked, const std::vector<Elsewhere> &elsewhere) {
    const Asked &first = asked[static_cast<size_t>(*ranks.begin())];
    RootApart apart{
        root, ranks, ranks.contains(self) ? asked[static_cast<size_t>(self)] : first, {}};
    apart.asked.afresh = first.afresh;
    if (!open_alike(ranks, asked)) {
        return apart;
    }
    for (const Elsewhere &each : elsewhere) {
        if (each.root != root || !each.problem.empty()) {
            continue;
        }
        const auto named = store_of_name(each.directory, ranks, asked);
        const bool is_copies = named && named == first.flush_store;
        const bool is_unknown = !named && (is_listed(each.directory, ranks, asked) ||
                                           !is_first_of_any(each.directory, asked));
        if (!is_copies && !is_unknown) {
            apart.holdings.push_back(
                {each.rank, each.directory, named.value_or(0), named.has_value()});
        }
    }
    return apart;
}

Status fetch(Job &job, const RootApart &root, bool sync, std::vector<Holding> &same) {
    return Fetching(job, root, sync, same).run();
}

} // namespace cd::protection
