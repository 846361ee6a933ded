// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "checkpoint/handshake.h"

#include "base/no_throw.h"
#include "redset/kvtree_file.h"

#include <algorithm>

namespace cd::checkpoint {
namespace {

using redset::Bytes;
using redset::KvTree;

constexpr char source[] = "a handshake";

std::string settings_of(const Request &request) {
    std::string settings;
    for (const LevelRequest &level : request.levels) {
        const auto &[redundancy, set_size] = level.sets;
        settings += "redundancy " + std::string(redset::scheme_name(redundancy.scheme)) + ":" +
                    std::to_string(redundancy.parameter) +
                    ", set_size=" + std::to_string(set_size) + ", ";
    }
    return settings + request.settings + "sync=" + (request.sync ? "full" : "none") +
           ", CD_RESTART=" + request.restart;
}

std::string group_key(size_t level) { return "GROUP" + std::to_string(level); }
std::string directory_key(size_t store) { return "DIRECTORY" + std::to_string(store); }

Status open_stores(const Request &request, std::vector<OpenStore> &stores) {
    for (size_t i = 0; i < request.stores.size(); ++i) {
        const char *key = i == 0                     ? key_of_stores
                          : request.flush_store == i ? "flush= in storage_info"
                                                     : "STORE in the file of config=";
        OpenStore &store = stores.emplace_back();
        if (Status status = CheckpointDir::open(request.stores[i], request.root, request.sync,
                                                store.folder, key);
            !status) {
            return status;
        }
        for (const OpenStore &other : std::span(stores).first(i)) {
            if (other.folder.identity() == store.folder.identity()) {
                return fail(CD_ERROR_STORAGE_VALUE,
                            "%s and %s are one directory; give dir=, flush= and each STORE= "
                            "another one, or leave STORE= out",
                            other.folder.path().c_str(), store.folder.path().c_str());
            }
        }
    }
    return Status::ok();
}

Status encode(Job &job, const Request &request, std::vector<OpenStore> &stores, Bytes &own) {
    if (Status status = open_stores(request, stores); !status) {
        return status;
    }
    uint64_t session = 0;
    if (os::system().random(&session, sizeof session) != 0) {
        return fail(CD_ERROR_STORE_IO, "the system gives no random number");
    }
    KvTree tree;
    tree.add_value("SETTINGS", settings_of(request));
    tree.add_number("SESSION", session);
    for (size_t level = 0; level < request.levels.size(); ++level) {
        tree.add_value(group_key(level), request.levels[level].group);
    }
    for (size_t store = 0; store < stores.size(); ++store) {
        const os::FileIdentity identity = stores[store].folder.identity();
        tree.add_value(directory_key(store), job.node() + ":" + std::to_string(identity.device) +
                                                 ":" + std::to_string(identity.inode));
    }
    return redset::encode_image(tree, source, own);
}

// Gives each rank as many groups and directories as this one has. Settings that differ are found
// later.
Status decode(const Request &request, const std::vector<Bytes> &gathered,
              std::vector<Handshake> &all) {
    for (const Bytes &bytes : gathered) {
        KvTree tree;
        uint64_t size = 0;
        if (Status status = redset::decode_image(bytes, source, tree, size); !status) {
            return status;
        }
        Handshake &each = all.emplace_back();
        each.settings = tree.value("SETTINGS").value_or("");
        each.session = tree.number("SESSION").value_or(0);
        for (size_t level = 0; level < request.levels.size(); ++level) {
            each.groups.emplace_back(tree.value(group_key(level)).value_or(""));
        }
        for (size_t store = 0; store < request.stores.size(); ++store) {
            each.directories.emplace_back(tree.value(directory_key(store)).value_or(""));
        }
    }
    return Status::ok();
}

Status check_settings(const std::vector<int> &ranks, const std::vector<Handshake> &all) {
    const std::string &first = all.front().settings;
    const auto other =
        std::ranges::find_if(all, [&](const Handshake &each) { return each.settings != first; });
    return other == all.end()
               ? Status::ok()
               : fail(CD_ERROR_ARGUMENT, "rank %d has %s, and rank %d %s; give all ranks the same",
                      ranks[0], first.c_str(), ranks[static_cast<size_t>(other - all.begin())],
                      other->settings.c_str());
}

} // namespace

Status shake_hands(Job &job, const Request &request, std::vector<OpenStore> &stores,
                   std::vector<Handshake> &all) {
    Bytes own;
    std::vector<Bytes> gathered;
    Status opened = catch_exceptions([&] { return encode(job, request, stores, own); });
    Status status = agree(job, opened, own, gathered);
    status = status
                 ? agree_on_memory(job, catch_exceptions([&] {
                                       Status decoded = decode(request, gathered, all);
                                       return decoded ? check_settings(job.ranks(), all) : decoded;
                                   }))
                 : status;
    if (!status) {
        close_stores(stores);
    }
    return status;
}

} // namespace cd::checkpoint
