// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "config/levels.h"

#include "base/quoted.h"

#include <strings.h>

#include <algorithm>
#include <charconv>
#include <cstdarg>
#include <cstdio>
#include <optional>
#include <set>
#include <utility>

namespace cd {
namespace {

struct Word {
    std::string key;
    std::string value;
};

struct ConfigLine {
    const char *file;
    int number;
    std::vector<Word> words;
};

[[gnu::format(printf, 2, 3)]] Status refuse(const ConfigLine &line, const char *format, ...) {
    char reason[500];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    return fail(CD_ERROR_STORAGE_VALUE, "%s:%d: %s", line.file, line.number, reason);
}

constexpr std::string_view blanks = " \t\r";

Status split(std::string_view text, ConfigLine &line) {
    while (true) {
        const size_t begin = text.find_first_not_of(blanks);
        if (begin == std::string_view::npos || text[begin] == '#') {
            return Status::ok();
        }
        text.remove_prefix(begin);
        const std::string_view word = text.substr(0, text.find_first_of(blanks));
        text.remove_prefix(word.size());
        const size_t equals = word.find('=');
        if (equals == std::string_view::npos || equals == 0 || equals + 1 == word.size()) {
            return refuse(line, "\"%.*s\" is not KEY=VALUE", quoted(word), word.data());
        }
        line.words.push_back(
            {std::string(word.substr(0, equals)), std::string(word.substr(equals + 1))});
    }
}

Status take_number(const ConfigLine &line, const Word &word, uint64_t least, uint64_t most,
                   uint64_t &number) {
    const std::string &text = word.value;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number < least ||
        number > most) {
        return refuse(line, "%s=%.100s is not a number from %llu to %llu", word.key.c_str(),
                      text.c_str(), static_cast<unsigned long long>(least),
                      static_cast<unsigned long long>(most));
    }
    return Status::ok();
}

std::optional<Scheme> scheme_of(const std::string &name) {
    constexpr std::pair<const char *, Scheme> schemes[] = {{"SINGLE", Scheme::single},
                                                           {"PARTNER", Scheme::partner},
                                                           {"XOR", Scheme::xor_set},
                                                           {"RS", Scheme::reed_solomon}};
    const auto *const found = std::ranges::find_if(
        schemes, [&](const auto &each) { return strcasecmp(each.first, name.c_str()) == 0; });
    return found == std::end(schemes) ? std::nullopt : std::optional(found->second);
}

constexpr uint64_t largest_interval = 1'000'000'000;
constexpr uint64_t largest_count = 1'000'000'000;
constexpr uint64_t smallest_set = 2;
constexpr uint64_t largest_set = 65535;

template <typename Into>
Status take_number(const ConfigLine &line, const Word &word, uint64_t least, uint64_t most,
                   Into &into) {
    uint64_t number = 0;
    Status status = take_number(line, word, least, most, number);
    into = status ? static_cast<Into>(number) : into;
    return status;
}

// The same text for the same directory, as far as text tells: "/a/b" for "/a//b/./".
std::string directory_of(std::string_view text) {
    std::string directory = text.starts_with('/') ? "/" : "";
    while (!text.empty()) {
        const std::string_view name = text.substr(0, text.find('/'));
        text.remove_prefix(std::min(text.size(), name.size() + 1));
        if (!name.empty() && name != ".") {
            directory += directory.empty() || directory.ends_with('/') ? "" : "/";
            directory += name;
        }
    }
    return directory.empty() ? "." : directory;
}

// Calls take(word) for all words, of which none has the key of another.
template <typename Take>
Status each_word(const ConfigLine &line, std::set<std::string> &given, const Take &take) {
    for (const Word &word : line.words) {
        if (!given.insert(word.key).second) {
            return refuse(line, "%.100s is given twice", word.key.c_str());
        }
        if (Status status = take(word); !status) {
            return status;
        }
    }
    return Status::ok();
}

// SCR's settings that are defaults of descriptors.
struct Defaults {
    std::string group = "NODE";
    std::string store;
    int set_size = 8;
};

// A line that begins with CKPT.
class Descriptor {
public:
    explicit Descriptor(ConfigLine line) : line_(std::move(line)) {}

    Status read() {
        Status status = each_word(line_, given_, [this](const Word &word) { return take(word); });
        if (!given_.contains("INDEX")) {
            level.index = static_cast<int>(checkpoint);
        }
        return status ? finish() : status;
    }

    void complete(const Defaults &defaults) {
        level.group = given_.contains("GROUP") ? level.group : defaults.group;
        level.store = given_.contains("STORE") ? level.store : defaults.store;
        level.set_size = given_.contains("SET_SIZE") ? level.set_size : defaults.set_size;
    }

