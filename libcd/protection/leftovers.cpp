// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "protection/leftovers.h"

#include "base/attempt.h"
#include "base/path.h"
#include "file_store/opening.h"
#include "protection/unrecorded.h"

#include <fcntl.h>

#include <algorithm>
#include <limits>
#include <set>
#include <span>
#include <string>
#include <utility>

namespace cd::protection {

using redset::Bytes;

bool is_forgotten(const std::vector<Findings> &findings, const Point &point) {
    return std::ranges::any_of(findings,
                               [&](const Findings &found) { return found.has_forgotten(point); });
}

Status Leftovers::find(Job &job, const std::vector<Findings> &findings) {
    Status found = attempt([&] {
        std::vector<std::set<Point>> all(findings.size());
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
    const MessageKeeper keeper;
    Status covered = attempt([&] {
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
            attempt_quietly([&] {
                return stores[i].folder.remove_before(
                    std::numeric_limits<uint64_t>::max(),
                    [&](const Point &other) { return !points_[i].contains(other); });
            });
        }
    }
    points_.clear();
    return agree(job, Status::ok());
}

Status tell_of_local_stores(Job &job, const Request &request) {
    std::vector<Bytes> all;
    std::byte there{};
    Status looked = attempt([&] {
        const std::string path =
            path_in(request.stores.front(), store_name(job.rank(), request.root));
        const File file(os::system().open_at(AT_FDCWD, path.c_str(), O_PATH | O_NOFOLLOW, 0), path);
        there = std::byte{file.is_open()};
    });
    if (Status status = agree(job, looked, std::span(&there, 1), all); !status) {
        return status;
    }
    const auto has_one = [](const Bytes &each) {
        return !each.empty() && each.front() != std::byte{};
    };
    if (job.all().self() == 0 && std::ranges::any_of(all, has_one)) {
        attempt_quietly([&] {
            const std::string line =
                "root \"" + request.root +
                "\": nothing is protected, so that all ranks start "
                "afresh; the stores that are in " +
                request.stores.front() +
                " are kept aside until the next advance: to go on from them, start without "
                "redundancy= and config=";
            os::system().warn(line.c_str());
        });
    }
    return Status::ok();
}

void tell_of_unrecorded(Job &job, const Request &request, const std::vector<Findings> &findings) {
    if (job.all().self() != 0) {
        return;
    }
    attempt_quietly([&] {
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
            const std::string line = "root \"" + request.root + "\": epoch " +
                                     std::to_string(epoch) +
                                     " was stored, and no record says that all ranks had it: all "
                                     "start afresh; it stays until a new one counts";
            os::system().warn(line.c_str());
        }
    });
}

} // namespace cd::protection
