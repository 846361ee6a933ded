// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "checkpoint/options.h"

#include "config/failure_groups.h"
#include "memory/crc32c.h"
#include "os/system.h"
#include "redset/member_files.h"

#include <algorithm>
#include <cstdio>

namespace cd::checkpoint {
namespace {

Status read_text(const std::string &path, std::string &text) {
    File file;
    os::FileAttributes attributes;
    if (Status status = redset::open_to_read(path, file, attributes); !status) {
        return status;
    }
    text.resize(static_cast<size_t>(attributes.size));
    return file.read(0, text.data(), text.size());
}

// Ranks with the same text have read the same file.
std::string with_checksum(const std::string &name, const std::string &text) {
    char sum[40];
    std::snprintf(sum, sizeof sum, " with checksum 0x%08x, ", crc32c(0, text.data(), text.size()));
    return name + sum;
}

// The failure group of this rank: group=, CD_GROUP or CD_GROUPS_FILE, else its node. An invalid
// value is an error: a wrong group would be noticed only when data are lost.
Status own_group(const StorageInfo &info, const std::string &node, Request &request,
                 std::string &group) {
    if (!info.group.empty()) {
        group = info.group;
        return Status::ok();
    }
    if (const char *value = os::system().environment("CD_GROUP"); value != nullptr) {
        group = value;
        return !group.empty()
                   ? Status::ok()
                   : fail(CD_ERROR_STORAGE_VALUE,
                          "the environment variable CD_GROUP is empty; set it to the failure "
                          "group of this rank");
    }
    const char *path = os::system().environment("CD_GROUPS_FILE");
    if (path == nullptr) {
        group = node;
        return Status::ok();
    }
    std::string text;
    if (Status status = read_text(path, text); !status) {
        return status;
    }
    request.settings += with_checksum(std::string("CD_GROUPS_FILE=") + path, text);
    return find_group(text, path, node, group);
}

// The failure group of this rank at a level. own: for GROUP=NODE.
Status group_of(const Level &level, const Levels &levels, const StorageInfo &info,
                const std::string &node, const std::string &own, std::string &group) {
    if (level.group == "NODE" || level.group == "WORLD") {
        group = level.group == "NODE" ? own : level.group;
        return Status::ok();
    }
    const auto host = levels.groups.find(node);
    const auto *named = host == levels.groups.end() ? nullptr : &host->second;
    if (named == nullptr || !named->contains(level.group)) {
        return fail(CD_ERROR_STORAGE_VALUE,
                    "%s: GROUP=%s, but no line GROUPS=%s %s=... says which one this node is in",
                    info.config.c_str(), level.group.c_str(), node.c_str(), level.group.c_str());
    }
    group = level.group + "=" + named->at(level.group);
    return Status::ok();
}

// Stores of levels are the same on all ranks, and come after those of the request.
Status add_levels(const Levels &levels, const StorageInfo &info, const std::string &node,
                  const std::string &own, Request &request) {
    const size_t before = request.stores.size();
    for (const Level &level : levels.levels) {
        size_t store = 0;
        if (!level.store.empty()) {
            store = before;
            while (store < request.stores.size() && request.stores[store] != level.store) {
                ++store;
            }
            request.stores.resize(std::max(request.stores.size(), store + 1), level.store);
        }
        request.levels.push_back(
            {level.index, level.interval, {level.redundancy, level.set_size}, "", store});
        if (Status status = group_of(level, levels, info, node, own, request.levels.back().group);
            !status) {
            return status;
        }
    }
    return Status::ok();
}

} // namespace

Status read_request(const StorageInfo &info, const std::string &directory, const std::string &node,
                    Request &request) {
    request.sync = info.sync == Sync::full;
    request.stores = {directory};
    request.settings =
        info.redundancy_mode == RedundancyMode::async ? "redundancy_mode=async, " : "";
    if (!info.flush.empty()) {
        request.flush_store = request.stores.size();
        request.flush_interval = static_cast<uint64_t>(info.epochs_per_copy());
        request.stores.push_back(info.flush);
        request.settings += "flush=" + info.flush +
                            ", flush_interval=" + std::to_string(info.epochs_per_copy()) + ", ";
    }
    std::string group;
    if (Status status = own_group(info, node, request, group); !status) {
        return status;
    }
    if (info.config.empty()) {
        request.levels.push_back(
            {0, 1, {info.redundancy, info.ranks_in_set()}, std::move(group), 0});
        return Status::ok();
    }
    std::string text;
    if (Status status = read_text(info.config, text); !status) {
        return status;
    }
    Levels levels;
    if (Status status = parse_levels(text, info.config.c_str(), levels); !status) {
        return status;
    }
    request.settings += with_checksum("config=" + info.config, text);
    for (const auto &[name, value] : levels.variables) {
        request.settings.append(name).append("=").append(value).append(", ");
    }
    return add_levels(levels, info, node, group, request);
}

} // namespace cd::checkpoint
