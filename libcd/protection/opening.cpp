// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "protection/opening.h"

#include "protection/moving.h"
#include "redset/kvtree_image.h"
#include "redset/rebuild.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

namespace cd::protection {
namespace {

using redset::Bytes;
using redset::KvTree;

void warn_once(Job &job, const std::string &line) {
    if (job.all().self() == 0) {
        os::system().warn(line.c_str());
    }
}

unsigned long long printable(uint64_t value) { return value; }

// ---- What ranks have to know of each other before anything else

struct Introduction {
    std::string settings; // that all have to have alike
    std::string group;
    std::string directory; // what tells it from others
    uint64_t session = 0;
};

std::string settings_of(const Request &request) {
    const auto &[scheme, parameter] = request.protecting.redundancy;
    return "redundancy " + std::string(redset::scheme_name(scheme)) + ":" +
           std::to_string(parameter) + ", set_size=" + std::to_string(request.protecting.set_size) +
           ", sync=" + (request.sync ? "full" : "none") + ", CD_RESTART=" + request.restart;
}

Status introduce(Job &job, const Request &request, const Folder &folder, Status own,
                 std::vector<Introduction> &all) {
    const os::FileIdentity identity = folder.identity();
    uint64_t session = 0;
    if (own && os::system().random(&session, sizeof session) != 0) {
        own = fail(CD_ERROR_STORE_IO, "the system gives no random number");
    }
    KvTree tree;
    tree.add_value("SETTINGS", settings_of(request));
    tree.add_value("GROUP", request.group.empty() ? job.node() : request.group);
    tree.add_value("DIRECTORY", job.node() + ":" + std::to_string(identity.device) + ":" +
                                    std::to_string(identity.inode));
    tree.add_number("SESSION", session);
    Bytes told;
    if (own) {
        own = redset::encode_image(tree, "an introduction", told);
    }
    std::vector<Bytes> heard;
    if (Status status = agree(job, own, told, heard); !status) {
        return status;
    }
    for (const Bytes &bytes : heard) {
        KvTree theirs;
        uint64_t size = 0;
        if (Status status = redset::decode_image(bytes, "an introduction", theirs, size); !status) {
            return status;
        }
        all.push_back({std::string(theirs.value("SETTINGS").value_or("")),
                       std::string(theirs.value("GROUP").value_or("")),
                       std::string(theirs.value("DIRECTORY").value_or("")),
                       theirs.number("SESSION").value_or(0)});
    }
    return Status::ok();
}

Status check_settings(Job &job, const std::vector<Introduction> &all) {
    const std::string &first = all.front().settings;
    const auto other =
        std::ranges::find_if(all, [&](const Introduction &each) { return each.settings != first; });
    if (other == all.end()) {
        return Status::ok();
    }
    return fail(CD_ERROR_ARGUMENT, "rank %d has %s, and rank %d %s; give all ranks the same",
                job.ranks()[0], first.c_str(),
                job.ranks()[static_cast<size_t>(other - all.begin())], other->settings.c_str());
}

// ---- Which points in time are asked for

std::string list_epochs(const std::vector<Point> &points) {
    std::string text;
    for (const Point &point : points) {
        text += (text.empty() ? "" : ", ") + std::to_string(point.epoch);
    }
    return text;
}

Status choose(const std::string &restart, std::vector<Point> &points) {
    if (restart.empty() || restart == "yes") {
        return Status::ok();
    }
    if (restart == "no") {
        points.clear();
        return Status::ok();
    }
    const auto epoch = redset::to_number(restart);
    if (!epoch) {
        return fail(CD_ERROR_ARGUMENT,
                    "the environment variable CD_RESTART is \"%.100s\"; allowed are yes, no, and "
                    "the number of an epoch",
                    restart.c_str());
    }
    const std::string there = list_epochs(points);
    std::erase_if(points, [&](const Point &point) { return point.epoch != *epoch; });
    if (points.empty() && !there.empty()) {
        return fail(CD_ERROR_ARGUMENT,
                    "CD_RESTART asks for epoch %llu, and what is protected is %s",
                    printable(*epoch), there.c_str());
    }
    return Status::ok();
}

// ---- Bringing one back

class Bringing {
public:
    Bringing(Job &job, const Folder &folder, const Findings &findings, bool sync)
        : job_(job), folder_(folder), findings_(findings), sync_(sync) {}

