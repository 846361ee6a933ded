// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "checkpoint/opening.h"

#include "base/no_throw.h"
#include "base/saved_status.h"
#include "checkpoint/choosing.h"
#include "checkpoint/handshake.h"
#include "checkpoint/leftovers.h"
#include "checkpoint/looking.h"
#include "checkpoint/recover.h"
#include "checkpoint/store_list.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <span>

namespace cd::checkpoint {
namespace {

Status bring_newest(Job &job, const std::vector<OpenStore> &stores,
                    const std::vector<Findings> &findings, const std::vector<Start> &points,
                    bool sync, Leftovers &leftovers, Opened &opened, Division &division) {
    SavedStatus newest;
    for (const Start &each : points) {
        const auto bring_it = [&] {
            return bring(job, stores[each.store].folder, findings[each.store], each.point, sync,
                         division);
        };
        Status status = bring_it();
        bool removed = false;
        // A start that fails removes nothing, unless it was for want of room.
        if (status.code() == CD_ERROR_STORE_FULL) {
            const SavedStatus full(status);
            status = leftovers.remove_for(job, stores, findings, each, removed);
            status = !status ? status : removed ? bring_it() : full.again();
        }
        if (status) {
            if (!newest.is_ok() && job.tells_people()) {
                (void)newest.again().is_ok();
                best_effort([&] {
                    opened.remarks.push_back(std::string(message()) + "; starting from epoch " +
                                             std::to_string(each.point.epoch));
                });
            }
            opened.start = each;
            return status;
        }
        if (removed) {
            char why[900]; // with room for the rest
            std::snprintf(why, sizeof why, "%s", message());
            status =
                fail(status.code(), "%s; only attempts that can never count were removed", why);
        }
        if (status.code() != CD_ERROR_REDUNDANCY_EXCEEDED &&
            status.code() != CD_ERROR_STORE_DAMAGED) {
            return status;
        }
        if (newest.is_ok()) {
            newest = SavedStatus(status);
        }
    }
    return newest.again();
}

// What tells this program's attempts from those that there were.
void find_numbers(const std::vector<Findings> &findings, Opened &opened) {
    opened.sessions.insert(opened.session);
    for (const Findings &found : findings) {
        opened.next_number = std::max(opened.next_number, found.last_number() + 1);
        for (const Content &content : found.contents) {
            for (const auto &[point, files] : content.points) {
                opened.sessions.insert(point.session);
            }
        }
    }
}

// Who speaks for which directory.
Status find_all_speakers(int self, const std::vector<int> &ranks,
                         const std::vector<Handshake> &introductions,
                         std::vector<OpenStore> &stores, std::vector<Findings> &findings) {
    for (size_t i = 0; i < stores.size(); ++i) {
        std::vector<std::string> directories;
        directories.reserve(introductions.size());
        for (const Handshake &each : introductions) {
            directories.push_back(each.directories[i]);
        }
        const Findings &found =
            findings.emplace_back(Findings{ranks, find_speakers(directories), {}});
        stores[i].speaks = stores[i].there && found.speakers[static_cast<size_t>(self)] == self;
    }
    return Status::ok();
}

// A store that nobody asks for any more is kept as long as it has something. All ranks have found
// the same.
void drop_empty_stores(size_t asked_for, uint64_t session, std::vector<Findings> &findings,
                       std::vector<OpenStore> &stores) {
    for (size_t i = stores.size(); i-- > asked_for;) {
        if (!findings[i].nothing()) {
            continue;
        }
        if (OpenStore &store = stores[i]; store.speaks) {
            DirLock::remove_what_the_dead_left(store.folder.path(), session);
            store.use.reset();
            store.folder.remove_if_empty();
        }
        stores.erase(stores.begin() + static_cast<std::ptrdiff_t>(i));
        findings.erase(findings.begin() + static_cast<std::ptrdiff_t>(i));
    }
}

// What cannot be read is written again.
bool is_listed(const std::vector<std::string> &directories, const CheckpointDir &folder) {
    const SavedMessage keeper;
    StoreList list;
    return read_store_list(folder, list) && list.directories == directories;
}

// Before anything new is stored in them.
Status list_stores(Job &job, const std::vector<Findings> &findings, std::vector<OpenStore> &stores,
                   bool sync) {
    OpenStore &first = stores.front();
    if (!first.speaks) {
        return Status::ok();
    }
    first.begins = std::ranges::all_of(findings, &Findings::nothing);
    std::vector<std::string> others;
    for (const OpenStore &store : std::span(stores).subspan(1)) {
        others.push_back(store.folder.directory());
    }
    return is_listed(others, first.folder)
               ? Status::ok()
               : write_store_list(first.folder, job.rank(), sync, others);
}

// By what comes next; what is there already has sets of its own.
std::vector<std::string> groups_of_level(const std::vector<Handshake> &introductions,
                                         size_t level) {
    std::vector<std::string> groups;
    groups.reserve(introductions.size());
    for (const Handshake &each : introductions) {
        groups.push_back(each.groups[level]);
    }
    return groups;
}

Status divide_levels(Job &job, const Request &request, const Introduced &introduced,
                     std::vector<OpenLevel> &levels) {
    for (size_t i = 0; i < request.levels.size(); ++i) {
        const LevelRequest &wanted = request.levels[i];
        OpenLevel &level = levels.emplace_back(
            OpenLevel{wanted.index, wanted.interval, introduced.places[wanted.store], {}, nullptr});
        if (Status status = divide(job.ranks(), groups_of_level(introduced.all, i),
                                   job.program_ranks(), wanted.protecting, level.division);
            !status) {
            return status;
        }
        if (!level.division.fallback.empty()) {
            job.warn_once(level.division.fallback.c_str());
        }
    }
    return Status::ok();
}

// A directory that was only listed, and is needed now.
Status open_where_it_was_not(Job &job, const Findings &findings, bool sync, const User &user,
                             const std::string &root, OpenStore &store) {
    const auto self = job.all().self();
    Status opened = catch_exceptions([&] {
        if (store.there) {
            return Status::ok();
        }
        const std::string directory = store.folder.directory();
        if (Status status = CheckpointDir::open(directory, root, sync, store.folder, "directory");
            !status) {
            return status;
        }
        store.there = true;
        store.speaks = findings.speakers[static_cast<size_t>(self)] == self;
        return store.speaks ? DirLock::take(store.folder.path(), user, store.use) : Status::ok();
    });
    return agree(job, opened);
}

// Its sets may be those of ranks that were elsewhere. What all nodes see is not lost with one.
bool is_protected_now(const Opened &opened, const std::vector<Handshake> &introductions,
                      const std::vector<int> &ranks, const Division &division) {
    const auto &[point, store] = *opened.start;
    if (store == opened.flush_store || point.level == flush_level) {
        return true;
    }
    const auto own = std::ranges::find(opened.levels, point.level, &OpenLevel::index);
    const size_t level = own != opened.levels.end()
                             ? static_cast<size_t>(own - opened.levels.begin())
                             : level_of(opened.levels, point.epoch);
    return survives(division, ranks, groups_of_level(introductions, level),
                    losses_covered(opened.levels[level].division));
}

} // namespace

size_t level_of(const std::vector<OpenLevel> &levels, uint64_t epoch) {
    size_t best = levels.size();
    for (size_t i = 0; i < levels.size(); ++i) {
        if (epoch % levels[i].interval == 0 &&
            (best == levels.size() || levels[i].interval > levels[best].interval)) {
            best = i;
        }
    }
    return best;
}

namespace {

// A store that others see may have gone with them.
bool has_points(const OpenStore &store) {
    std::vector<std::string> names;
    return store.there && (!names_in_if_there(store.folder.path(), names) ||
                           std::ranges::any_of(names, [](const std::string &name) {
                               return point_of(name).has_value();
                           }));
}

// While others are kept away: the list of stores that have had nothing all the time.
void remove_vain_list(const std::vector<OpenStore> &stores) {
    best_effort([&] {
        const bool is_vain = !stores.empty() && stores.front().begins &&
                             stores.front().use != nullptr &&
                             std::ranges::none_of(stores, has_points);
        return is_vain ? write_store_list(stores.front().folder, 0, false, {}) : Status::ok();
    });
}

} // namespace

void close_stores(std::vector<OpenStore> &stores) noexcept {
    remove_vain_list(stores);
    for (OpenStore &store : stores) {
        store.use.reset();
        if (store.there) {
            store.folder.remove_if_empty();
        }
    }
    stores.clear();
}

namespace {

// The steps of a start, in which all ranks meet; each needs those before.
class Opening {
public:
    Opening(Job &job, const Request &request, Opened &result)
        : job_(job), request_(request), result_(result), stores_(result.stores) {}

