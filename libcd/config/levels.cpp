// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "config/levels.h"

#include "config/level_lines.h"

#include <strings.h>

#include <algorithm>
#include <utility>

namespace cd {
namespace {

// The lines of a file, from the first to the last.
class LevelsReading {
public:
    explicit LevelsReading(const char *file) : file_(file) {}

    Status line(std::string_view text, int number) {
        ConfigLine line{file_, number, {}};
        if (Status status = split(text, line); !status || line.words.empty()) {
            return status;
        }
        const std::string first = line.words.front().key;
        if (first.starts_with("SCR_")) {
            return setting(line);
        }
        if (Status status = expand(line, result_.variables); !status) {
            return status;
        }
        if (first == "CKPT") {
            return descriptor(line);
        }
        if (first == "GROUPS") {
            return groups(line);
        }
        if (first == "STORES" || first == "STORE") {
            return store(line);
        }
        return line.refuse(
            "a line begins with CKPT=, STORES=, GROUPS= or SCR_..., and not with %.100s",
            first.c_str());
    }

    Status finish(Levels &levels) {
        const auto always = [](const LevelLine &each) { return each.level.interval == 1; };
        if (std::ranges::none_of(descriptors_, always)) {
            return fail(CD_ERROR_STORAGE_VALUE,
                        "%s: no descriptor that is enabled has INTERVAL=1, so that some epochs "
                        "would have none",
                        file_);
        }
        for (LevelLine &descriptor : descriptors_) {
            if (Status status = descriptor.complete(defaults_); !status) {
                return status;
            }
        }
        if (Status status = check_stores(); !status) {
            return status;
        }
        for (LevelLine &descriptor : descriptors_) {
            result_.levels.push_back(std::move(descriptor.level));
        }
        levels = std::move(result_);
        return Status::ok();
    }

private:
    Status descriptor(const ConfigLine &line) {
        LevelLine descriptor(line);
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
        const auto has_it = [interval](const LevelLine &each) {
            return each.level.interval == interval;
        };
        if (std::ranges::any_of(descriptors_, has_it)) {
            return line.refuse("another descriptor has INTERVAL=%llu already",
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
            return line.refuse("another line has the store %.200s already",
                               store.directory().c_str());
        }
        stores_.push_back(std::move(store));
        return Status::ok();
    }

    Status check_stores() const {
        for (const StoreLine &store : stores_) {
            std::vector<const LevelLine *> users;
            for (const LevelLine &descriptor : descriptors_) {
                if (descriptor.level.store == store.directory()) {
                    users.push_back(&descriptor);
                }
            }
            Status status = store.check_group(result_);
            status = status ? store.check_users(users, defaults_) : status;
            if (!status) {
                return status;
            }
        }
        return Status::ok();
    }

    // Others than these are the matter of SCR.
    static bool is_known(const ConfigWord &word) {
        constexpr const char *known[] = {"SCR_GROUP",        "SCR_CACHE_BASE",  "SCR_SET_SIZE",
                                         "SCR_SET_FAILURES", "SCR_COPY_TYPE",   "SCR_CACHE_BYPASS",
                                         "SCR_CACHE_SIZE",   "SCR_HOP_DISTANCE"};
        return std::ranges::find(known, word.key) != std::end(known);
    }

    Status setting(ConfigLine &line) {
        const auto known = std::ranges::find_if(line.words, is_known);
        if (known == line.words.end()) {
            find_copies(line);
            return Status::ok();
        }
        if (line.words.size() > 1) {
            const ConfigWord &other = line.words[known == line.words.begin() ? 1 : 0];
            return line.refuse("%s is alone in its line, and not with %.100s", known->key.c_str(),
                               other.key.c_str());
        }
        Status status = expand(line, result_.variables);
        return status ? take_setting(line, line.words.front()) : status;
    }

    // SCR would make copies in a parallel file system.
    void find_copies(const ConfigLine &line) {
        const auto &[key, value] = line.words.front();
        if (result_.asks_for_copies.empty() &&
            (key == "SCR_PREFIX" || (key == "SCR_FLUSH" && value != "0"))) {
            result_.asks_for_copies =
                std::string(file_) + ":" + std::to_string(line.number) + ": " + key + "=" + value;
        }
    }

    Status take_setting(const ConfigLine &line, const ConfigWord &word) {
        if (word.key == "SCR_GROUP") {
            defaults_.group = upper_case(word.value);
        } else if (word.key == "SCR_CACHE_BASE") {
            defaults_.store = directory_of(word.value);
        } else if (word.key == "SCR_SET_SIZE") {
            return take_number(line, word, smallest_set, largest_set, defaults_.set_size);
        } else if (word.key == "SCR_SET_FAILURES") {
            return take_number(line, word, 1, most_checksums, defaults_.checksums);
        } else if (word.key == "SCR_CACHE_BYPASS") {
            return take_number(line, word, 0, 1, defaults_.bypass);
        } else if (word.key == "SCR_CACHE_SIZE") {
            return take_number(line, word, 0, largest_count, defaults_.count);
        } else if (word.key == "SCR_HOP_DISTANCE" && word.value != "1") {
            return line.refuse("SCR_HOP_DISTANCE=%.100s, but sets are of neighbours; write 1, and "
                               "give what fails together as GROUP",
                               word.value.c_str());
        } else if (word.key == "SCR_COPY_TYPE" && strcasecmp(word.value.c_str(), "FILE") != 0) {
            return line.refuse("with SCR_COPY_TYPE=%.100s lines that begin with CKPT would not "
                               "count; write FILE",
                               word.value.c_str());
        }
        return Status::ok();
    }

    Status groups(const ConfigLine &line) {
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
    LevelDefaults defaults_;
    std::vector<LevelLine> descriptors_; // those that are enabled
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