    const ConfigLine &line() const { return line_; }

    Level level;
    uint64_t checkpoint = 0;
    bool enabled = true;

private:
    Status take(const Word &word) {
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
        if (word.key == "CKSUM") {
            return numbered(1, 255, checksums_);
        }
        if (word.key == "REPLICAS") {
            return numbered(1, 255, replicas_);
        }
        if (word.key == "GROUP") {
            level.group = word.value;
            return Status::ok();
        }
        if (word.key == "STORE") {
            level.store = directory_of(word.value);
            return Status::ok();
        }
        if (word.key == "TYPE") {
            const auto scheme = scheme_of(word.value);
            if (!scheme) {
                return refuse(line_, "TYPE=%.100s is none of SINGLE, PARTNER, XOR and RS",
                              word.value.c_str());
            }
            level.redundancy.scheme = *scheme;
            return Status::ok();
        }
        return refuse(line_,
                      "%.100s is none of CKPT, ENABLED, INDEX, INTERVAL, GROUP, STORE, TYPE, "
                      "SET_SIZE, CKSUM and REPLICAS",
                      word.key.c_str());
    }

    Status finish() {
        const Scheme scheme = level.redundancy.scheme;
        if (given_.contains("CKSUM") && scheme != Scheme::reed_solomon) {
            return refuse(line_, "CKSUM goes with TYPE=RS only");
        }
        if (given_.contains("REPLICAS") && scheme != Scheme::partner) {
            return refuse(line_, "REPLICAS goes with TYPE=PARTNER only");
        }
        level.redundancy.parameter = scheme == Scheme::reed_solomon ? checksums_
                                     : scheme == Scheme::partner    ? replicas_
                                                                    : 0;
        return Status::ok();
    }

    ConfigLine line_;
    std::set<std::string> given_;
    int checksums_ = 2;
    int replicas_ = 1;
};

// A line that begins with STORES or STORE: what a directory is like.
class StoreLine {
public:
    explicit StoreLine(ConfigLine line)
        : line_(std::move(line)), directory_(directory_of(line_.words.front().value)) {}

    const std::string &directory() const { return directory_; }

    Status read() {
        std::set<std::string> given;
        return each_word(line_, given, [this](const Word &word) { return take(word); });
    }

    // Which ranks see a directory is found out, so that of the group only the name is looked at.
    Status check_group(const Levels &levels) const {
        const auto has_it = [this](const auto &host) { return host.second.contains(group_); };
        return group_ == "NODE" || group_ == "WORLD" || std::ranges::any_of(levels.groups, has_it)
                   ? Status::ok()
                   : refuse(line_,
                            "GROUP=%.100s is none of NODE, WORLD and the names in lines that begin "
                            "with GROUPS",
                            group_.c_str());
    }

    // What descriptors are in it.
    Status check_users(const std::vector<const Descriptor *> &users) const {
        if (users.empty()) {
            return Status::ok();
        }
        const char *name = directory().c_str();
        const ConfigLine &first = users.front()->line();
        if (!enabled_) {
            return refuse(first, "STORE=%.200s has ENABLED=0 in line %d", name, line_.number);
        }
        if (!makes_directories_) {
            return refuse(first,
                          "STORE=%.200s has MKDIR=0 in line %d, and each point in time has a "
                          "directory of its own",
                          name, line_.number);
        }
        if (users.size() > count_) {
            return refuse(line_,
                          "COUNT=%llu, but %zu descriptors have STORE=%.200s, each of which keeps "
                          "a point in time",
                          static_cast<unsigned long long>(count_), users.size(), name);
        }
        return Status::ok();
    }

private:
    Status take(const Word &word) {
        if (&word == &line_.words.front()) {
            return Status::ok();
        }
        if (word.key == "GROUP") {
            group_ = word.value;
            return Status::ok();
        }
        if (word.key == "COUNT") {
            return take_number(line_, word, 0, largest_count, count_);
        }
        if (word.key == "ENABLED") {
            return take_number(line_, word, 0, 1, enabled_);
        }
        if (word.key == "MKDIR") {
            return take_number(line_, word, 0, 1, makes_directories_);
        }
        return refuse(line_, "%.100s is none of GROUP, COUNT, ENABLED and MKDIR, which stores have",
                      word.key.c_str());
    }

    ConfigLine line_;
    std::string directory_;
    std::string group_ = "NODE";
    uint64_t count_ = largest_count;
    bool enabled_ = true;
    bool makes_directories_ = true;
};

class LevelsReading {
public:
    explicit LevelsReading(const char *file) : file_(file) {}

