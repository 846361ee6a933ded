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

constexpr uint64_t largest_file = uint64_t{1} << 20;

Status read_text(const std::string &path, std::string &text) {
    File file;
    os::FileAttributes attributes;
    if (Status status = redset::open_to_read(path, file, attributes); !status) {
        return status;
    }
    if (attributes.size > largest_file) {
        return fail(CD_ERROR_STORAGE_VALUE, "%s: the file has %llu bytes; %llu are allowed",
                    path.c_str(), static_cast<unsigned long long>(attributes.size),
                    static_cast<unsigned long long>(largest_file));
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
    if (level.group == "NODE") {
        group = own;
        return Status::ok();
    }
    if (level.group == "WORLD") {
        group = "WORLD";
        return Status::ok();
    }
    const auto host = levels.groups.find(node);
    const auto named =
        host == levels.groups.end() ? std::map<std::string, std::string>() : host->second;
    const auto value = named.find(level.group);
    if (value == named.end()) {
        return fail(CD_ERROR_STORAGE_VALUE,
                    "%s: GROUP=%s, but no line GROUPS=%s %s=... says which one this node is in",
                    info.config.c_str(), level.group.c_str(), node.c_str(), level.group.c_str());
    }
    group = level.group + "=" + value->second;
    return Status::ok();
}

// The index of a directory in `stores`, which is added if it is not there.
size_t store_of(const std::string &directory, std::vector<std::string> &stores) {
    const auto found = std::ranges::find(stores, directory);
    const auto index = static_cast<size_t>(found - stores.begin());
    if (found == stores.end()) {
        stores.push_back(directory);
    }
    return index;
}

Status add_levels(const Levels &levels, const StorageInfo &info, const std::string &node,
                  const std::string &own, Request &request) {
    // Stores of levels are the same on all ranks, and come after those of the request.
    std::vector<std::string> stores(request.stores.size());
    for (const Level &level : levels.levels) {
        LevelRequest wanted{level.index,
                            level.interval,
                            {level.redundancy, level.set_size},
                            "",
                            store_of(level.store, stores)};
        if (Status status = group_of(level, levels, info, node, own, wanted.group); !status) {
            return status;
        }
        request.levels.push_back(std::move(wanted));
    }
    for (size_t i = request.stores.size(); i < stores.size(); ++i) {
        request.stores.push_back(stores[i]);
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
