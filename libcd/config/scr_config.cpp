// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "config/scr_config.h"

#include "base/text.h"
#include "os/system.h"

#include <strings.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

namespace cd {
namespace {

// ---- Words of a line

struct ConfigWord {
    std::string key; // in upper case
    std::string value;
};

// A line of a file as SCR reads it: KEY=VALUE KEY=VALUE, keys in any case, blanks around =, and a
// comment after #. A value has neither blanks nor =.
struct ConfigLine {
    const char *file;
    int number;
    std::vector<ConfigWord> words;

    // CD_ERROR_STORAGE_VALUE with file and number.
    [[gnu::format(printf, 2, 3)]] Status refuse(const char *format, ...) const;
};

Status ConfigLine::refuse(const char *format, ...) const {
    char reason[600];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    return fail(CD_ERROR_STORAGE_VALUE, "%s:%d: %s", file, number, reason);
}

std::string upper_case(std::string_view text) {
    std::string upper(text);
    std::ranges::transform(upper, upper.begin(), [](char c) {
        return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    });
    return upper;
}

constexpr std::string_view config_blanks = " \t\r";
constexpr char name_letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
constexpr char name_digits[] = "0123456789";

// Takes the first length characters off.
std::string_view cut(std::string_view &text, size_t length) {
    const std::string_view front = text.substr(0, length);
    text.remove_prefix(front.size());
    return front;
}

void skip_blanks(std::string_view &text) { cut(text, text.find_first_not_of(config_blanks)); }

std::string_view cut_token(std::string_view &text) {
    return cut(text, std::min(text.find_first_of(config_blanks), text.find('=')));
}

// Cuts the first KEY=VALUE off a text.
Status cut_word(std::string_view &text, const ConfigLine &line, ConfigWord &word) {
    const std::string_view key = cut_token(text);
    skip_blanks(text);
    if (key.empty() || !text.starts_with('=')) {
        const std::string_view shown =
            key.empty() ? text.substr(0, text.find_first_of(config_blanks)) : key;
        return line.refuse("\"%.*s\" is not KEY=VALUE", quoted(shown), shown.data());
    }
    cut(text, 1);
    skip_blanks(text);
    const std::string_view value = text.starts_with('#') ? "" : cut_token(text);
    if (value.empty()) {
        return line.refuse("\"%.*s=\" has no value", quoted(key), key.data());
    }
    word = {upper_case(key), std::string(value)};
    return Status::ok();
}

Status split(std::string_view text, ConfigLine &line) {
    for (skip_blanks(text); !text.empty() && !text.starts_with('#'); skip_blanks(text)) {
        if (Status status = cut_word(text, line, line.words.emplace_back()); !status) {
            return status;
        }
    }
    return Status::ok();
}

// Replaces $NAME and ${NAME} in a value by what the environment has. Without braces a name has
// letters and _ and no digits, as for SCR.
Status expand(const ConfigLine &line, ConfigWord &word,
              std::map<std::string, std::string> &variables) {
    std::string_view text = word.value;
    const auto refuse = [&](const char *why, const std::string &name, const char *more = "") {
        return line.refuse("%.100s=%.100s%s%.100s%s", word.key.c_str(), word.value.c_str(), why,
                           name.c_str(), more);
    };
    if (text.find('\\') != text.npos) {
        return refuse(": a \\ is not supported; use a name without it", "");
    }
    std::string name;
    std::string expanded(cut(text, text.find('$')));
    while (!text.empty()) {
        const bool in_braces = text.starts_with("${");
        cut(text, in_braces ? 2 : 1);
        const std::string allowed = std::string(name_letters) + (in_braces ? name_digits : "");
        name = cut(text, text.find_first_not_of(allowed));
        if (name.empty() || std::string_view(name_digits).find(name.front()) != text.npos ||
            (in_braces && !text.starts_with('}'))) {
            return refuse(": behind $ comes NAME or {NAME}", "");
        }
        cut(text, in_braces ? 1 : 0);
        const char *value = os::system().environment(name.c_str());
        if (value == nullptr) {
            return refuse(": the environment variable ", name,
                          " is not set; set it for all ranks, or write what it stands for (a name "
                          "with digits is written ${NAME1})");
        }
        variables[name] = value;
        expanded += value;
        expanded += cut(text, text.find('$'));
    }
    if (expanded.empty()) {
        return refuse(" has no value, since it is empty: ", name);
    }
    word.value = std::move(expanded);
    return Status::ok();
}

Status take_number(const ConfigLine &line, const ConfigWord &word, uint64_t least, uint64_t most,
                   uint64_t &number) {
    const auto parsed = parse_number(word.value, least, most);
    number = parsed.value_or(0);
    return parsed ? Status::ok()
                  : line.refuse("%s=%.100s is not a number from %llu to %llu", word.key.c_str(),
                                word.value.c_str(), static_cast<unsigned long long>(least),
                                static_cast<unsigned long long>(most));
}

// ---- Descriptors

std::optional<Scheme> scheme_of(const std::string &name) {
    constexpr std::pair<const char *, Scheme> schemes[] = {{"SINGLE", Scheme::single},
                                                           {"PARTNER", Scheme::partner},
                                                           {"XOR", Scheme::xor_set},
                                                           {"RS", Scheme::reed_solomon}};
    const auto *const found = std::ranges::find_if(
        schemes, [&](const auto &each) { return strcasecmp(each.first, name.c_str()) == 0; });
    return found == std::end(schemes) ? std::nullopt : std::optional(found->second);
}

// Refuses settings with a value for which SCR would protect other data, or in another way.
Status check_value(const ConfigLine &line, const ConfigWord &word) {
    constexpr std::pair<std::string_view, const char *> only[] = {{"BYPASS", "0"},
                                                                  {"SCR_CACHE_BYPASS", "0"},
                                                                  {"SCR_COPY_TYPE", "FILE"},
                                                                  {"SCR_HOP_DISTANCE", "1"}};
    for (const auto &[key, value] : only) {
        if (word.key == key && strcasecmp(word.value.c_str(), value) != 0) {
            return line.refuse("%s=%.100s is not supported; write %s, or leave it out",
                               word.key.c_str(), word.value.c_str(), value);
        }
    }
    return Status::ok();
}

// A line that begins with CKPT, or the defaults of such lines.
struct Descriptor {
    std::optional<std::string> group;
    std::optional<std::string> store;
    std::optional<int> set_size;
    std::optional<int> checksums;
    int replicas = 1;
    Scheme scheme = Scheme::xor_set;
    uint64_t interval = 1;
    uint64_t checkpoint = 0;
    std::optional<int> index;
    bool enabled = true;

