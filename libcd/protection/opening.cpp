// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "protection/opening.h"

#include "base/attempt.h"
#include "base/kept_outcome.h"
#include "config/restart_choice.h"
#include "protection/introduction.h"
#include "protection/moving.h"
#include "protection/store_list.h"
#include "redset/rebuild.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <span>

namespace cd::protection {
namespace {

void warn_once(Job &job, const char *line) {
    if (job.all().self() == 0) {
        os::system().warn(line);
    }
}

unsigned long long printable(uint64_t value) { return value; }

// ---- Which points in time are asked for

std::string list_epochs(const std::vector<Start> &points) {
    std::string text;
    for (const Start &each : points) {
        text += (text.empty() ? "" : ", ") + std::to_string(each.point.epoch);
    }
    return text;
}

// What counts in any of the stores, the latest attempts first.
std::vector<Start> all_agreed(const std::vector<Findings> &findings) {
    uint64_t forgotten = 0;
    std::vector<Start> points;
    for (size_t store = 0; store < findings.size(); ++store) {
        forgotten = std::max(forgotten, findings[store].forgotten());
        for (const Point &point : findings[store].agreed()) {
            points.push_back({point, store});
        }
    }
    std::erase_if(points, [&](const Start &each) { return each.point.number <= forgotten; });
    // Of one attempt what is near comes before its copy.
    std::ranges::sort(points, std::greater<>(), [](const Start &each) {
        return std::pair(each.point.number, -each.point.level);
    });
    return points;
}

Status choose(Job &job, const Request &request, std::vector<Start> &points) {
    RestartChoice choice;
    if (Status status = parse_restart_choice(request.restart.c_str(), choice); !status) {
        return status;
    }
    if (choice.afresh) {
        points.clear();
    }
    if (!choice.epoch) {
        return Status::ok();
    }
    const std::string there = list_epochs(points);
    std::erase_if(points, [&](const Start &each) { return each.point.epoch != *choice.epoch; });
    if (points.empty() && !there.empty()) {
        return fail(CD_ERROR_ARGUMENT,
                    "CD_RESTART asks for epoch %llu, and what is protected is %s",
                    printable(*choice.epoch), there.c_str());
    }
    if (points.empty() && *choice.epoch > 0) {
        const std::string line = "root \"" + request.root + "\": CD_RESTART asks for epoch " +
                                 std::to_string(*choice.epoch) +
                                 ", but nothing is protected; starting afresh";
        warn_once(job, line.c_str());
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
        std::vector<Transfer> transfers;
        Status found = attempt([&] {
            transfers = find_transfers(findings_, point);
            return find_sets(findings_, point, division);
        });
        if (Status status = agree_on_memory(job_, found); !status) {
            return status;
        }
        const redset::Set &set = division.set_of(job_.rank());
        if (Status status = check_before_moving(point, set, transfers); !status) {
            return status;
        }
        redset::Place place;
        Status made = attempt([&] {
            place = {folder_.path_of(point), ""};
            return folder_.make(point);
        });
        if (Status status = agree(job_, made); !status) {
            return status;
        }
        if (Status status = move_files(job_, folder_, point, transfers, sync_); !status) {
            return status;
        }
        if (Status status = rebuild(point, set, place); !status) {
            return status;
        }
        return agree(job_, attempt([&] { return write_down(point, set); }));
    }

private:
    // Where too much is lost nothing is moved, as there may be no room for what would be in vain.
    Status check_before_moving(const Point &point, const redset::Set &set,
                               const std::vector<Transfer> &transfers) {
        return transfers.empty()
                   ? Status::ok()
                   : agree(job_,
                           attempt([&] { return check_cover(findings_, point, set, transfers); }));
    }

    Status rebuild(const Point &point, const redset::Set &set, const redset::Place &place) {
        std::unique_ptr<redset::Exchange> part;
        if (Status status = job_.divide(set.group, member_of(set, job_.rank()), part); !status) {
            return status;
        }
        redset::Survey survey;
        Status status = redset::rebuild(*part, set, place, {sync_}, survey);
        if (status.code() == CD_ERROR_STORE_DAMAGED ||
            status.code() == CD_ERROR_REDUNDANCY_EXCEEDED) {
            char why[1024];
            std::snprintf(why, sizeof why, "%s", message());
            status =
                fail(CD_ERROR_REDUNDANCY_EXCEEDED, "epoch %llu: %s", printable(point.epoch), why);
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

Status bring_newest(Job &job, const std::vector<OpenStore> &stores,
                    const std::vector<Findings> &findings, const std::vector<Start> &points,
                    bool sync, std::optional<Start> &start) {
    KeptOutcome newest;
    for (const Start &each : points) {
        Bringing bringing(job, stores[each.store].folder, findings[each.store], sync);
        Status status = bringing.bring(each.point);
        if (status) {
            if (!newest.is_ok()) {
                (void)newest.again().is_ok();
                char line[1100];
                std::snprintf(line, sizeof line, "%s; starting from epoch %llu", message(),
                              printable(each.point.epoch));
                warn_once(job, line);
            }
            start = each;
            return status;
        }
        if (status.code() != CD_ERROR_REDUNDANCY_EXCEEDED &&
            status.code() != CD_ERROR_STORE_DAMAGED) {
            return status;
        }
        if (newest.is_ok()) {
            newest = KeptOutcome(status);
        }
    }
    return newest.again();
}

// Who speaks for which directory.
Status find_all_speakers(int self, const std::vector<int> &ranks,
                         const std::vector<Introduction> &introductions,
                         std::vector<OpenStore> &stores, std::vector<Findings> &findings) {
    for (size_t i = 0; i < stores.size(); ++i) {
        std::vector<std::string> directories;
        directories.reserve(introductions.size());
        for (const Introduction &each : introductions) {
            directories.push_back(each.directories[i]);
        }
        const Findings &found =
            findings.emplace_back(Findings{ranks, find_speakers(directories), {}});
        stores[i].speaks = found.speakers[static_cast<size_t>(self)] == self;
    }
    return Status::ok();
}

// Who speaks keeps other jobs away from then on.
Status take_and_look(OpenStore &store, const User &user, Content &content) {
    if (!store.speaks) {
        return Status::ok();
    }
    Status taken = UseLock::take(store.folder.path(), user, store.use);
    return taken ? store.folder.look(content) : taken;
}

// asked_for: how many of the stores the request has.
Status look(Job &job, uint64_t session, size_t asked_for, std::vector<OpenStore> &stores,
            std::vector<Findings> &findings) {
    for (size_t i = 0; i < stores.size(); ++i) {
        Content content;
        Status looked = attempt([&] {
            Status status = take_and_look(stores[i], {session, job.rank(), job.node()}, content);
            return status || i < asked_for
                       ? status
                       : because_it_is_listed(status, stores[i].folder.directory(),
                                              stores.front().folder);
        });
        if (Status status = share(job, looked, content, findings[i].contents); !status) {
            return status;
        }
    }
    return Status::ok();
}

// A store that nobody asks for any more is kept as long as it has something. All ranks have found
// the same.
void drop_empty_stores(const Request &request, uint64_t session, std::vector<Findings> &findings,
                       std::vector<OpenStore> &stores) {
    for (size_t i = stores.size(); i-- > request.stores.size();) {
        if (!findings[i].nothing()) {
            continue;
        }
        if (OpenStore &store = stores[i]; store.speaks) {
            UseLock::remove_what_the_dead_left(store.folder.path(), session);
            store.use.reset();
            store.folder.remove_if_empty();
        }
        stores.erase(stores.begin() + static_cast<std::ptrdiff_t>(i));
        findings.erase(findings.begin() + static_cast<std::ptrdiff_t>(i));
    }
}

// What cannot be read is written again.
bool is_listed(const std::vector<std::string> &directories, const Folder &folder) {
    const MessageKeeper keeper;
    StoreList list;
    return read_store_list(folder, list) && list.directories == directories;
}

// Before anything new is stored in them.
Status list_stores(Job &job, const std::vector<OpenStore> &stores, bool sync) {
    const OpenStore &first = stores.front();
    if (!first.speaks) {
        return Status::ok();
    }
    std::vector<std::string> others;
    for (const OpenStore &store : std::span(stores).subspan(1)) {
        others.push_back(store.folder.directory());
    }
    return is_listed(others, first.folder)
               ? Status::ok()
               : write_store_list(first.folder, job.rank(), sync, others);
}

// By what comes next; what is there already has sets of its own.
Status divide_levels(Job &job, const Request &request,
                     const std::vector<Introduction> &introductions,
                     std::vector<OpenLevel> &levels) {
    for (size_t i = 0; i < request.levels.size(); ++i) {
        const LevelRequest &wanted = request.levels[i];
        OpenLevel &level = levels.emplace_back(
            OpenLevel{wanted.index, wanted.interval, wanted.store, {}, nullptr});
        std::vector<std::string> groups;
        groups.reserve(introductions.size());
        for (const Introduction &each : introductions) {
            groups.push_back(each.groups[i]);
        }
        if (Status status =
                divide(job.ranks(), groups, job.program_ranks(), wanted.protecting, level.division);
            !status) {
            return status;
        }
        if (!level.division.fallback.empty()) {
            warn_once(job, level.division.fallback.c_str());
        }
    }
    return Status::ok();
}

} // namespace

Status open(Job &job, const Request &request, Opened &opened) {
    Opened result;
    std::vector<Introduction> introductions;
    if (Status status = introduce(job, request, result.stores, introductions); !status) {
        return status;
    }
    std::vector<Findings> findings;
    Status understood = attempt([&] {
        Status status = divide_levels(job, request, introductions, result.levels);
        return status ? find_all_speakers(job.all().self(), job.ranks(), introductions,
                                          result.stores, findings)
                      : status;
    });
    if (Status status = agree_on_memory(job, understood); !status) {
        return status;
    }
    if (Status status = look(job, introductions.front().session, request.stores.size(),
                             result.stores, findings);
        !status) {
        return status;
    }
    std::vector<Start> points;
    Status chosen = attempt([&] {
        result.root = request.root;
        drop_empty_stores(request, introductions.front().session, findings, result.stores);
        points = all_agreed(findings);
        return choose(job, request, points);
    });
    if (Status status = agree_on_memory(job, chosen); !status) {
        return status;
    }
    if (Status status =
            bring_newest(job, result.stores, findings, points, request.sync, result.start);
        !status) {
        return status;
    }
    Status listed = attempt([&] { return list_stores(job, result.stores, request.sync); });
    if (Status status = agree(job, listed); !status) {
        return status;
    }
    for (OpenLevel &level : result.levels) {
        const redset::Set &set = level.division.set_of(job.rank());
        if (Status status = job.divide(set.group, member_of(set, job.rank()), level.set); !status) {
            return status;
        }
    }
    result.session = introductions.front().session;
    for (const OpenStore &store : result.stores) {
        if (store.speaks) {
            UseLock::remove_what_the_dead_left(store.folder.path(), result.session);
        }
    }
    for (const Findings &found : findings) {
        result.next_number = std::max(result.next_number, found.last_number() + 1);
    }
    opened = std::move(result);
    return Status::ok();
}

} // namespace cd::protection
