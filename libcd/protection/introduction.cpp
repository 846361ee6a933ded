// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "protection/introduction.h"

#include "base/attempt.h"
#include "protection/store_list.h"
#include "redset/kvtree_image.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <set>

namespace cd::protection {
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

// By whichever names they are called: each would remove what the other has.
Status check_not_the_same(const OpenStore &one, const OpenStore &other) {
    if (one.folder.identity() != other.folder.identity()) {
        return Status::ok();
    }
    return fail(CD_ERROR_STORAGE_VALUE,
                "%s and %s are one directory; dir=, flush= and the STORE= of levels need one each, "
                "and levels that share one have to call it by the same name; a level without "
                "STORE= is in that of dir=",
                one.folder.path().c_str(), other.folder.path().c_str());
}

Status open_store(const std::string &directory, const Request &request,
                  std::vector<OpenStore> &stores) {
    OpenStore store;
    if (Status status = Folder::open(directory, request.root, request.sync, store.folder);
        !status) {
        return status;
    }
    for (const OpenStore &earlier : stores) {
        if (Status status = check_not_the_same(earlier, store); !status) {
            return status;
        }
    }
    stores.push_back(std::move(store));
    return Status::ok();
}

Status open_stores(const Request &request, const std::vector<std::string> &earlier,
                   std::vector<OpenStore> &stores) {
    stores.clear();
    for (const std::string &directory : request.stores) {
        if (Status status = open_store(directory, request, stores); !status) {
            return status;
        }
    }
    for (const std::string &directory : earlier) {
        if (Status status = open_store(directory, request, stores); !status) {
            return because_it_is_listed(status, directory, stores.front().folder);
        }
    }
    return Status::ok();
}

void tell_of_list(const Folder &folder, KvTree &tree) {
    const MessageKeeper keeper;
    StoreList list;
    if (!read_store_list(folder, list)) {
        tree.add_value("LIST_PROBLEM", message());
    } else if (list.there) {
        add_list(tree, "LIST", list.directories);
    }
}

Status tell_of(Job &job, const Request &request, const std::vector<std::string> &earlier,
               std::vector<OpenStore> &stores, Bytes &told) {
    if (Status status = open_stores(request, earlier, stores); !status) {
        return status;
    }
    std::vector<std::string> groups;
    groups.reserve(request.levels.size());
    for (const LevelRequest &level : request.levels) {
        groups.push_back(level.group);
    }
    std::vector<std::string> directories;
    for (const OpenStore &store : stores) {
        const os::FileIdentity identity = store.folder.identity();
        directories.push_back(job.node() + ":" + std::to_string(identity.device) + ":" +
                              std::to_string(identity.inode));
    }
    uint64_t session = 0;
    if (os::system().random(&session, sizeof session) != 0) {
        return fail(CD_ERROR_STORE_IO, "the system gives no random number");
    }
    KvTree tree;
    tree.add_value("SETTINGS", settings_of(request));
    add_list(tree, "GROUP", groups);
    add_list(tree, "DIRECTORY", directories);
    tree.add_number("SESSION", session);
    tell_of_list(stores.front().folder, tree);
    return redset::encode_image(tree, "an introduction", told);
}

Status hear_of(const Request &request, size_t stores, const std::vector<Bytes> &heard,
               std::vector<Introduction> &all) {
    all.clear();
    for (const Bytes &bytes : heard) {
        KvTree theirs;
        uint64_t size = 0;
        if (Status status = redset::decode_image(bytes, "an introduction", theirs, size); !status) {
            return status;
        }
        Introduction read{std::string(theirs.value("SETTINGS").value_or("")),
                          take_list(theirs, "GROUP"),
                          take_list(theirs, "DIRECTORY"),
                          take_list(theirs, "LIST"),
                          theirs.find("LIST") != nullptr,
                          std::string(theirs.value("LIST_PROBLEM").value_or("")),
                          theirs.number("SESSION").value_or(0)};
        read.groups.resize(request.levels.size()); // other settings are found next
        read.directories.resize(stores);
        all.push_back(std::move(read));
    }
    return Status::ok();
}

Status check_settings(const std::vector<int> &ranks, const std::vector<Introduction> &all) {
    const std::string &first = all.front().settings;
    const auto other =
        std::ranges::find_if(all, [&](const Introduction &each) { return each.settings != first; });
    if (other == all.end()) {
        return Status::ok();
    }
    return fail(CD_ERROR_ARGUMENT, "rank %d has %s, and rank %d %s; give all ranks the same",
                ranks[0], first.c_str(), ranks[static_cast<size_t>(other - all.begin())],
                other->settings.c_str());
}

Status meet(Job &job, const Request &request, const std::vector<std::string> &earlier,
            std::vector<OpenStore> &stores, std::vector<Introduction> &all) {
    Bytes told;
    std::vector<Bytes> heard;
    Status own = attempt([&] { return tell_of(job, request, earlier, stores, told); });
    if (Status status = agree(job, own, told, heard); !status) {
        return status;
    }
    return agree_on_memory(job, attempt([&] {
                               Status status = hear_of(request, stores.size(), heard, all);
                               return status ? check_settings(job.ranks(), all) : status;
                           }));
}

// ---- What is listed, and not asked for

// One list is enough: all ranks write the same.
Status check_lists(const std::vector<Introduction> &all) {
    if (std::ranges::any_of(all, &Introduction::has_list)) {
        return Status::ok();
    }
    const auto damaged = std::ranges::find_if(
        all, [](const Introduction &each) { return !each.list_problem.empty(); });
    return damaged == all.end() ? Status::ok()
                                : fail(CD_ERROR_STORE_DAMAGED, "%s", damaged->list_problem.c_str());
}

std::set<std::string> listed_by_any(const std::vector<Introduction> &all) {
    std::set<std::string> listed;
    for (const Introduction &each : all) {
        listed.insert(each.listed.begin(), each.listed.end());
    }
    return listed;
}

// What is at a directory that is listed; on all nodes together, the largest of these.
enum class Seen : uint8_t { nothing, one_of_the_stores, another_store };

// That it cannot be looked at is found when it is opened.
Seen look_at(const std::string &listed, const Request &request,
             const std::vector<OpenStore> &stores) {
    const std::string path = Folder::path_below(listed, request.root);
    const File found(os::system().open_at(AT_FDCWD, path.c_str(), O_PATH | O_NOFOLLOW, 0), path);
    os::FileIdentity identity;
    if (!found.is_open() || os::system().identify(found.descriptor(), identity) != 0) {
        return errno == ENOENT || errno == ENOTDIR ? Seen::nothing : Seen::another_store;
    }
    const bool known = std::ranges::any_of(
        stores, [&](const OpenStore &store) { return store.folder.identity() == identity; });
    return known ? Seen::one_of_the_stores : Seen::another_store;
}

Seen seen_by_any(size_t which, const std::vector<Bytes> &heard) {
    std::byte seen{};
    for (const Bytes &each : heard) {
        seen = which < each.size() ? std::max(seen, each[which]) : seen;
    }
    return static_cast<Seen>(seen);
}

void warn_that_it_is_gone(const std::string &root, const std::string &directory) {
    const std::string line = "root \"" + root + "\": earlier programs had points in time in " +
                             directory +
                             ", which no node has any more: what was there is not found";
    os::system().warn(line.c_str());
}

// The stores besides those asked for, of all that are listed. One rank tells of those that are
// gone.
std::vector<std::string> other_stores(const std::set<std::string> &listed,
                                      const std::vector<Bytes> &heard, const std::string &root,
                                      bool tells) {
    std::vector<std::string> others;
    size_t which = 0;
    for (const std::string &directory : listed) {
        const Seen seen = seen_by_any(which++, heard);
        if (seen == Seen::nothing && tells) {
            warn_that_it_is_gone(root, directory);
        } else if (seen == Seen::another_store) {
            others.push_back(directory);
        }
    }
    return others;
}

} // namespace

Status introduce(Job &job, const Request &request, std::vector<OpenStore> &stores,
                 std::vector<Introduction> &all) {
    if (Status status = meet(job, request, {}, stores, all); !status) {
        return status;
    }
    std::set<std::string> listed;
    Status known = attempt([&] {
        listed = listed_by_any(all);
        return check_lists(all);
    });
    if (Status status = agree_on_memory(job, known); !status || listed.empty()) {
        return status;
    }
    Bytes told;
    std::vector<Bytes> heard;
    Status looked = attempt([&] {
        for (const std::string &directory : listed) {
            told.push_back(static_cast<std::byte>(look_at(directory, request, stores)));
        }
    });
    if (Status status = agree(job, looked, told, heard); !status) {
        return status;
    }
    std::vector<std::string> earlier;
    Status understood = attempt(
        [&] { earlier = other_stores(listed, heard, request.root, job.all().self() == 0); });
    if (Status status = agree_on_memory(job, understood); !status || earlier.empty()) {
        return status;
    }
    return meet(job, request, earlier, stores, all);
}

} // namespace cd::protection