    Status bring(const Point &point) {
        Division division;
        if (Status status = find_sets(findings_, point, division); !status) {
            return status;
        }
        if (Status status = agree(job_, folder_.make(point)); !status) {
            return status;
        }
        if (Status status =
                move_files(job_, folder_, point, find_transfers(findings_, point), sync_);
            !status) {
            return status;
        }
        const redset::Set &set = division.set_of(job_.rank());
        if (Status status = rebuild(point, set); !status) {
            return status;
        }
        return agree(job_, write_down(point, set));
    }

private:
    Status rebuild(const Point &point, const redset::Set &set) {
        std::unique_ptr<redset::Exchange> part;
        if (Status status = job_.divide(set.group, member_of(set, job_.rank()), part); !status) {
            return status;
        }
        redset::Survey survey;
        Status status = redset::rebuild(*part, set, {folder_.path_of(point), ""}, {sync_}, survey);
        if (status.code() == CD_ERROR_STORE_DAMAGED) {
            status = fail(CD_ERROR_REDUNDANCY_EXCEEDED, "%s", std::string(message()).c_str());
        }
        if (status.code() == CD_ERROR_REDUNDANCY_EXCEEDED) {
            status = fail(CD_ERROR_REDUNDANCY_EXCEEDED, "epoch %llu: %s", printable(point.epoch),
                          std::string(message()).c_str());
        }
        return agree(job_, status);
    }

    // That it counted; a rank that was lost or moved has no record yet.
    Status write_down(const Point &point, const redset::Set &set) {
        const int rank = job_.rank();
        const auto own =
            static_cast<size_t>(findings_.speakers[static_cast<size_t>(job_.all().self())]);
        const auto &points = findings_.contents[own].points;
        const auto here = points.find(point);
        const RankFiles *files = nullptr;
        if (here != points.end() && here->second.contains(rank)) {
            files = &here->second.at(rank);
        }
        if (files != nullptr && files->record) {
            return files->agreed ? Status::ok() : folder_.mark_agreed(point, rank);
        }
        return folder_.write_record({point, rank, static_cast<int>(findings_.ranks.size()), set},
                                    true);
    }

    Job &job_;
    const Folder &folder_;
    const Findings &findings_;
    const bool sync_;
};

Status bring_newest(Job &job, Bringing &bringing, const std::vector<Point> &points,
                    std::optional<Point> &start) {
    std::string lost;
    for (const Point &point : points) {
        Status status = bringing.bring(point);
        if (status) {
            if (!lost.empty()) {
                warn_once(job, lost + "; starting from epoch " + std::to_string(point.epoch));
            }
            start = point;
            return status;
        }
        if (status.code() != CD_ERROR_REDUNDANCY_EXCEEDED) {
            return status;
        }
        lost = lost.empty() ? message() : lost;
    }
    return lost.empty() ? Status::ok() : fail(CD_ERROR_REDUNDANCY_EXCEEDED, "%s", lost.c_str());
}

} // namespace

Status open(Job &job, const Request &request, Opened &opened) {
    Opened result;
    std::vector<Introduction> introductions;
    Status own = Folder::open(request.directory, request.root, request.sync, result.folder);
    if (Status status = introduce(job, request, result.folder, own, introductions); !status) {
        return status;
    }
    if (Status status = check_settings(job, introductions); !status) {
        return status;
    }
    std::vector<std::string> groups;
    std::vector<std::string> directories;
    for (const Introduction &each : introductions) {
        groups.push_back(each.group);
        directories.push_back(each.directory);
    }
    if (Status status =
            divide(job.ranks(), groups, job.program_ranks(), request.protecting, result.division);
        !status) {
        return status;
    }
    if (!result.division.fallback.empty()) {
        warn_once(job, result.division.fallback);
    }

    Findings findings{job.ranks(), find_speakers(directories), {}};
    const int self = job.all().self();
    result.speaks = findings.speakers[static_cast<size_t>(self)] == self;
    Content content;
    Status looked = result.speaks ? result.folder.look(content) : Status::ok();
    if (Status status = share(job, looked, content, findings.contents); !status) {
        return status;
    }
    std::vector<Point> points = findings.agreed();
    if (Status status = choose(request.restart, points); !status) {
        return status;
    }
    Bringing bringing(job, result.folder, findings, request.sync);
    if (Status status = bring_newest(job, bringing, points, result.start); !status) {
        return status;
    }
    const redset::Set &set = result.division.set_of(job.rank());
    if (Status status = job.divide(set.group, member_of(set, job.rank()), result.set); !status) {
        return status;
    }
    result.session = introductions.front().session;
    result.next_number = findings.last_number() + 1;
    opened = std::move(result);
    return Status::ok();
}

} // namespace cd::protection