    Status line(std::string_view text, int number) {
        ConfigLine line{file_, number, {}};
        if (Status status = split(text, line); !status || line.words.empty()) {
            return status;
        }
        const std::string &first = line.words.front().key;
        if (first == "CKPT") {
            return descriptor(line);
        }
        if (first == "GROUPS") {
            return groups(line);
        }
        if (first == "STORES" || first == "STORE") {
            return store(line);
        }
        if (first.starts_with("SCR_")) {
            return setting(line);
        }
        return refuse(line,
                      "a line begins with CKPT=, STORES=, GROUPS= or SCR_..., and not with %.100s",
                      first.c_str());
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
        }
        if (Status status = check_stores(); !status) {
            return status;
        }
        for (Descriptor &descriptor : descriptors_) {
            result_.levels.push_back(std::move(descriptor.level));
        }
        levels = std::move(result_);
        return Status::ok();
    }

private:
    Status descriptor(const ConfigLine &line) {
        Descriptor descriptor(line);
        if (Status status = descriptor.read(); !status) {
            return status;
        }
        if (!checkpoints_.insert(descriptor.checkpoint).second ||
            !indexes_.insert(descriptor.level.index).second) {
            return refuse(line, "another line has CKPT=%llu or INDEX=%d already",
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
            return refuse(line, "another descriptor has INTERVAL=%llu already",
                          static_cast<unsigned long long>(interval));
        }
        descriptors_.push_back(std::move(descriptor));
        return Status::ok();
    }

    Status store(const ConfigLine &line) {
        StoreLine store(line);
        if (Status status = store.read(); !status) {
            return status;
        }
        if (std::ranges::find(stores_, store.directory(), &StoreLine::directory) != stores_.end()) {
            return refuse(line, "another line has the store %.200s already",
                          store.directory().c_str());
        }
        stores_.push_back(std::move(store));
        return Status::ok();
    }

    Status check_stores() const {
        for (const StoreLine &store : stores_) {
            std::vector<const Descriptor *> users;
            for (const Descriptor &descriptor : descriptors_) {
                if (descriptor.level.store == store.directory()) {
                    users.push_back(&descriptor);
                }
            }
            Status status = store.check_group(result_);
            status = status ? store.check_users(users) : status;
            if (!status) {
                return status;
            }
        }
        return Status::ok();
    }

    // Others than these are the matter of SCR.
    static bool is_known(const Word &word) {
        return word.key == "SCR_GROUP" || word.key == "SCR_CACHE_BASE" ||
               word.key == "SCR_SET_SIZE" || word.key == "SCR_COPY_TYPE";
    }

    Status setting(const ConfigLine &line) {
        const auto known = std::ranges::find_if(line.words, is_known);
        if (known == line.words.end()) {
            return Status::ok();
        }
        const Word &word = *known;
        if (line.words.size() > 1) {
            const Word &other = line.words[known == line.words.begin() ? 1 : 0];
            return refuse(line, "%s is alone in its line, and not with %.100s", word.key.c_str(),
                          other.key.c_str());
        }
        if (word.key == "SCR_GROUP") {
            defaults_.group = word.value;
        } else if (word.key == "SCR_CACHE_BASE") {
            defaults_.store = directory_of(word.value);
        } else if (word.key == "SCR_SET_SIZE") {
            return take_number(line, word, smallest_set, largest_set, defaults_.set_size);
        } else if (word.key == "SCR_COPY_TYPE" && strcasecmp(word.value.c_str(), "FILE") != 0) {
            return refuse(line,
                          "with SCR_COPY_TYPE=%.100s lines that begin with CKPT would not count; "
                          "write FILE",
                          word.value.c_str());
        }
        return Status::ok();
    }

    Status groups(const ConfigLine &line) {
        auto &of_host = result_.groups[line.words.front().value];
        for (size_t i = 1; i < line.words.size(); ++i) {
            if (line.words[i].key == "NODE" || line.words[i].key == "WORLD") {
                return refuse(line, "%s is a group that needs no such line",
                              line.words[i].key.c_str());
            }
            if (!of_host.emplace(line.words[i].key, line.words[i].value).second) {
                return refuse(line, "host %.100s has two values of %.100s",
                              line.words.front().value.c_str(), line.words[i].key.c_str());
            }
        }
        return Status::ok();
    }

    const char *file_;
    Levels result_;
    Defaults defaults_;
    std::vector<Descriptor> descriptors_; // those that are enabled
    std::vector<StoreLine> stores_;
    std::set<uint64_t> checkpoints_;
    std::set<int> indexes_;
};

} // namespace

Status parse_levels(std::string_view text, const char *file, Levels &levels) {
    LevelsReading reading(file);
    for (int number = 1; !text.empty(); ++number) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        if (Status status = reading.line(line, number); !status) {
            return status;
        }
    }
    return reading.finish(levels);
}

} // namespace cd