    // Returns the level, with defaults for what the descriptor does not give.
    Level level(const Descriptor &defaults) const {
        const int parameter = scheme == Scheme::reed_solomon
                                  ? checksums.value_or(defaults.checksums.value_or(2))
                              : scheme == Scheme::partner ? replicas
                                                          : 0;
        return {index.value_or(static_cast<int>(checkpoint)),
                interval,
                group.value_or(defaults.group.value_or("NODE")),
                store.value_or(defaults.store.value_or("")),
                {scheme, parameter},
                set_size.value_or(defaults.set_size.value_or(8))};
    }
};

Status take_type(const ConfigLine &line, const ConfigWord &word, Scheme &scheme) {
    const auto found = scheme_of(word.value);
    scheme = found.value_or(scheme);
    return found ? Status::ok()
                 : line.refuse("TYPE=%.100s is none of SINGLE, PARTNER, XOR and RS",
                               word.value.c_str());
}

// Takes a word of a descriptor, or a setting that is the default of one.
Status take(const ConfigLine &line, const ConfigWord &word, std::string_view key,
            Descriptor &into) {
    struct Number {
        std::string_view name;
        uint64_t least;
        uint64_t most;
        void (*set)(Descriptor &, uint64_t);
    };
    constexpr Number numbers[] = {
        {"CKPT", 0, 9999, [](Descriptor &of, uint64_t value) { of.checkpoint = value; }},
        {"ENABLED", 0, 1, [](Descriptor &of, uint64_t value) { of.enabled = value == 1; }},
        {"INDEX", 0, 9999,
         [](Descriptor &of, uint64_t value) { of.index = static_cast<int>(value); }},
        {"INTERVAL", 1, 1'000'000'000, [](Descriptor &of, uint64_t value) { of.interval = value; }},
        {"SET_SIZE", 2, 65535,
         [](Descriptor &of, uint64_t value) { of.set_size = static_cast<int>(value); }},
        {"SET_FAILURES", 1, 255,
         [](Descriptor &of, uint64_t value) { of.checksums = static_cast<int>(value); }},
        {"CKSUM", 1, 255,
         [](Descriptor &of, uint64_t value) { of.checksums = static_cast<int>(value); }},
        {"REPLICAS", 1, 255,
         [](Descriptor &of, uint64_t value) { of.replicas = static_cast<int>(value); }}};
    const auto *const number = std::ranges::find(numbers, key, &Number::name);
    if (number != std::end(numbers)) {
        uint64_t value = 0;
        Status status = take_number(line, word, number->least, number->most, value);
        if (status) {
            number->set(into, value);
        }
        return status;
    }
    if (key == "GROUP") {
        into.group = upper_case(word.value);
    } else if (key == "STORE") {
        into.store = word.value;
    } else if (key == "TYPE") {
        return take_type(line, word, into.scheme);
    } else if (key != "OUTPUT" && key != "BYPASS") {
        return line.refuse("%.100s is none of CKPT, ENABLED, INDEX, INTERVAL, GROUP, STORE, TYPE, "
                           "SET_SIZE, CKSUM, SET_FAILURES, REPLICAS, BYPASS and OUTPUT",
                           word.key.c_str());
    }
    return check_value(line, word);
}

// Refuses keys that do not go with the others of a descriptor.
Status check_keys(const ConfigLine &line, const std::set<std::string> &given, Scheme scheme) {
    for (const char *key : {"CKSUM", "SET_FAILURES"}) {
        if (given.contains(key) && scheme != Scheme::reed_solomon) {
            return line.refuse("%s goes with TYPE=RS only", key);
        }
    }
    if (given.contains("CKSUM") && given.contains("SET_FAILURES")) {
        return line.refuse("CKSUM and SET_FAILURES are two names of one; give one");
    }
    return given.contains("REPLICAS") && scheme != Scheme::partner
               ? line.refuse("REPLICAS goes with TYPE=PARTNER only")
               : Status::ok();
}

// ---- Files

class FileReader {
public:
    explicit FileReader(const char *file) : file_(file) {}

    Status read_line(std::string_view text, int number) {
        ConfigLine line{file_, number, {}};
        if (Status status = split(text, line); !status || line.words.empty()) {
            return status;
        }
        const std::string first = line.words.front().key;
        if (first == "STORES" || first == "STORE") {
            return Status::ok();
        }
        if (first.starts_with("SCR_")) {
            return read_settings(line);
        }
        if (first != "CKPT" && first != "GROUPS") {
            return line.refuse(
                "a line begins with CKPT=, STORES=, GROUPS= or SCR_..., and not with %.100s",
                first.c_str());
        }
        for (ConfigWord &word : line.words) {
            if (Status status = expand(line, word, result_.variables); !status) {
                return status;
            }
        }
        return first == "CKPT" ? read_descriptor(line) : read_groups(line);
    }

    Status finish(Levels &levels) {
        for (const Descriptor &descriptor : descriptors_) {
            result_.levels.push_back(descriptor.level(defaults_));
        }
        if (std::ranges::find(result_.levels, 1U, &Level::interval) == result_.levels.end()) {
            return fail(CD_ERROR_STORAGE_VALUE,
                        "%s: no enabled descriptor has INTERVAL=1, so some epochs would have none; "
                        "add one",
                        file_);
        }
        levels = std::move(result_);
        return Status::ok();
    }

private:
    Status read_descriptor(const ConfigLine &line) {
        Descriptor descriptor;
        std::set<std::string> given;
        for (const ConfigWord &word : line.words) {
            if (!given.insert(word.key).second) {
                return line.refuse("%.100s is given twice", word.key.c_str());
            }
            if (Status status = take(line, word, word.key, descriptor); !status) {
                return status;
            }
        }
        if (Status status = check_keys(line, given, descriptor.scheme); !status) {
            return status;
        }
        const int index = descriptor.level({}).index;
        if (!checkpoints_.insert(descriptor.checkpoint).second || !indexes_.insert(index).second) {
            return line.refuse("another line has CKPT=%llu or INDEX=%d already",
                               static_cast<unsigned long long>(descriptor.checkpoint), index);
        }
        if (!descriptor.enabled) {
            return Status::ok();
        }
        const uint64_t interval = descriptor.interval;
        if (std::ranges::find(descriptors_, interval, &Descriptor::interval) !=
            descriptors_.end()) {
            return line.refuse("another descriptor has INTERVAL=%llu already",
                               static_cast<unsigned long long>(interval));
        }
        descriptors_.push_back(std::move(descriptor));
        return Status::ok();
    }

    Status read_settings(ConfigLine &line) {
        constexpr std::pair<std::string_view, std::string_view> keys[] = {
            {"SCR_GROUP", "GROUP"},
            {"SCR_CACHE_BASE", "STORE"},
            {"SCR_SET_SIZE", "SET_SIZE"},
            {"SCR_SET_FAILURES", "SET_FAILURES"}};
        for (ConfigWord &word : line.words) {
            const auto *const known = std::ranges::find(
                keys, word.key, &std::pair<std::string_view, std::string_view>::first);
            const bool is_default = known != std::end(keys);
            Status status =
                is_default ? expand(line, word, result_.variables) : check_value(line, word);
            status = status && is_default ? take(line, word, known->second, defaults_) : status;
            if (!status) {
                return status;
            }
        }
        return Status::ok();
    }

    Status read_groups(const ConfigLine &line) {
        auto &of_host = result_.groups[line.words.front().value];
        for (size_t i = 1; i < line.words.size(); ++i) {
            const auto &[key, value] = line.words[i];
            if (key == "NODE" || key == "WORLD") {
                return line.refuse("%s is a group that needs no such line", key.c_str());
            }
            if (!of_host.emplace(key, value).second) {
                return line.refuse("host %.100s has two values of %.100s",
                                   line.words.front().value.c_str(), key.c_str());
            }
        }
        return Status::ok();
    }

    const char *file_;
    Levels result_;
    Descriptor defaults_;
    std::vector<Descriptor> descriptors_; // those that are enabled
    std::set<uint64_t> checkpoints_;
    std::set<int> indexes_;
};

} // namespace

Status parse_levels(std::string_view text, const char *file, Levels &levels) {
    FileReader reader(file);
    for (int number = 1; !text.empty(); ++number) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        if (Status status = reader.read_line(line, number); !status) {
            return status;
        }
    }
    return reader.finish(levels);
}

} // namespace cd
