// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "checkpoint/handshake.h"

#include "base/no_throw.h"
#include "checkpoint/same_directories.h"
#include "checkpoint/store_list.h"
#include "redset/kvtree_file.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <set>
#include <span>

namespace cd::checkpoint {
namespace {

using redset::Bytes;
using redset::KvTree;

std::string settings_of(const Request &request) {
    std::string settings;
    for (const LevelRequest &level : request.levels) {
        const auto &[redundancy, set_size] = level.protecting;
        settings += "redundancy " + std::string(redset::scheme_name(redundancy.scheme)) + ":" +
                    std::to_string(redundancy.parameter) +
                    ", set_size=" + std::to_string(set_size) + ", ";
    }
    return settings + request.settings + "sync=" + (request.sync ? "full" : "none") +
           ", CD_RESTART=" + request.restart;
}

void add_list(KvTree &tree, const char *key, const std::vector<std::string> &values) {
    KvTree &list = tree.add(key);
    for (size_t i = 0; i < values.size(); ++i) {
        list.add_value(std::to_string(i), values[i]);
    }
}

std::vector<std::string> take_list(const KvTree &tree, const char *key) {
    std::vector<std::string> values;
    if (const KvTree *list = tree.find(key); list != nullptr) {
        for (const auto &[i, value] : list->elements()) {
            values.emplace_back(list->value(i).value_or(""));
        }
    }
    return values;
}

// ---- Opening stores, and telling of them

constexpr const char *key_of_copies = "flush= in storage_info";
constexpr const char *key_of_levels = "STORE in the file of config=";

Status open_asked_for(const Request &request, std::vector<OpenStore> &stores) {
    for (size_t i = 0; i < request.stores.size(); ++i) {
        const char *key = i == 0                     ? key_of_stores
                          : request.flush_store == i ? key_of_copies
                                                     : key_of_levels;
        OpenStore &store = stores.emplace_back();
        if (Status status = CheckpointDir::open(request.stores[i], request.root, request.sync,
                                                store.folder, key);
            !status) {
            return status;
        }
    }
    return Status::ok();
}

// What is listed may hold nothing that is needed: where it is not there it is not made, and that it
// cannot be opened is told, and no failure yet.
Status open_listed(const Request &request, const std::vector<std::string> &listed,
                   std::vector<OpenStore> &stores, std::vector<std::string> &problems) {
    problems.resize(stores.size());
    for (const std::string &directory : listed) {
        OpenStore &store = stores.emplace_back();
        Status found = CheckpointDir::find(directory, request.root, request.sync, store.folder,
                                           store.there, "directory");
        if (found.code() == CD_ERROR_NO_MEMORY) {
            return found;
        }
        problems.emplace_back(found ? "" : message());
        store.there = store.there && found;
    }
    return Status::ok();
}

void tell_of_list(const CheckpointDir &folder, KvTree &tree) {
    const SavedMessage keeper;
    StoreList list;
    if (!read_store_list(folder, list)) {
        tree.add_value("LIST_PROBLEM", message());
    } else if (list.there) {
        add_list(tree, "LIST", list.directories);
    }
}

// What is not there is no directory that another name may have.
std::string identity_of(const OpenStore &store, size_t which) {
    const os::FileIdentity identity = store.folder.identity();
    return store.there ? std::to_string(identity.device) + ":" + std::to_string(identity.inode)
                       : "none " + std::to_string(which);
}

Status tell_of(Job &job, const Request &request, const std::vector<std::string> &listed,
               std::vector<OpenStore> &stores, Bytes &told) {
    stores.clear();
    std::vector<std::string> problems;
    Status opened = open_asked_for(request, stores);
    opened = opened ? open_listed(request, listed, stores, problems) : opened;
    if (!opened) {
        return opened;
    }
    std::vector<std::string> groups;
    groups.reserve(request.levels.size());
    for (const LevelRequest &level : request.levels) {
        groups.push_back(level.group);
    }
    // That of dir= is not listed anywhere, and may be another one for each rank.
    std::vector<std::string> relative(request.stores.size());
    for (size_t i = 1; i < request.stores.size(); ++i) {
        relative[i] = request.stores[i].starts_with('/') ? "" : stores[i].folder.directory();
    }
    std::vector<std::string> directories;
    std::vector<std::string> there;
    for (const OpenStore &store : stores) {
        directories.push_back(job.node() + ":" + identity_of(store, directories.size()));
        there.emplace_back(store.there ? "yes" : "");
    }
    uint64_t session = 0;
    if (os::system().random(&session, sizeof session) != 0) {
        return fail(CD_ERROR_STORE_IO, "the system gives no random number");
    }
    KvTree tree;
    tree.add_value("SETTINGS", settings_of(request));
    add_list(tree, "GROUP", groups);
    add_list(tree, "RELATIVE", relative);
    add_list(tree, "DIRECTORY", directories);
    add_list(tree, "PROBLEM", problems);
    add_list(tree, "THERE", there);
    tree.add_number("SESSION", session);
    tell_of_list(stores.front().folder, tree);
    return redset::encode_image(tree, "an introduction", told);
}

Status hear_of(const Request &request, size_t stores, const std::vector<Bytes> &heard,
               std::vector<Handshake> &all) {
    all.clear();
    for (const Bytes &bytes : heard) {
        KvTree theirs;
        uint64_t size = 0;
        if (Status status = redset::decode_image(bytes, "an introduction", theirs, size); !status) {
            return status;
        }
        Handshake read{
            .settings = std::string(theirs.value("SETTINGS").value_or("")),
            .groups = take_list(theirs, "GROUP"),
            .relative = take_list(theirs, "RELATIVE"),
            .directories = take_list(theirs, "DIRECTORY"),
            .problems = take_list(theirs, "PROBLEM"),
            .there = take_list(theirs, "THERE"),
            .listed = take_list(theirs, "LIST"),
            .has_list = theirs.find("LIST") != nullptr,
            .list_problem = std::string(theirs.value("LIST_PROBLEM").value_or("")),
            .session = theirs.number("SESSION").value_or(0),
        };
        read.groups.resize(request.levels.size()); // other settings are found next
        read.relative.resize(request.stores.size());
        read.directories.resize(stores);
        read.problems.resize(stores);
        read.there.resize(stores);
        all.push_back(std::move(read));
    }
    return Status::ok();
}

// Where nobody can look, something may be that is needed; where others can, it is as if that of
// this node were lost.
Status check_listed(const Request &request, const Introduced &introduced) {
    const std::vector<Handshake> &all = introduced.all;
    const std::vector<OpenStore> &stores = introduced.stores;
    for (size_t i = request.stores.size(); i < stores.size(); ++i) {
        const auto problem = std::ranges::find_if(
            all, [&](const Handshake &each) { return !each.problems[i].empty(); });
        if (problem == all.end()) {
            continue;
        }
        const bool anywhere =
            std::ranges::any_of(all, [&](const Handshake &each) { return !each.there[i].empty(); });
        if (!anywhere) {
            return because_it_is_listed(
                fail(CD_ERROR_STORE_DIRECTORY, "%s", problem->problems[i].c_str()),
                stores[i].folder.directory(), stores.front().folder);
        }
    }
    return Status::ok();
}

Status check_settings(const std::vector<int> &ranks, const std::vector<Handshake> &all) {
    const std::string &first = all.front().settings;
    const auto other =
        std::ranges::find_if(all, [&](const Handshake &each) { return each.settings != first; });
    if (other == all.end()) {
        return Status::ok();
    }
    return fail(CD_ERROR_ARGUMENT, "rank %d has %s, and rank %d %s; give all ranks the same",
                ranks[0], first.c_str(), ranks[static_cast<size_t>(other - all.begin())],
                other->settings.c_str());
}

// Directories are written down for programs that do not name them, and those are wherever they are.
Status check_relative(const std::vector<int> &ranks, const Request &request,
                      const std::vector<Handshake> &all) {
    const auto &first = all.front().relative;
    for (size_t position = 0; position < all.size(); ++position) {
        const auto &theirs = all[position].relative;
        const auto [own, other] = std::ranges::mismatch(first, theirs);
        if (own != first.end()) {
            const auto store = static_cast<size_t>(own - first.begin());
            return fail(CD_ERROR_STORAGE_VALUE,
                        "%s, the directory of a level or of flush=, is %s for rank %d and %s for "
                        "rank %d, whose working directories differ; give its name from / on",
                        request.stores[store].c_str(), own->c_str(), ranks.front(), other->c_str(),
                        ranks[position]);
        }
    }
    return Status::ok();
}

Status meet(Job &job, const Request &request, const std::vector<std::string> &listed,
            Introduced &introduced) {
    Bytes told;
    std::vector<Bytes> heard;
    Status own =
        catch_exceptions([&] { return tell_of(job, request, listed, introduced.stores, told); });
    if (Status status = agree(job, own, told, heard); !status) {
        return status;
    }
    return agree_on_memory(job, catch_exceptions([&] {
                               std::vector<Handshake> &all = introduced.all;
                               Status status =
                                   hear_of(request, introduced.stores.size(), heard, all);
                               status = status ? check_settings(job.ranks(), all) : status;
                               return status ? check_relative(job.ranks(), request, all) : status;
                           }));
}

// ---- What is listed, and not asked for

// One list is enough: all ranks write the same.
Status check_lists(const std::vector<Handshake> &all) {
    if (std::ranges::any_of(all, &Handshake::has_list)) {
        return Status::ok();
    }
    const auto damaged =
        std::ranges::find_if(all, [](const Handshake &each) { return !each.list_problem.empty(); });
    return damaged == all.end() ? Status::ok()
                                : fail(CD_ERROR_STORE_DAMAGED, "%s", damaged->list_problem.c_str());
}

std::set<std::string> listed_by_any(const std::vector<Handshake> &all) {
    std::set<std::string> listed;
    for (const Handshake &each : all) {
        listed.insert(each.listed.begin(), each.listed.end());
    }
    return listed;
}

// What is at a directory that is listed, as a number that means the same on all ranks: nothing, one
// of the stores, or one of those that are listed, be it this one itself.
using Seen = uint32_t;

class Looking {
public:
    Looking(const Request &request, const std::vector<OpenStore> &stores) : root_(request.root) {
        for (const OpenStore &store : stores) {
            known_.push_back(store.folder.identity());
        }
    }