    Status run() {
        Status status = understand();
        status = status ? look(job_, result_.session, introduced_.asked_for, result_.flush_store,
                               stores_, findings_)
                        : status;
        status = status ? choose_points() : status;
        status = status ? bring_back() : status;
        status = status ? settle() : status;
        status = status ? make_sets() : status;
        if (status) {
            tidy();
        }
        return status;
    }

private:
    // Who there is, who protects whom, and who speaks for which directory.
    Status understand() {
        if (Status status = introduce(job_, request_, introduced_); !status) {
            return status;
        }
        if (!request_.remark.empty()) {
            job_.warn_once(request_.remark.c_str());
        }
        stores_ = std::move(introduced_.stores);
        result_.session = introduced_.all.front().session;
        Status understood = catch_exceptions([&] {
            result_.root = request_.root;
            if (request_.flush_store) {
                result_.flush_store = introduced_.places[*request_.flush_store];
            }
            Status status = divide_levels(job_, request_, introduced_, result_.levels);
            return status ? find_all_speakers(job_.all().self(), job_.ranks(), introduced_.all,
                                              stores_, findings_)
                          : status;
        });
        return agree_on_memory(job_, understood);
    }

    Status choose_points() {
        Status chosen = catch_exceptions([&] {
            drop_empty_stores(introduced_.asked_for, result_.session, findings_, stores_);
            find_numbers(findings_, result_);
            points_ = all_agreed(findings_);
            begins_ = points_.empty() && request_.restart != "no";
            Status status =
                check_nothing_newer_elsewhere(job_.elsewhere(), request_, findings_, points_);
            return status ? choose(job_, request_, points_, result_.remarks) : status;
        });
        if (Status status = agree_on_memory(job_, chosen); !status) {
            return status;
        }
        if (begins_) {
            note_unrecorded(job_, request_, findings_, result_.remarks);
        }
        return Status::ok();
    }

