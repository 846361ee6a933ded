// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "checkpoint/leftovers.h"

#include "base/no_throw.h"
#include "base/path.h"
#include "checkpoint/unrecorded.h"
#include "file_store/load.h"
#include "file_store/open_store.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <set>
#include <span>
#include <string>
#include <utility>

namespace cd::checkpoint {

using redset::Bytes;

bool is_forgotten(const std::vector<Findings> &findings, const CheckpointId &point) {
    return std::ranges::any_of(findings,
                               [&](const Findings &found) { return found.has_forgotten(point); });
}

Status Leftovers::find(Job &job, const std::vector<Findings> &findings) {
    Status found = catch_exceptions([&] {
        std::vector<std::set<CheckpointId>> all(findings.size());
        bool any = false;
        for (size_t i = 0; i < findings.size(); ++i) {
            for (const Content &content : findings[i].contents) {
                for (const auto &[point, files] : content.points) {
                    if (is_forgotten(findings, point) || findings[i].can_never_count(point)) {
                        all[i].insert(point);
                        any = true;
                    }
                }
            }
        }
        if (any) {
            points_ = std::move(all);
        }
    });
    return agree_on_memory(job, found);
}

Status Leftovers::remove_for(Job &job, const std::vector<OpenStore> &stores,
                             const std::vector<Findings> &findings, const Start &start,
                             bool &removed) {
    removed = false;
    const Findings &found = findings[start.store];
    if (points_.empty() || is_in_place(found, start.point)) {
        return Status::ok();
    }
    const SavedMessage keeper;
    Status covered = catch_exceptions([&] {
        Division division;
        Status status = find_sets(found, start.point, division);
        return status ? check_cover(found, start.point, division.set_of(job.rank()),
                                    find_transfers(found, start.point))
                      : status;
    });
    removed = agree(job, covered).is_ok();
    return removed ? remove(job, stores) : Status::ok();
}

Status Leftovers::remove(Job &job, const std::vector<OpenStore> &stores) {
    if (points_.empty()) {
        return Status::ok();
    }
    for (size_t i = 0; i < stores.size(); ++i) {
        if (stores[i].speaks) {
            best_effort([&] {
                return stores[i].folder.remove_before(
                    std::numeric_limits<uint64_t>::max(),
                    [&](const CheckpointId &other) { return !points_[i].contains(other); });
            });
        }
    }
    points_.clear();
    return agree(job, Status::ok());
}

namespace {

// What a rank has in its directory: whether there is a store of a point in time, or one that cannot
// be read, and the epoch.
struct LocalStore {
    uint64_t is_there = 0;
    uint64_t epoch = 0;
};

// What is none is no store, and is not waited for; who opens the store refuses it.
bool is_regular(const File &file) {
    os::FileStatus status;
    return os::system().status(file.descriptor(), status) == 0 && S_ISREG(status.mode);
}

LocalStore look_at_store(const std::string &path) {
    constexpr int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
    const File file(os::system().open_at(AT_FDCWD, path.c_str(), flags, 0), path);
    if ((!file.is_open() && errno == ENOENT) || (file.is_open() && !is_regular(file))) {
        return {};
    }
    Loaded loaded;
    const bool readable = file.is_open() && load(file, loaded);
    if (!readable || !loaded.state.cds.contains(State::root)) {
        return {1, 0};
    }
    const uint64_t epoch = loaded.state.cds.at(State::root).epoch;
    return {epoch > 0 ? 1U : 0U, epoch};
}

// An earlier start may have put it aside, and not have advanced: what has not since the point in
// time that all start from gives way to that, and else takes its place.
LocalStore look_at_local_store(const std::string &path, uint64_t begun_with) {
    const LocalStore store = look_at_store(path);
    const LocalStore aside = look_at_store(path + ".old");
    return {store.is_there | aside.is_there, store.epoch > begun_with ? store.epoch : aside.epoch};
}

// name: of the store of a rank, for all.
std::string line_on_local_stores(const Request &request, const std::vector<LocalStore> &stores,
                                 const std::optional<Start> &start, const std::string &name) {
    const std::string kept =
        "kept aside until the next advance: to go on from them, end the program before that, "
        "rename " +
        name + ".old to " + name +
        ", and so those of all ranks, and start without redundancy= and config=";
    const auto [oldest, newest] =
        std::ranges::minmax(stores, {}, [](const LocalStore &each) { return each.epoch; });
    if (start && oldest.epoch > start->point.epoch) {
        const std::string epochs =
            oldest.epoch == newest.epoch
                ? "epoch " + std::to_string(oldest.epoch)
                : "epochs " + std::to_string(oldest.epoch) + " to " + std::to_string(newest.epoch);
        return "root \"" + request.root + "\": all ranks start from epoch " +
               std::to_string(start->point.epoch) + ", which is protected; the stores in " +
               request.stores.front() + " have " + epochs + ", and are " + kept;
    }
    const bool any =
        std::ranges::any_of(stores, [](const LocalStore &each) { return each.is_there != 0; });
    return !start && any ? "root \"" + request.root +
                               "\": nothing is protected, so that all ranks start afresh; the "
                               "stores that are in " +
                               request.stores.front() + " are " + kept
                         : "";
}

} // namespace

Status note_local_stores(Job &job, const Request &request, const std::optional<Start> &start,
                         Remarks &remarks) {
    LocalStore own;
    Status looked = catch_exceptions([&] {
        const SavedMessage keeper;
        own = look_at_local_store(
            path_in(request.stores.front(), store_name(job.rank(), request.root)),
            start ? start->point.epoch : 0);
    });
    std::vector<Bytes> all;
    if (Status status = agree(job, looked, std::as_bytes(std::span(&own, 1)), all); !status) {
        return status;
    }
    if (job.tells_people()) {
        best_effort([&] {
            std::vector<LocalStore> stores(all.size());
            for (size_t i = 0; i < all.size(); ++i) {
                std::memcpy(&stores[i], all[i].data(), std::min(sizeof stores[i], all[i].size()));
            }
            std::string line =
                line_on_local_stores(request, stores, start, store_name(job.rank(), request.root));
            if (!line.empty()) {
                remarks.push_back(std::move(line));
            }
        });
    }
    return Status::ok();
}

void note_unrecorded(Job &job, const Request &request, const std::vector<Findings> &findings,
                     Remarks &remarks) {
    if (!job.tells_people()) {
        return;
    }
    best_effort([&] {
        std::set<uint64_t> epochs;
        for (const Findings &found : findings) {
            for (const Content &content : found.contents) {
                for (const auto &[point, files] : content.points) {
                    if (!is_forgotten(findings, point) && may_be_brought_back(found, point)) {
                        epochs.insert(point.epoch);
                    }
                }
            }
        }
        for (const uint64_t epoch : epochs) {
            remarks.push_back("root \"" + request.root + "\": epoch " + std::to_string(epoch) +
                              " was stored, and no record says that all ranks had it: all "
                              "start afresh, and it stays until the next advance; to start from "
                              "it instead, end the program now, and let it count with "
                              "cdctl rebuild --agree");
        }
    });
}

} // namespace cd::checkpoint
