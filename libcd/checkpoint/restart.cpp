// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "checkpoint/restart.h"

#include "base/no_throw.h"
#include "base/saved_status.h"
#include "base/text.h"
#include "checkpoint/handshake.h"
#include "checkpoint/recover.h"
#include "file_store/load.h"
#include "file_store/open_store.h"
#include "redset/member_files.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <span>
#include <utility>

namespace cd::checkpoint {
namespace {

using redset::Bytes;

// Recovers the first of `starts` that can be.
Status recover_newest(Job &job, const std::vector<OpenStore> &stores,
                      const std::vector<Inventory> &inventories, const std::vector<Start> &starts,
                      bool sync, OpenRoot &opened, Division &division) {
    SavedStatus newest;
    for (const Start &each : starts) {
        Status status = recover(job, stores[each.store].folder, inventories[each.store], each.id,
                                sync, division);
        if (status) {
            if (!newest.is_ok()) {
                best_effort([&] {
                    const std::string why = newest.text();
                    job.warn_once(
                        (why + "; starting from epoch " + std::to_string(each.id.epoch)).c_str());
                });
            }
            opened.start = each;
            return status;
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

// Sets the numbers of the next checkpoint, which no checkpoint that is there has.
void find_numbers(const std::vector<Inventory> &inventories, OpenRoot &opened) {
    opened.sessions.insert(opened.session);
    for (const Inventory &inventory : inventories) {
        opened.next_number = std::max(opened.next_number, inventory.last_number() + 1);
        for (const Content &content : inventory.contents) {
            for (const auto &[id, files] : content.checkpoints) {
                opened.sessions.insert(id.session);
            }
        }
    }
}

// Finds one reporter for each directory of each node.
void find_all_reporters(int self, const std::vector<int> &ranks,
                        const std::vector<Handshake> &handshakes, std::vector<OpenStore> &stores,
                        std::vector<Inventory> &inventories) {
    for (size_t i = 0; i < stores.size(); ++i) {
        std::vector<std::string> directories;
        directories.reserve(handshakes.size());
        for (const Handshake &each : handshakes) {
            directories.push_back(each.directories[i]);
        }
        const Inventory &inventory =
            inventories.emplace_back(Inventory{ranks, find_reporters(directories), {}});
        stores[i].reports = inventory.reporters[redset::index(self)] == self;
    }
}

// The failure groups of all ranks at a level.
std::vector<std::string> groups_of_level(const std::vector<Handshake> &handshakes, size_t level) {
    std::vector<std::string> groups;
    groups.reserve(handshakes.size());
    for (const Handshake &each : handshakes) {
        groups.push_back(each.groups[level]);
    }
    return groups;
}

Status divide_levels(Job &job, const Request &request, const std::vector<Handshake> &handshakes,
                     std::vector<OpenLevel> &levels) {
    for (size_t i = 0; i < request.levels.size(); ++i) {
        const LevelRequest &wanted = request.levels[i];
        OpenLevel &level = levels.emplace_back(
            OpenLevel{wanted.index, wanted.interval, wanted.store, {}, nullptr});
        if (Status status = divide(job.ranks(), groups_of_level(handshakes, i), job.program_ranks(),
                                   wanted.sets, level.division);
            !status) {
            return status;
        }
        if (!level.division.fallback.empty()) {
            job.warn_once(level.division.fallback.c_str());
        }
    }
    return Status::ok();
}

// The epoch of a rank's own store; 0: there is none that can be read.
uint64_t epoch_of_local_store(const std::string &path) {
    const SavedMessage keeper;
    File file;
    os::FileAttributes attributes;
    Loaded loaded;
    const bool readable = redset::open_own_to_read(path, file, attributes) && load(file, loaded);
    return readable && loaded.state.cds.contains(State::root)
               ? loaded.state.cds.at(State::root).epoch
               : 0;
}

// Warns where local stores are newer than the start: a program without redundancy left them, or
// one whose checkpoints failed.
Status warn_of_newer_stores(Job &job, const Request &request, const std::optional<Start> &start) {
    std::string name;
    uint64_t oldest = 0;
    Status looked = catch_exceptions([&] {
        name = store_name(job.rank(), request.root);
        oldest = epoch_of_local_store(path_in(request.stores.front(), name));
    });
    std::vector<Bytes> all;
    if (Status status = agree(job, looked, std::as_bytes(std::span(&oldest, 1)), all); !status) {
        return status;
    }
    for (const Bytes &theirs : all) {
        uint64_t epoch = 0;
        std::memcpy(&epoch, theirs.data(), std::min(sizeof epoch, theirs.size()));
        oldest = std::min(oldest, epoch);
    }
    const uint64_t epoch = start ? start->id.epoch : 0;
    if (oldest > epoch) {
        best_effort([&] {
            const std::string line =
                "root \"" + request.root + "\": starting from protected epoch " +
                std::to_string(epoch) + "; newer stores in " + request.stores.front() +
                " are kept as .old until the next advance. To use them, stop, rename " + name +
                ".old to " + name + " on all ranks, and start without redundancy";
            job.warn_once(line.c_str());
        });
    }
    return Status::ok();
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

// The steps of a start. All ranks take each, and each needs those before.
class Restart {
public:
    Restart(Job &job, const Request &request, OpenRoot &result)
        : job_(job), request_(request), result_(result), stores_(result.stores) {}

    Status run() {
        Status status = meet();
        status = status ? take_inventories(job_, result_.session, stores_, inventories_) : status;
        status = status ? choose_starts() : status;
        status = status ? recover_one() : status;
        if (!status) {
            return status;
        }
        remove_leftovers();
        return make_sets();
    }

private:
    Status meet() {
        if (Status status = shake_hands(job_, request_, stores_, handshakes_); !status) {
            return status;
        }
        result_.session = handshakes_.front().session;
        Status understood = catch_exceptions([&] {
            result_.root = request_.root;
            result_.flush_store = request_.flush_store;
            find_all_reporters(job_.all().self(), job_.ranks(), handshakes_, stores_, inventories_);
            return divide_levels(job_, request_, handshakes_, result_.levels);
        });
        return agree_on_memory(job_, understood);
    }

    Status choose_starts() {
        return agree_on_memory(job_, catch_exceptions([&] {
                                   find_numbers(inventories_, result_);
                                   starts_ = all_committed(inventories_);
                                   Status status = check_nothing_newer_elsewhere(
                                       job_.elsewhere(), request_, inventories_, starts_);
                                   return status ? apply_restart_choice(job_, request_, starts_)
                                                 : status;
                               }));
    }

    Status recover_one() {
        Division division; // of the start, as it was stored
        Status status =
            recover_newest(job_, stores_, inventories_, starts_, request_.sync, result_, division);
        if (status.code() == CD_ERROR_REDUNDANCY_EXCEEDED) {
            return fail(
                status.code(),
                "%s; bring back the nodes that had these files, try another epoch, or start "
                "afresh with CD_RESTART=no",
                message());
        }
        if (!status) {
            return status;
        }
        status = remove_never_committed();
        const bool chooses = !request_.restart.empty() && request_.restart != "yes";
        return status && !chooses ? warn_of_newer_stores(job_, request_, result_.start) : status;
    }

    // Ignores checkpoints that cannot be removed.
    Status remove_never_committed() {
        for (size_t i = 0; i < stores_.size(); ++i) {
            if (stores_[i].reports) {
                best_effort([&] {
                    return stores_[i].folder.remove_before(
                        std::numeric_limits<uint64_t>::max(), [&](const CheckpointId &id) {
                            return !is_of_committed_root(inventories_, id) &&
                                   !inventories_[i].can_never_be_committed(id);
                        });
                });
            }
        }
        return agree(job_, Status::ok());
    }

    // After this all ranks may write.
    Status make_sets() {
        for (OpenLevel &level : result_.levels) {
            const redset::Set &set = level.division.set_of(job_.rank());
            if (Status status = job_.meet_in(set, level.set); !status) {
                return status;
            }
        }
        return Status::ok();
    }

    // Removes locks and drafts of processes that were killed.
    void remove_leftovers() const {
        for (const OpenStore &store : stores_) {
            if (store.reports) {
                DirLock::remove_stale(store.folder.path(), result_.session);
                best_effort([&] { store.folder.remove_drafts(); });
            }
        }
    }

    Job &job_;
    const Request &request_;
    OpenRoot &result_;
    std::vector<OpenStore> &stores_; // of the result
    std::vector<Handshake> handshakes_;
    std::vector<Inventory> inventories_; // by store
    std::vector<Start> starts_;          // that CD_RESTART allows, the newest first
};

} // namespace

Status open_root(Job &job, const Request &request, OpenRoot &opened) {
    OpenRoot result;
    Status status = Restart(job, request, result).run();
    if (status) {
        opened = std::move(result);
    } else {
        close_stores(result.stores);
    }
    return status;
}

} // namespace cd::checkpoint
