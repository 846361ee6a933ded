// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "config/storage_info.h"

#include "base/text.h"
#include "config/parse_size.h"

#include <algorithm>
#include <bitset>
#include <cstddef>
#include <optional>
#include <tuple>
#include <utility>

namespace cd {

namespace {

template <typename Value> struct Choice {
    std::string_view word;
    Value value;
};

template <typename Value, size_t count>
bool choose(std::string_view word, const Choice<Value> (&choices)[count], Value &into) {
    for (const Choice<Value> &choice : choices) {
        if (choice.word == word) {
            into = choice.value;
            return true;
        }
    }
    return false;
}

constexpr Choice<Store> stores[] = {{"memory", Store::memory}, {"file", Store::file}};

// Each with its parameter when none is given.
constexpr Choice<Redundancy> redundancies[] = {
    {"none", {Scheme::none, 0}},       {"single", {Scheme::single, 0}},
    {"partner", {Scheme::partner, 1}}, {"xor", {Scheme::xor_set, 0}},
    {"rs", {Scheme::reed_solomon, 2}},
};

constexpr Choice<RedundancyMode> redundancy_modes[] = {{"sync", RedundancyMode::sync},
                                                       {"async", RedundancyMode::async}};

constexpr Choice<Sync> syncs[] = {{"full", Sync::full}, {"none", Sync::none}};

constexpr Choice<Checksum> checksums[] = {{"crc32c", Checksum::crc32c}, {"none", Checksum::none}};

constexpr Choice<Track> tracks[] = {{"explicit", Track::explicit_calls}, {"pages", Track::pages}};

constexpr Choice<Shadow> shadows[] = {{"full", Shadow::full}, {"none", Shadow::none}};

// A key whose values are words.
template <auto field, const auto &choices>
bool set_word(std::string_view value, StorageInfo &into) {
    return choose(value, choices, into.*field);
}

// A key whose values are integers.
template <auto field, unsigned smallest, unsigned largest>
bool set_integer(std::string_view value, StorageInfo &into) {
    const auto integer = parse_number(value, smallest, largest); // unsigned: it takes no sign
    if (integer) {
        into.*field = static_cast<int>(*integer);
    }
    return integer.has_value();
}

// A key whose values are any text. Paths and names end up in messages and in files of lines.
template <auto field> bool set_text(std::string_view value, StorageInfo &into) {
    const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 32 || c == 127; };
    if (value.empty() || std::any_of(value.begin(), value.end(), is_control)) {
        return false;
    }
    into.*field = value;
    return true;
}

bool set_redundancy(std::string_view value, StorageInfo &into) {
    const size_t colon = value.find(':');
    Redundancy redundancy;
    if (!choose(value.substr(0, colon), redundancies, redundancy)) {
        return false;
    }
    if (colon != std::string_view::npos) {
        const auto parameter = parse_number<unsigned>(value.substr(colon + 1), 1, 255);
        if (!parameter || redundancy.parameter == 0) {
            return false;
        }
        redundancy.parameter = static_cast<int>(*parameter);
    }
    into.redundancy = redundancy;
    return true;
}

template <auto field, const auto &choices>
constexpr StorageKey word_key(const char *key, const char *allowed, const char *explanation) {
    return {key, allowed, explanation, set_word<field, choices>};
}

template <auto field, unsigned smallest, unsigned largest>
constexpr StorageKey integer_key(const char *key, const char *allowed, const char *explanation) {
    return {key, allowed, explanation, set_integer<field, smallest, largest>};
}

template <auto field> constexpr StorageKey text_key(const char *key, const char *explanation) {
    return {key, "any text without commas and control characters", explanation, set_text<field>};
}

constexpr uint64_t smallest_log_limit = uint64_t{256} << 10;
constexpr uint64_t largest_log_limit = uint64_t{1024} << 30;

bool set_log_limit(std::string_view value, StorageInfo &into) {
    const std::optional<uint64_t> bytes = byte_count(value, largest_log_limit);
    if (!bytes || (*bytes != 0 && *bytes < smallest_log_limit)) {
        return false;
    }
    into.log_limit = *bytes;
    return true;
}

constexpr StorageKey keys[] = {
    word_key<&StorageInfo::store, stores>("store", "memory or file", "where the data are kept"),
    text_key<&StorageInfo::dir>("dir", "the directory of store=file and of log_limit"),
    {"redundancy", "none, single, partner, partner:N, xor, rs or rs:K (N and K from 1 to 255)",
     "how the loss of a node is survived", set_redundancy},
    integer_key<&StorageInfo::set_size, 2, 65535>("set_size", "an integer from 2 to 65535",
                                                  "how many ranks protect each other"),
    text_key<&StorageInfo::group>("group", "the name of what fails together"),
    word_key<&StorageInfo::sync, syncs>("sync", "full or none",
                                        "whether files are forced to the disk"),
    word_key<&StorageInfo::checksum, checksums>("checksum", "crc32c or none",
                                                "what finds damage to stored data"),
    word_key<&StorageInfo::track, tracks>("track", "explicit or pages",
                                          "who finds out what was modified"),
    text_key<&StorageInfo::config>("config", "a file with descriptor lines"),
    word_key<&StorageInfo::shadow, shadows>("shadow", "full or none",
                                            "whether an advance writes to a second copy"),
    integer_key<&StorageInfo::keep, 1, 1000>("keep", "an integer from 1 to 1000",
                                             "how many points in time store=file keeps"),
    word_key<&StorageInfo::redundancy_mode, redundancy_modes>(
        "redundancy_mode", "sync or async",
        "whether an advance waits until its point in time is protected"),
    text_key<&StorageInfo::flush>("flush", "a directory that all nodes see, for copies"),
    integer_key<&StorageInfo::flush_interval, 1, 1000000>(
        "flush_interval", "an integer from 1 to 1000000", "which epochs are copied to flush"),
    {"log_limit", "0 (none) or a size from 256K to 1024G, in bytes or with K, M or G",
     "how much memory the MPI log takes", set_log_limit},
};

Status unknown_key(std::string_view key, const char *origin) {
    std::string known;
    for (const StorageKey &each : keys) {
        known += known.empty() ? "" : ", ";
        known += each.key;
    }
    return fail(CD_ERROR_STORAGE_KEY, "%s: unknown key \"%.*s\"; the keys are %s", origin,
                quoted(key), key.data(), known.c_str());
}

using Given = std::bitset<std::size(keys)>;

size_t index_of(std::string_view name) {
    return static_cast<size_t>(std::ranges::find(keys, name, &StorageKey::key) - std::begin(keys));
}

// Parses one key=value.
Status parse_element(std::string_view element, const char *origin, Given &given,
                     StorageInfo &into) {
    const size_t equals = element.find('=');
    if (equals == std::string_view::npos || equals == 0) {
        return fail(CD_ERROR_STORAGE_SYNTAX,
                    "%s: \"%.*s\" is not key=value; write key=value,key=value without blanks",
                    origin, quoted(element), element.data());
    }
    const std::string_view name = element.substr(0, equals);
    const std::string_view value = element.substr(equals + 1);
    const size_t index = index_of(name);
    if (index == std::size(keys)) {
        return unknown_key(name, origin);
    }
    const StorageKey *key = &keys[index];
    if (given[index]) {
        return fail(CD_ERROR_STORAGE_SYNTAX, "%s: %s is given twice; give it once", origin,
                    key->key);
    }
    given[index] = true;
    if (!key->set(value, into)) {
        return fail(CD_ERROR_STORAGE_VALUE, "%s: %s=%.*s is not allowed; %s, %s, is %s", origin,
                    key->key, quoted(value), value.data(), key->key, key->explanation,
                    key->allowed);
    }
    return Status::ok();
}

// Resets earlier settings of redundancy that the keys given now replace.
void drop_replaced(const Given &given, StorageInfo &info) {
    const auto has = [&](const char *key) { return given[index_of(key)]; };
    if (has("redundancy") && !has("config")) {
        info.config.clear();
    }
    if (has("config") && !has("redundancy")) {
        info.redundancy = {};
    }
    if (has("config") && !has("set_size")) {
        info.set_size.reset();
    }
}

Status unsupported(const char *origin, const char *what, const char *instead) {
    return fail(CD_ERROR_STORAGE_UNSUPPORTED, "%s: this build does not support %s; %s", origin,
                what, instead);
}

} // namespace

