// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "config/storage_info.h"

#include <algorithm>
#include <bitset>
#include <charconv>
#include <cstddef>
#include <optional>
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

std::optional<int> parse_integer(std::string_view text, unsigned smallest, unsigned largest) {
    unsigned value = 0; // unsigned: from_chars then takes no sign
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < smallest ||
        value > largest) {
        return std::nullopt;
    }
    return static_cast<int>(value);
}

// Paths and names end up in messages and in files of lines.
bool set_text(std::string_view value, std::string &into) {
    const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 32 || c == 127; };
    if (value.empty() || std::any_of(value.begin(), value.end(), is_control)) {
        return false;
    }
    into = value;
    return true;
}

bool set_store(std::string_view value, StorageInfo &into) {
    static constexpr Choice<Store> choices[] = {{"memory", Store::memory}, {"file", Store::file}};
    return choose(value, choices, into.store);
}

bool set_redundancy(std::string_view value, StorageInfo &into) {
    static constexpr Choice<Redundancy> choices[] = {
        {"none", {Scheme::none, 0}},       {"single", {Scheme::single, 0}},
        {"partner", {Scheme::partner, 1}}, {"xor", {Scheme::xor_set, 0}},
        {"rs", {Scheme::reed_solomon, 2}},
    };
    const size_t colon = value.find(':');
    Redundancy redundancy;
    if (!choose(value.substr(0, colon), choices, redundancy)) {
        return false;
    }
    if (colon != std::string_view::npos) {
        const auto parameter = parse_integer(value.substr(colon + 1), 1, 255);
        if (!parameter || redundancy.parameter == 0) {
            return false;
        }
        redundancy.parameter = *parameter;
    }
    into.redundancy = redundancy;
    return true;
}

bool set_set_size(std::string_view value, StorageInfo &into) {
    const auto size = parse_integer(value, 2, 65535);
    into.set_size = size.value_or(into.set_size);
    return size.has_value();
}

bool set_sync(std::string_view value, StorageInfo &into) {
    static constexpr Choice<Sync> choices[] = {{"full", Sync::full}, {"none", Sync::none}};
    return choose(value, choices, into.sync);
}

bool set_checksum(std::string_view value, StorageInfo &into) {
    static constexpr Choice<Checksum> choices[] = {{"crc32c", Checksum::crc32c},
                                                   {"none", Checksum::none}};
    return choose(value, choices, into.checksum);
}

bool set_track(std::string_view value, StorageInfo &into) {
    static constexpr Choice<Track> choices[] = {{"explicit", Track::explicit_calls},
                                                {"pages", Track::pages}};
    return choose(value, choices, into.track);
}

bool set_shadow(std::string_view value, StorageInfo &into) {
    static constexpr Choice<Shadow> choices[] = {{"full", Shadow::full}, {"none", Shadow::none}};
    return choose(value, choices, into.shadow);
}

bool set_keep(std::string_view value, StorageInfo &into) {
    const auto count = parse_integer(value, 1, 1000);
    into.keep = count.value_or(into.keep);
    return count.has_value();
}

bool set_dir(std::string_view value, StorageInfo &into) { return set_text(value, into.dir); }
bool set_group(std::string_view value, StorageInfo &into) { return set_text(value, into.group); }
bool set_config(std::string_view value, StorageInfo &into) { return set_text(value, into.config); }

constexpr char any_text[] = "any text without commas and control characters";

constexpr StorageKey keys[] = {
    {"store", "memory or file", "where the data are kept", set_store},
    {"dir", any_text, "the directory of store=file", set_dir},
    {"redundancy", "none, single, partner, partner:N, xor, rs or rs:K (N and K from 1 to 255)",
     "how the loss of a node is survived", set_redundancy},
    {"set_size", "an integer from 2 to 65535", "how many ranks protect each other", set_set_size},
    {"group", any_text, "the name of what fails together", set_group},
    {"sync", "full or none", "whether files are forced to the disk", set_sync},
    {"checksum", "crc32c or none", "what finds damage to stored data", set_checksum},
    {"track", "explicit or pages", "who finds out what was modified", set_track},
    {"config", any_text, "a file with descriptor lines", set_config},
    {"shadow", "full or none", "whether an advance writes to a second copy", set_shadow},
    {"keep", "an integer from 1 to 1000", "how many points in time store=file keeps", set_keep},
};

// What a message quotes of the text: not so much of it that the rest of the sentence is cut off.
int quoted(std::string_view text) { return static_cast<int>(std::min<size_t>(text.size(), 100)); }

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

// One "key=value".
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
    const StorageKey *key = std::ranges::find(keys, name, &StorageKey::key);
    if (key == std::end(keys)) {
        return unknown_key(name, origin);
    }
    const auto index = static_cast<size_t>(key - std::begin(keys));
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

Status unsupported(const char *what, const char *instead) {
    return fail(CD_ERROR_STORAGE_UNSUPPORTED, "storage_info: this build does not support %s; %s",
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
    into = std::move(parsed);
    return Status::ok();
}

Status check_supported(const StorageInfo &info) {
    if (info.store == Store::file && info.shadow == Shadow::none) {
        return unsupported(
            "store=file with shadow=none, because a file is never overwritten in place",
            "use shadow=full");
    }
    if (info.redundancy.scheme != Scheme::none) {
        return unsupported("redundancy across nodes", "use redundancy=none");
    }
    if (info.track != Track::explicit_calls) {
        return unsupported("track=pages", "use track=explicit");
    }
    if (!info.config.empty()) {
        return unsupported("config=FILE", "give the keys in storage_info itself");
    }
    return Status::ok();
}

} // namespace cd
