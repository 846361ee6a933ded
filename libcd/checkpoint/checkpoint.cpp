// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "checkpoint/checkpoint.h"

#include <algorithm>
#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <limits>
#include <utility>

namespace cd::checkpoint {
namespace {

using redset::KvTree;

constexpr uint64_t record_format = 1;

bool take_prefix(std::string_view &from, std::string_view beginning) {
    if (!from.starts_with(beginning)) {
        return false;
    }
    from.remove_prefix(beginning.size());
    return true;
}

bool take_number(std::string_view &from, uint64_t &number, int base = 10) {
    const auto [end, error] = std::from_chars(from.data(), from.data() + from.size(), number, base);
    from.remove_prefix(static_cast<size_t>(end - from.data()));
    return error == std::errc();
}

constexpr uint64_t largest_int = std::numeric_limits<int>::max();

// The number of a checkpoint; there must be room for the next one.
bool take_checkpoint_number(std::string_view &from, uint64_t &number) {
    return take_number(from, number) && number < std::numeric_limits<uint64_t>::max();
}

uint64_t number(int value) { return static_cast<uint64_t>(value); }

bool take_int(const KvTree &tree, const char *key, int &value) {
    const auto found = tree.number(key);
    if (!found || *found > largest_int) {
        return false;
    }
    value = static_cast<int>(*found);
    return true;
}

bool take_set(const KvTree &tree, redset::Set &set) {
    const KvTree *ranks = tree.find("RANK");
    if (ranks == nullptr || !take_int(tree, "GROUP", set.group) ||
        !take_int(tree, "GROUPS", set.groups) || !take_int(tree, "CHECKS", set.coding.checks) ||
        !take_int(tree, "JOB", set.job_ranks)) {
        return false;
    }
    set.coding.scheme = redset::scheme_named(tree.value("TYPE").value_or(""));
    set.coding.members = static_cast<int>(ranks->elements().size());
    for (size_t member = 0; member < ranks->elements().size(); ++member) {
        int rank = 0;
        if (!take_int(*ranks, std::to_string(member).c_str(), rank)) {
            return false;
        }
        set.ranks.push_back(rank);
    }
    return check_set(set, set.coding.members).is_ok();
}

} // namespace

std::string directory_name(const CheckpointId &id) {
    char name[100];
    std::snprintf(name, sizeof name, "epoch-%" PRIu64 ".%" PRIu64 ".%d.%016" PRIx64, id.epoch,
                  id.number, id.level, id.session);
    return name;
}

std::optional<CheckpointId> id_of_directory(std::string_view name) {
    CheckpointId id;
    uint64_t level = 0;
    std::string_view rest = name;
    const bool read = take_prefix(rest, "epoch-") && take_number(rest, id.epoch) &&
                      take_prefix(rest, ".") && take_checkpoint_number(rest, id.number) &&
                      take_prefix(rest, ".") && take_number(rest, level) && level <= largest_int &&
                      take_prefix(rest, ".") && take_number(rest, id.session, 16);
    id.level = static_cast<int>(level);
    return read && directory_name(id) == name ? std::optional(id) : std::nullopt;
}

std::string image_name(int rank) { return std::to_string(rank) + ".image"; }
std::string stored_record_name(int rank) { return std::to_string(rank) + ".stored"; }
std::string committed_record_name(int rank) { return std::to_string(rank) + ".agreed"; }

std::optional<int> rank_of_file(std::string_view name) {
    uint64_t rank = 0;
    return take_number(name, rank) && rank <= largest_int && name.starts_with('.') &&
                   name.find('/') == std::string_view::npos
               ? std::optional(static_cast<int>(rank))
               : std::nullopt;
}

std::string commit_marker_name(uint64_t number) { return "forgotten-" + std::to_string(number); }

std::optional<uint64_t> number_of_commit_marker(std::string_view name) {
    uint64_t number = 0;
    return take_prefix(name, "forgotten-") && take_checkpoint_number(name, number) && name.empty()
               ? std::optional(number)
               : std::nullopt;
}

KvTree commit_marker_tree(const CommitMarker &marker) {
    KvTree tree;
    tree.add_number("CD_FORGOTTEN", marker.number);
    KvTree &sessions = tree.add("SESSION");
    for (const uint64_t session : marker.sessions) {
        sessions.add(std::to_string(session));
    }
    return tree;
}

Status read_commit_marker(const KvTree &tree, const char *file, CommitMarker &marker) {
    const auto number = tree.number("CD_FORGOTTEN");
    const KvTree *sessions = tree.find("SESSION");
    CommitMarker read{number.value_or(0), {}};
    bool known = number && sessions != nullptr;
    for (size_t i = 0; known && i < sessions->elements().size(); ++i) {
        std::string_view text = sessions->elements()[i].key;
        uint64_t session = 0;
        known = take_number(text, session) && text.empty();
        read.sessions.insert(session);
    }
    if (!known) {
        return fail(CD_ERROR_STORE_DAMAGED, "%s: this is no commit marker", file);
    }
    marker = std::move(read);
    return Status::ok();
}

KvTree record_tree(const Record &record) {
    KvTree tree;
    tree.add_number("CD_POINT", record_format);
    tree.add_number("EPOCH", record.id.epoch);
    tree.add_number("NUMBER", record.id.number);
    tree.add_number("LEVEL", number(record.id.level));
    tree.add_number("SESSION", record.id.session);
    tree.add_number("RANK", number(record.rank));
    tree.add_number("PARTICIPANTS", number(record.participants));
    KvTree &set = tree.add("SET");
    set.add_value("TYPE", redset::scheme_name(record.set.coding.scheme));
    set.add_number("CHECKS", number(record.set.coding.checks));
    set.add_number("GROUP", number(record.set.group));
    set.add_number("GROUPS", number(record.set.groups));
    set.add_number("JOB", number(record.set.job_ranks));
    KvTree &ranks = set.add("RANK");
    for (size_t member = 0; member < record.set.ranks.size(); ++member) {
        ranks.add_number(std::to_string(member), number(record.set.ranks[member]));
    }
    return tree;
}

Status read_record(const KvTree &tree, const char *file, Record &record) {
    if (const auto found = tree.number("CD_POINT"); found && *found != record_format) {
        return fail(CD_ERROR_STORE_VERSION, "%s: records of format %llu are not known", file,
                    static_cast<unsigned long long>(*found));
    }
    Record read;
    const auto epoch = tree.number("EPOCH");
    const auto count = tree.number("NUMBER");
    const auto session = tree.number("SESSION");
    const KvTree *set = tree.find("SET");
    int level = 0;
    if (!tree.number("CD_POINT") || !take_int(tree, "LEVEL", level) || !epoch || !count ||
        !session || !take_int(tree, "RANK", read.rank) ||
        !take_int(tree, "PARTICIPANTS", read.participants) || set == nullptr ||
        !take_set(*set, read.set) ||
        std::ranges::find(read.set.ranks, read.rank) == read.set.ranks.end()) {
        return fail(CD_ERROR_STORE_DAMAGED, "%s: this is no record of a checkpoint", file);
    }
    read.id = {*count, *epoch, level, *session};
    record = std::move(read);
    return Status::ok();
}

} // namespace cd::checkpoint