    Status bring_back() {
        Leftovers leftovers;
        if (Status status = leftovers.find(job_, findings_); !status) {
            return status;
        }
        Status brought = bring_newest(job_, stores_, findings_, points_, request_.sync, leftovers,
                                      result_, division_);
        if (!brought) {
            return with_remedy(brought, request_.restart, job_.elsewhere());
        }
        brought = leftovers.remove(job_, stores_);
        const bool chooses = !request_.restart.empty() && request_.restart != "yes";
        return brought && (begins_ || !chooses)
                   ? note_local_stores(job_, request_, result_.start, result_.remarks)
                   : brought;
    }

    // What all start from, as it is now.
    Status settle() {
        if (result_.start) {
            const size_t store = result_.start->store;
            if (Status status = open_where_it_was_not(job_, findings_[store], request_.sync,
                                                      {result_.session, job_.rank(), job_.node()},
                                                      request_.root, stores_[store]);
                !status) {
                return status;
            }
        }
        Status known = catch_exceptions([&] {
            result_.start_is_protected = result_.start && is_protected_now(result_, introduced_.all,
                                                                           job_.ranks(), division_);
            return list_stores(job_, findings_, stores_, request_.sync);
        });
        return agree(job_, known);
    }

    Status make_sets() {
        for (OpenLevel &level : result_.levels) {
            const redset::Set &set = level.division.set_of(job_.rank());
            if (Status status = job_.meet_in(set, level.set); !status) {
                return status;
            }
        }
        return Status::ok();
    }

    void tidy() const {
        for (const OpenStore &store : stores_) {
            if (store.speaks) {
                DirLock::remove_what_the_dead_left(store.folder.path(), result_.session);
                best_effort([&] { store.folder.remove_drafts_of_the_dead(); });
            }
        }
    }

    Job &job_;
    const Request &request_;
    Opened &result_;
    std::vector<OpenStore> &stores_; // of the result
    Introduced introduced_;
    std::vector<Findings> findings_; // by store
    std::vector<Start> points_;      // that CD_RESTART lets all start from, the best first
    bool begins_ = false;            // nothing is protected
    Division division_;              // of what all start from, as it was stored
};

} // namespace

Status open(Job &job, const Request &request, Opened &opened) {
    Opened result;
    Status status = Opening(job, request, result).run();
    if (status) {
        opened = std::move(result);
    } else {
        close_stores(result.stores);
    }
    return status;
}

} // namespace cd::checkpoint
