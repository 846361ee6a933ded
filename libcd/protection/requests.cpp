// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "protection/requests.h"

#include "redset/open_file.h"
#include "store/crc32c.h"

#include <algorithm>
#include <cstdio>

namespace cd::protection {
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

// What fails together with this node, as a level has it.
Status group_of(const Level &level, const Levels &levels, const StorageInfo &info,
                const std::string &node, std::string &group) {
    if (level.group == "NODE") {
        group = info.group.empty() ? node : info.group;
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

// A store that several levels have is one.
size_t store_of(const std::string &directory, std::vector<std::string> &stores) {
    const auto found = std::ranges::find(stores, directory);
    const auto index = static_cast<size_t>(found - stores.begin());
    if (found == stores.end()) {
        stores.push_back(directory);
    }
    return index;
}

Status add_levels(const Levels &levels, const StorageInfo &info, const std::string &node,
                  Request &request) {
    // By what the levels say, which is the same on all ranks; those of the request come first.
    std::vector<std::string> stores(request.stores.size());
    for (const Level &level : levels.levels) {
        LevelRequest wanted{level.index,
                            level.interval,
                            {level.redundancy, level.set_size},
                            "",
                            store_of(level.store, stores)};
        if (Status status = group_of(level, levels, info, node, wanted.group); !status) {
            return status;
        }
        request.levels.push_back(std::move(wanted));
    }
    const auto first = static_cast<std::ptrdiff_t>(request.stores.size());
    request.stores.insert(request.stores.end(), stores.begin() + first, stores.end());
    return Status::ok();
}

} // namespace

Status read_request(const StorageInfo &info, const std::string &directory, const std::string &node,
                    Request &request) {
    request.sync = info.sync == Sync::full;
    request.stores = {directory};
    if (!info.flush.empty()) {
        request.flush_store = request.stores.size();
        request.flush_interval = static_cast<uint64_t>(info.flush_interval);
        request.stores.push_back(info.flush);
        request.settings = "flush=" + info.flush +
                           ", flush_interval=" + std::to_string(info.flush_interval) + ", ";
    }
    if (info.config.empty()) {
        request.levels.push_back(
            {0, 1, {info.redundancy, info.set_size}, info.group.empty() ? node : info.group, 0});
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
    char sum[40];
    std::snprintf(sum, sizeof sum, " with checksum 0x%08x, ", crc32c(0, text.data(), text.size()));
    request.settings += "config=" + info.config + sum;
    return add_levels(levels, info, node, request);
}

} // namespace cd::protection
