// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "config/scr_config.h"

#include "base/text.h"
#include "os/system.h"

#include <strings.h>

#include <algorithm>
#include <charconv>
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
constexpr std::string_view name_letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
constexpr std::string_view name_digits = "0123456789";

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

// The next word of a text that begins with it.
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
class Expansion {
public:
    Expansion(const ConfigLine &line, const ConfigWord &word,
              std::map<std::string, std::string> &variables)
        : line_(line), word_(word), variables_(variables), text_(word.value) {}

    Status run(std::string &expanded) {
        if (text_.find('\\') != text_.npos) {
            return line_.refuse("%.100s=%.100s: a \\ is not supported; use a name without it",
                                word_.key.c_str(), word_.value.c_str());
        }
        for (expanded = cut(text_, text_.find('$')); !text_.empty();
             expanded += cut(text_, text_.find('$'))) {
            if (Status status = variable(expanded); !status) {
                return status;
            }
        }
        if (expanded.empty()) {
            return line_.refuse("%.100s=%.100s has no value, since %.100s is empty",
                                word_.key.c_str(), word_.value.c_str(), last_.c_str());
        }
        return Status::ok();
    }

private:
    Status variable(std::string &expanded) {
        cut(text_, 1);
        const bool in_braces = text_.starts_with('{');
        cut(text_, in_braces ? 1 : 0);
        const std::string allowed =
            std::string(name_letters) + std::string(in_braces ? name_digits : "");
        last_ = cut(text_, text_.find_first_not_of(allowed));
        if (last_.empty() || name_digits.find(last_.front()) != name_digits.npos ||
            (in_braces && !text_.starts_with('}'))) {
            return line_.refuse("%.100s=%.100s: behind $ comes NAME or {NAME}", word_.key.c_str(),
                                word_.value.c_str());
        }
        cut(text_, in_braces ? 1 : 0);
        const char *value = os::system().environment(last_.c_str());
        if (value == nullptr) {
            const bool more =
                !in_braces && !text_.empty() && name_digits.find(text_.front()) != name_digits.npos;
            return line_.refuse("%.100s=%.100s: the environment variable %.100s is not set; set it "
                                "for all ranks, or write what it stands for%s",
                                word_.key.c_str(), word_.value.c_str(), last_.c_str(),
                                more ? " (a name with digits is written ${NAME1})" : "");
        }
        variables_[last_] = value;
        expanded += value;
        return Status::ok();
    }

    const ConfigLine &line_;
    const ConfigWord &word_;
    std::map<std::string, std::string> &variables_;
    std::string_view text_; // what is left of the value
    std::string last_;      // variable that was looked up
};

Status expand(const ConfigLine &line, ConfigWord &word,
              std::map<std::string, std::string> &variables) {
    std::string expanded;
    Status status = Expansion(line, word, variables).run(expanded);
    word.value = status ? std::move(expanded) : word.value;
    return status;
}

template <typename Into>
Status take_number(const ConfigLine &line, const ConfigWord &word, uint64_t least, uint64_t most,
                   Into &into) {
    const std::string &text = word.value;
    uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number < least ||
        number > most) {
        return line.refuse("%s=%.100s is not a number from %llu to %llu", word.key.c_str(),
                           text.c_str(), static_cast<unsigned long long>(least),
                           static_cast<unsigned long long>(most));
    }
    into = static_cast<Into>(number);
    return Status::ok();
}

// ---- Descriptors

constexpr uint64_t largest_interval = 1'000'000'000;
constexpr uint64_t smallest_set = 2;
constexpr uint64_t largest_set = 65535;
constexpr uint64_t most_checksums = 255;

// Values that descriptors have where they give none.
struct Defaults {
    std::string group = "NODE";
    std::string store;
    int set_size = 8;
    int checksums = 2;
};

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

// A line that begins with CKPT.
class Descriptor {
public:
    explicit Descriptor(ConfigLine line) : line_(std::move(line)) {}

    Status read() {
        for (const ConfigWord &word : line_.words) {
            if (!given_.insert(word.key).second) {
                return line_.refuse("%.100s is given twice", word.key.c_str());
            }
            if (Status status = take(word); !status) {
                return status;
            }
        }
        if (!given_.contains("INDEX")) {
            level.index = static_cast<int>(checkpoint);
        }
        return check_keys();
    }

    // Sets what the line does not give.
    void complete(const Defaults &defaults) {
        const Scheme scheme = level.redundancy.scheme;
        level.redundancy.parameter = scheme == Scheme::reed_solomon
                                         ? checksums_.value_or(defaults.checksums)
                                     : scheme == Scheme::partner ? replicas_
                                                                 : 0;
        level.group = given_.contains("GROUP") ? level.group : defaults.group;
        level.store = given_.contains("STORE") ? level.store : defaults.store;
        level.set_size = given_.contains("SET_SIZE") ? level.set_size : defaults.set_size;
    }