std::span<const StorageKey> storage_keys() { return keys; }

Status parse_storage_info(std::string_view text, const char *origin, StorageInfo &into) {
    if (text.empty()) {
        return Status::ok();
    }
    StorageInfo parsed = into;
    Given given;
    for (size_t begin = 0; begin <= text.size();) {
        const size_t end = std::min(text.find(',', begin), text.size());
        if (Status status = parse_element(text.substr(begin, end - begin), origin, given, parsed);
            !status) {
            return status;
        }
        begin = end + 1;
    }
    drop_replaced(given, parsed);
    into = std::move(parsed);
    return Status::ok();
}

namespace {

// Returns the value of the key in a text that may be malformed.
std::optional<std::string_view> find_value(std::string_view text, std::string_view key) noexcept {
    while (!text.empty()) {
        const std::string_view element = text.substr(0, text.find(','));
        text.remove_prefix(std::min(text.size(), element.size() + 1));
        const size_t equals = element.find('=');
        if (equals != std::string_view::npos && element.substr(0, equals) == key) {
            return element.substr(equals + 1);
        }
    }
    return std::nullopt;
}

} // namespace

bool asks_for_protection(std::string_view defaults, std::string_view given) noexcept {
    const auto value_of = [&](std::string_view key) {
        const auto value = find_value(given, key);
        return value ? value : find_value(defaults, key);
    };
    const bool replaced = find_value(given, "redundancy").has_value();
    const bool has_levels = find_value(given, "config").has_value() ||
                            (!replaced && find_value(defaults, "config").has_value());
    // Without store= the user may have forgotten or misspelt it.
    return value_of("store") != "memory" &&
           (has_levels || value_of("redundancy").value_or("none") != "none");
}

