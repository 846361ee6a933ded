// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "config/fault_spec.h"

#include "base/text.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <climits>
#include <iterator>

namespace cd {
namespace {

constexpr std::string_view anything = "*";

bool read_number_or_anything(std::string_view text, std::optional<int> &into) {
    if (text == anything) {
        into.reset();
        return true;
    }
    into = parse_number(text, 0, INT_MAX);
    return into.has_value();
}

bool set_cd(std::string_view value, Injection &into) {
    std::array<std::string_view, 4> parts; // of an identity, as cd_name returns it
    if (std::ranges::count(value, '/') != 3) {
        return false;
    }
    for (std::string_view &part : parts) {
        const size_t slash = std::min(value.find('/'), value.size());
        part = value.substr(0, slash);
        value.remove_prefix(std::min(slash + 1, value.size()));
    }
    if (parts[1].empty()) {
        return false;
    }
    if (parts[1] != anything) {
        into.root_name = parts[1];
    }
    return read_number_or_anything(parts[0], into.rank) &&
           read_number_or_anything(parts[2], into.depth) &&
           read_number_or_anything(parts[3], into.sibling);
}

bool set_at(std::string_view value, Injection &into) {
    const auto at = parse_number(value, 1, INT_MAX);
    into.at = at.value_or(into.at);
    return at.has_value();
}

bool set_times(std::string_view value, Injection &into) {
    const auto times = value == "all" ? std::optional(INT_MAX) : parse_number(value, 1, INT_MAX);
    into.times = times.value_or(into.times);
    return times.has_value();
}

struct InjectionKey {
    std::string_view name;
    const char *allowed;
    bool (*set)(std::string_view value, Injection &into);
};

constexpr InjectionKey injection_keys[] = {
    {"cd",
     "RANK/NAME/DEPTH/SIBLING as cd_name returns it, with * for any, as 2/root/1/0 or */root/1/*",
     set_cd},
    {"at", "an integer from 1, the occurrence that fails first", set_at},
    {"times", "an integer from 1, or all: how many occurrences in a row fail", set_times},
};

using GivenKeys = std::bitset<std::size(injection_keys)>;

// Parses one key=value.
Status parse_element(std::string_view element, const char *origin, GivenKeys &given,
                     Injection &into) {
    const size_t equals = std::min(element.find('='), element.size());
    const InjectionKey *key =
        std::ranges::find(injection_keys, element.substr(0, equals), &InjectionKey::name);
    if (equals == element.size() || key == std::end(injection_keys)) {
        return fail(CD_ERROR_ARGUMENT,
                    "%s: \"%.*s\" is none of cd=, at= and times=; write cd=RANK/NAME/DEPTH/SIBLING,"
                    "at=N,times=N without blanks, and a semicolon before the next injection",
                    origin, quoted(element), element.data());
    }
    const auto index = static_cast<size_t>(key - std::begin(injection_keys));
    if (given[index]) {
        return fail(CD_ERROR_ARGUMENT, "%s: %s is given twice; give it once", origin,
                    key->name.data());
    }
    given[index] = true;
    const std::string_view value = element.substr(equals + 1);
    if (!key->set(value, into)) {
        return fail(CD_ERROR_ARGUMENT, "%s: %s=%.*s is not allowed; %s is %s", origin,
                    key->name.data(), quoted(value), value.data(), key->name.data(), key->allowed);
    }
    return Status::ok();
}

Status parse_injection(std::string_view text, const char *origin, Injection &into) {
    GivenKeys given;
    for (size_t begin = 0; begin <= text.size();) {
        const size_t end = std::min(text.find(',', begin), text.size());
        if (Status status = parse_element(text.substr(begin, end - begin), origin, given, into);
            !status) {
            return status;
        }
        begin = end + 1;
    }
    if (!given[0]) {
        return fail(CD_ERROR_ARGUMENT,
                    "%s: \"%.*s\" does not say which CD fails; give cd=, which "
                    "is %s",
                    origin, quoted(text), text.data(), injection_keys[0].allowed);
    }
    return Status::ok();
}

} // namespace

Status parse_injections(std::string_view text, const char *origin, std::vector<Injection> &into) {
    if (text.empty()) {
        return Status::ok();
    }
    std::vector<Injection> parsed;
    for (size_t begin = 0; begin <= text.size();) {
        const size_t end = std::min(text.find(';', begin), text.size());
        Injection injection;
        if (Status status = parse_injection(text.substr(begin, end - begin), origin, injection);
            !status) {
            return status;
        }
        parsed.push_back(injection);
        begin = end + 1;
    }
    into.insert(into.end(), parsed.begin(), parsed.end());
    return Status::ok();
}

} // namespace cd