    Level level;
    uint64_t checkpoint = 0;
    bool enabled = true;

private:
    Status take(const ConfigWord &word) {
        const auto numbered = [&](uint64_t least, uint64_t most, auto &into) {
            return take_number(line_, word, least, most, into);
        };
        if (word.key == "CKPT") {
            return numbered(0, 9999, checkpoint);
        }
        if (word.key == "ENABLED") {
            return numbered(0, 1, enabled);
        }
        if (word.key == "INDEX") {
            return numbered(0, 9999, level.index);
        }
        if (word.key == "INTERVAL") {
            return numbered(1, largest_interval, level.interval);
        }
        if (word.key == "SET_SIZE") {
            return numbered(smallest_set, largest_set, level.set_size);
        }
        if (word.key == "CKSUM" || word.key == "SET_FAILURES") {
            return numbered(1, most_checksums, checksums_);
        }
        if (word.key == "REPLICAS") {
            return numbered(1, 255, replicas_);
        }
        if (word.key == "BYPASS" || word.key == "OUTPUT") {
            return check_value(line_, word);
        }
        if (word.key == "GROUP") {
            level.group = upper_case(word.value);
            return Status::ok();
        }
        if (word.key == "STORE") {
            level.store = word.value;
            return Status::ok();
        }
        if (word.key == "TYPE") {
            return take_type(word);
        }
        return line_.refuse("%.100s is none of CKPT, ENABLED, INDEX, INTERVAL, GROUP, STORE, TYPE, "
                            "SET_SIZE, CKSUM, SET_FAILURES, REPLICAS, BYPASS and OUTPUT",
                            word.key.c_str());
    }

    Status take_type(const ConfigWord &word) {
        const auto scheme = scheme_of(word.value);
        if (!scheme) {
            return line_.refuse("TYPE=%.100s is none of SINGLE, PARTNER, XOR and RS",
                                word.value.c_str());
        }
        level.redundancy.scheme = *scheme;
        return Status::ok();
    }

    Status check_keys() const {
        const Scheme scheme = level.redundancy.scheme;
        for (const char *key : {"CKSUM", "SET_FAILURES"}) {
            if (given_.contains(key) && scheme != Scheme::reed_solomon) {
                return line_.refuse("%s goes with TYPE=RS only", key);
            }
        }
        if (given_.contains("CKSUM") && given_.contains("SET_FAILURES")) {
            return line_.refuse("CKSUM and SET_FAILURES are two names of one; give one");
        }
        if (given_.contains("REPLICAS") && scheme != Scheme::partner) {
            return line_.refuse("REPLICAS goes with TYPE=PARTNER only");
        }
        return Status::ok();
    }

    ConfigLine line_;
    std::set<std::string> given_;
    std::optional<int> checksums_;
    int replicas_ = 1;
};

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
        const auto always = [](const Descriptor &each) { return each.level.interval == 1; };
        if (std::ranges::none_of(descriptors_, always)) {
            return fail(CD_ERROR_STORAGE_VALUE,
                        "%s: no descriptor that is enabled has INTERVAL=1, so that some epochs "
                        "would have none",
                        file_);
        }
        for (Descriptor &descriptor : descriptors_) {
            descriptor.complete(defaults_);
            result_.levels.push_back(std::move(descriptor.level));
        }
        levels = std::move(result_);
        return Status::ok();
    }

private:
    Status read_descriptor(const ConfigLine &line) {
        Descriptor descriptor(line);
        if (Status status = descriptor.read(); !status) {
            return status;
        }
        if (!checkpoints_.insert(descriptor.checkpoint).second ||
            !indexes_.insert(descriptor.level.index).second) {
            return line.refuse("another line has CKPT=%llu or INDEX=%d already",
                               static_cast<unsigned long long>(descriptor.checkpoint),
                               descriptor.level.index);
        }
        if (!descriptor.enabled) {
            return Status::ok();
        }
        const uint64_t interval = descriptor.level.interval;
        const auto has_it = [interval](const Descriptor &each) {
            return each.level.interval == interval;
        };
        if (std::ranges::any_of(descriptors_, has_it)) {
            return line.refuse("another descriptor has INTERVAL=%llu already",
                               static_cast<unsigned long long>(interval));
        }
        descriptors_.push_back(std::move(descriptor));
        return Status::ok();
    }

    Status read_settings(ConfigLine &line) {
        for (ConfigWord &word : line.words) {
            constexpr const char *known[] = {"SCR_GROUP", "SCR_CACHE_BASE", "SCR_SET_SIZE",
                                             "SCR_SET_FAILURES"};
            Status status = std::ranges::find(known, word.key) == std::end(known)
                                ? check_value(line, word)
                                : expand(line, word, result_.variables);
            status = status ? read_setting(line, word) : status;
            if (!status) {
                return status;
            }
        }
        return Status::ok();
    }

    Status read_setting(const ConfigLine &line, const ConfigWord &word) {
        if (word.key == "SCR_GROUP") {
            defaults_.group = upper_case(word.value);
        } else if (word.key == "SCR_CACHE_BASE") {
            defaults_.store = word.value;
        } else if (word.key == "SCR_SET_SIZE") {
            return take_number(line, word, smallest_set, largest_set, defaults_.set_size);
        } else if (word.key == "SCR_SET_FAILURES") {
            return take_number(line, word, 1, most_checksums, defaults_.checksums);
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
    Defaults defaults_;
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