namespace {

// Only the file shows which of the two is weaker.
Status check_levels(const StorageInfo &info, const char *origin) {
    const bool has_scheme = info.redundancy.scheme != Scheme::none;
    if (info.config.empty() || (!has_scheme && !info.set_size)) {
        return Status::ok();
    }
    return fail(CD_ERROR_STORAGE_UNSUPPORTED,
                "%s: config=%.200s and %s= contradict each other: a line of the file that "
                "begins with CKPT has its own %s; give one of them",
                origin, info.config.c_str(), has_scheme ? "redundancy" : "set_size",
                has_scheme ? "TYPE" : "SET_SIZE");
}

} // namespace

Status check_supported(const StorageInfo &info, const char *origin) {
    if (Status status = check_levels(info, origin); !status) {
        return status;
    }
    if (info.store == Store::file && info.shadow == Shadow::none) {
        return unsupported(
            origin, "store=file with shadow=none, because a file is never overwritten in place",
            "use shadow=full");
    }
    if (info.is_protected() && info.store != Store::file) {
        return unsupported(origin,
                           "redundancy= or config= with store=memory, because only files are "
                           "protected",
                           "use store=file");
    }
    if (!info.flush.empty() && !info.is_protected()) {
        return unsupported(origin, "flush= without redundancy= or config=",
                           "use store=file,redundancy=single to have no other copies than those in "
                           "flush");
    }
    if (info.flush.empty() && info.flush_interval) {
        return fail(CD_ERROR_STORAGE_UNSUPPORTED,
                    "%s: flush_interval=%d without flush=, so that nothing would be copied; give "
                    "flush=DIR too, or neither",
                    origin, *info.flush_interval);
    }
    if (info.track != Track::explicit_calls) {
        return unsupported(origin, "track=pages", "use track=explicit");
    }
    return Status::ok();
}

namespace {

Status check_same_protection(const StorageInfo &info, const StorageInfo &root, const char *cd) {
    const auto protection = [](const StorageInfo &of) {
        return std::tuple(of.redundancy, of.ranks_in_set(), of.group, of.config, of.redundancy_mode,
                          of.flush, of.epochs_per_copy());
    };
    if (protection(info) == protection(root)) {
        return Status::ok();
    }
    return fail(CD_ERROR_STORAGE_UNSUPPORTED,
                "storage_info: CD %s has the protection of its root, so redundancy, set_size, "
                "group, config, redundancy_mode, flush and flush_interval can only be given for "
                "the root",
                cd);
}

} // namespace

Status check_same_store(const StorageInfo &info, const StorageInfo &root, const char *cd) {
    if (info.store == root.store && info.dir == root.dir && info.sync == root.sync &&
        info.keep == root.keep && info.log_limit == root.log_limit &&
        (root.store == Store::memory || info.checksummed() == root.checksummed())) {
        return check_same_protection(info, root, cd);
    }
    return fail(CD_ERROR_STORAGE_UNSUPPORTED,
                "storage_info: CD %s has the store of its root, so store, dir, sync, keep and "
                "log_limit, and checksum in a file, can only be given for the root",
                cd);
}

} // namespace cd
