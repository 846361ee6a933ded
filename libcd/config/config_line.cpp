// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "config/config_line.h"

#include "base/quoted.h"
#include "os/system.h"

#include <algorithm>
#include <charconv>
#include <cstdarg>
#include <cstdio>

namespace cd {
namespace {

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

bool has_control_character(std::string_view text) {
    return std::ranges::any_of(
        text, [](char c) { return static_cast<unsigned char>(c) < 32 || c == 127; });
}

Status check_characters(const ConfigLine &line, const ConfigWord &word, const std::string &text) {
    return has_control_character(text) ? line.refuse("%.100s=%.100s: a control character is in it",
                                                     word.key.c_str(), word.value.c_str())
                                       : Status::ok();
}

// The next word of a text that begins with it.
Status cut_word(std::string_view &text, const ConfigLine &line, ConfigWord &word) {
    const std::string_view key = cut_token(text);
    if (has_control_character(key)) {
        return line.refuse("a control character is in a word, as a byte with the value 0");
    }
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
    return check_characters(line, word, word.value);
}

// What is written in a value, part by part.
class Expansion {
public:
    Expansion(const ConfigLine &line, const ConfigWord &word,
              std::map<std::string, std::string> &variables)
        : line_(line), word_(word), variables_(variables), text_(word.value) {}

    Status run(std::string &expanded) {
        while (!text_.empty()) {
            expanded += cut(text_, text_.find_first_of("$\\"));
            Status status = text_.starts_with('$')    ? variable(expanded)
                            : text_.starts_with('\\') ? escaped(expanded)
                                                      : Status::ok();
            if (!status) {
                return status;
            }
        }
        if (expanded.empty()) {
            return line_.refuse("%.100s=%.100s has no value, since %.100s is empty",
                                word_.key.c_str(), word_.value.c_str(), last_.c_str());
        }
        return check_characters(line_, word_, expanded);
    }

private:
    Status escaped(std::string &expanded) {
        cut(text_, 1);
        if (!text_.starts_with('\\') && !text_.starts_with('$')) {
            return line_.refuse("%.100s=%.100s: behind \\ comes \\ or $", word_.key.c_str(),
                                word_.value.c_str());
        }
        expanded += cut(text_, 1);
        return Status::ok();
    }

    Status variable(std::string &expanded) {
        cut(text_, 1);
        const bool in_braces = text_.starts_with('{');
        cut(text_, in_braces ? 1 : 0);
        const std::string allowed =
            std::string(name_letters) + std::string(in_braces ? name_digits : "");
        last_ = cut(text_, text_.find_first_not_of(allowed));
        if (last_.empty() || name_digits.find(last_.front()) != name_digits.npos ||
            (in_braces && !text_.starts_with('}'))) {
            return line_.refuse("%.100s=%.100s: behind $ comes NAME or {NAME}; write \\$ for $",
                                word_.key.c_str(), word_.value.c_str());
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

} // namespace

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

Status split(std::string_view text, ConfigLine &line) {
    for (skip_blanks(text); !text.empty() && !text.starts_with('#'); skip_blanks(text)) {
        if (Status status = cut_word(text, line, line.words.emplace_back()); !status) {
            return status;
        }
    }
    return Status::ok();
}

Status expand(ConfigLine &line, std::map<std::string, std::string> &variables) {
    for (ConfigWord &word : line.words) {
        std::string expanded;
        if (Status status = Expansion(line, word, variables).run(expanded); !status) {
            return status;
        }
        word.value = std::move(expanded);
    }
    return Status::ok();
}

Status take_number(const ConfigLine &line, const ConfigWord &word, uint64_t least, uint64_t most,
                   uint64_t &number) {
    const std::string &text = word.value;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number < least ||
        number > most) {
        return line.refuse("%s=%.100s is not a number from %llu to %llu", word.key.c_str(),
                           text.c_str(), static_cast<unsigned long long>(least),
                           static_cast<unsigned long long>(most));
    }
    return Status::ok();
}

} // namespace cd
