// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "protection/opening.h"

#include "base/attempt.h"
#include "base/kept_outcome.h"
#include "config/restart_choice.h"
#include "protection/bringing.h"
#include "protection/introduction.h"
#include "protection/leftovers.h"
#include "protection/looking.h"
#include "protection/store_list.h"

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
    std::vector<Start> points;
    for (size_t store = 0; store < findings.size(); ++store) {
        for (const Point &point : findings[store].agreed()) {
            points.push_back({point, store});
        }
    }
    std::erase_if(points, [&](const Start &each) { return is_forgotten(findings, each.point); });
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

Status bring_newest(Job &job, const std::vector<OpenStore> &stores,
                    const std::vector<Findings> &findings, const std::vector<Start> &points,
                    bool sync, Leftovers &leftovers, std::optional<Start> &start,
                    Division &division) {
    KeptOutcome newest;
    for (const Start &each : points) {
        bool removed = false;
        Status status = leftovers.remove_for(job, stores, findings, each, removed);
        status = status ? bring(job, stores[each.store].folder, findings[each.store], each.point,
                                sync, division)
                        : status;
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
            newest = KeptOutcome(status);
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
std::vector<std::string> groups_of_level(const std::vector<Introduction> &introductions,
                                         size_t level) {
    std::vector<std::string> groups;
    groups.reserve(introductions.size());
    for (const Introduction &each : introductions) {
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
            warn_once(job, level.division.fallback.c_str());
        }
    }
    return Status::ok();
}

// ---- What all start from, as it is now

// A directory that was only listed, and is needed now.
Status open_where_it_was_not(Job &job, const Findings &findings, bool sync, const User &user,
                             const std::string &root, OpenStore &store) {
    const auto self = job.all().self();
    Status opened = attempt([&] {
        if (store.there) {
            return Status::ok();
        }
        const std::string directory = store.folder.directory();
        if (Status status = Folder::open(directory, root, sync, store.folder); !status) {
            return status;
        }
        store.there = true;
        store.speaks = findings.speakers[static_cast<size_t>(self)] == self;
        return store.speaks ? UseLock::take(store.folder.path(), user, store.use) : Status::ok();
    });
    return agree(job, opened);
}

// Its sets may be those of ranks that were elsewhere. What all nodes see is not lost with one.
bool is_protected_now(const Opened &opened, const std::vector<Introduction> &introductions,
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

void close_stores(std::vector<OpenStore> &stores) noexcept {
    for (OpenStore &store : stores) {
        store.use.reset();
        if (store.there) {
            store.folder.remove_if_empty();
        }
    }
    stores.clear();
}

namespace {

Status open_all(Job &job, const Request &request, Opened &result) {
    Introduced introduced;
    if (Status status = introduce(job, request, introduced); !status) {
        return status;
    }
    std::vector<OpenStore> &stores = result.stores;
    stores = std::move(introduced.stores);
    std::vector<Findings> findings;
    Status understood = attempt([&] {
        if (request.flush_store) {
            result.flush_store = introduced.places[*request.flush_store];
        }
        Status status = divide_levels(job, request, introduced, result.levels);
        return status ? find_all_speakers(job.all().self(), job.ranks(), introduced.all, stores,
                                          findings)
                      : status;
    });
    if (Status status = agree_on_memory(job, understood); !status) {
        return status;
    }
    result.session = introduced.all.front().session;
    if (Status status =
            look(job, result.session, introduced.asked_for, result.flush_store, stores, findings);
        !status) {
        return status;
    }
    std::vector<Start> points;
    const bool chooses = !request.restart.empty() && request.restart != "yes";
    bool begins = false;
    Status chosen = attempt([&] {
        result.root = request.root;
        drop_empty_stores(introduced.asked_for, result.session, findings, stores);
        find_numbers(findings, result);
        points = all_agreed(findings);
        begins = points.empty() && request.restart != "no";
        return choose(job, request, points);
    });
    if (Status status = agree_on_memory(job, chosen); !status) {
        return status;
    }
    if (begins) {
        tell_of_unrecorded(job, request, findings);
    }
    Leftovers leftovers;
    if (Status status = leftovers.find(job, findings); !status) {
        return status;
    }
    Division division;
    Status brought = bring_newest(job, stores, findings, points, request.sync, leftovers,
                                  result.start, division);
    brought = brought ? leftovers.remove(job, stores) : with_remedy(brought, request.restart);
    if (brought && (begins || !chooses)) {
        brought = tell_of_local_stores(job, request, result.start);
    }
    if (!brought) {
        return brought;
    }
    if (result.start) {
        const size_t store = result.start->store;
        if (Status status = open_where_it_was_not(job, findings[store], request.sync,
                                                  {result.session, job.rank(), job.node()},
                                                  request.root, stores[store]);
            !status) {
            return status;
        }
    }
    Status known = attempt([&] {
        result.start_is_protected =
            result.start && is_protected_now(result, introduced.all, job.ranks(), division);
        return list_stores(job, stores, request.sync);
    });
    if (Status status = agree(job, known); !status) {
        return status;
    }
    for (OpenLevel &level : result.levels) {
        const redset::Set &set = level.division.set_of(job.rank());
        if (Status status = job.divide(set.group, member_of(set, job.rank()), level.set); !status) {
            return status;
        }
    }
    for (const OpenStore &store : stores) {
        if (store.speaks) {
            UseLock::remove_what_the_dead_left(store.folder.path(), result.session);
        }
    }
    return Status::ok();
}

} // namespace

Status open(Job &job, const Request &request, Opened &opened) {
    Opened result;
    Status status = open_all(job, request, result);
    if (status) {
        opened = std::move(result);
    } else {
        close_stores(result.stores);
    }
    return status;
}

} // namespace cd::protection