    // That it cannot be looked at is found when it is opened.
    Seen look_at(const std::string &listed) {
        const std::string path = CheckpointDir::path_below(listed, root_);
        const File found(os::system().open_at(AT_FDCWD, path.c_str(), O_PATH | O_NOFOLLOW, 0),
                         path);
        os::FileIdentity identity;
        const bool seen =
            found.is_open() && os::system().identify(found.descriptor(), identity) == 0;
        const bool is_nothing = !seen && (errno == ENOENT || errno == ENOTDIR);
        const auto same = seen ? std::ranges::find(known_, std::optional(identity)) : known_.end();
        const auto which = static_cast<Seen>(same - known_.begin());
        known_.push_back(seen ? std::optional(identity) : std::nullopt);
        return is_nothing ? 0 : which + 1;
    }

private:
    const std::string root_;
    std::vector<std::optional<os::FileIdentity>> known_;
};

// What all ranks that see something there see, or that they differ.
constexpr Seen different = ~Seen{0};

Seen seen_by_all(size_t which, const std::vector<Bytes> &heard) {
    Seen seen = 0;
    for (const Bytes &each : heard) {
        Seen theirs = 0;
        if ((which + 1) * sizeof theirs <= each.size()) {
            std::memcpy(&theirs, each.data() + which * sizeof theirs, sizeof theirs);
        }
        seen = seen == 0 || theirs == 0 || seen == theirs ? std::max(seen, theirs) : different;
    }
    return seen;
}

void warn_that_it_is_gone(const std::string &root, const std::string &directory) {
    const std::string line = "root \"" + root + "\": earlier programs had points in time in " +
                             directory +
                             ", which no node has any more: what was there is not found";
    os::system().warn(line.c_str());
}

// The stores besides those asked for, of all that are listed, each by one of its names. One rank
// tells of those that are gone.
std::vector<std::string> other_stores(const std::set<std::string> &listed,
                                      const std::vector<Bytes> &heard, const Request &request,
                                      bool tells) {
    std::vector<std::string> others;
    size_t which = 0;
    for (const std::string &directory : listed) {
        const Seen itself = static_cast<Seen>(request.stores.size() + which) + 1;
        const Seen seen = seen_by_all(which++, heard);
        if (seen == 0 && tells) {
            warn_that_it_is_gone(request.root, directory);
        } else if (seen >= itself) {
            others.push_back(directory);
        }
    }
    return others;
}

// ---- What can be had of it

void tell_of_problems(const Request &request, const Introduced &introduced) {
    const std::vector<Handshake> &all = introduced.all;
    for (size_t i = introduced.asked_for; i < introduced.stores.size(); ++i) {
        const auto problem = std::ranges::find_if(
            all, [&](const Handshake &each) { return !each.problems[i].empty(); });
        if (problem != all.end()) {
            const std::string line = "root \"" + request.root + "\": " + problem->problems[i] +
                                     "; what an earlier program had there counts as lost";
            os::system().warn(line.c_str());
        }
    }
}

// All ranks look whether what is listed is there, and which of it is one directory.
Status find_listed(Job &job, const Request &request, const Introduced &introduced,
                   std::vector<std::string> &others) {
    std::set<std::string> listed;
    Status known = catch_exceptions([&] {
        listed = listed_by_any(introduced.all);
        return check_lists(introduced.all);
    });
    if (Status status = agree_on_memory(job, known); !status || listed.empty()) {
        return status;
    }
    std::vector<Seen> seen;
    std::vector<Bytes> heard;
    Status looked = catch_exceptions([&] {
        Looking looking(request, introduced.stores);
        for (const std::string &directory : listed) {
            seen.push_back(looking.look_at(directory));
        }
    });
    if (Status status = agree(job, looked, std::as_bytes(std::span(seen)), heard); !status) {
        return status;
    }
    return agree_on_memory(job, catch_exceptions([&] {
                               others = other_stores(listed, heard, request, job.all().self() == 0);
                           }));
}

Status introduce_all(Job &job, const Request &request, Introduced &introduced) {
    if (Status status = meet(job, request, {}, introduced); !status) {
        return status;
    }
    std::vector<std::string> listed;
    if (Status status = find_listed(job, request, introduced, listed); !status) {
        return status;
    }
    if (!listed.empty()) {
        if (Status status = meet(job, request, listed, introduced); !status) {
            return status;
        }
        Status looked = catch_exceptions([&] { return check_listed(request, introduced); });
        if (Status status = agree(job, looked); !status) {
            return status;
        }
    }
    if (Status status = keep_each_once(job, request, introduced); !status) {
        return status;
    }
    return agree_on_memory(job, catch_exceptions([&] {
                               if (job.tells_people()) {
                                   tell_of_problems(request, introduced);
                               }
                           }));
}

} // namespace

Status introduce(Job &job, const Request &request, Introduced &introduced) {
    Status status = introduce_all(job, request, introduced);
    if (!status) {
        close_stores(introduced.stores);
    }
    return status;
}

} // namespace cd::checkpoint
