// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/status.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace cd {

struct ConfigWord {
    std::string key; // in upper case
    std::string value;
};

// A line of a file with settings as SCR reads it: KEY=VALUE KEY=VALUE, keys in any case, blanks
// around =, and a comment behind #. Neither blanks nor = can be written in a value.
struct ConfigLine {
    const char *file;
    int number;
    std::vector<ConfigWord> words;

    // CD_ERROR_STORAGE_VALUE with file and number.
    [[gnu::format(printf, 2, 3)]] Status refuse(const char *format, ...) const;
};

// The words of a line, with values as they are written. May throw std::bad_alloc.
Status split(std::string_view text, ConfigLine &line);

// Puts what the environment has in the place of $NAME and ${NAME} in values, and adds it to
// variables. Without braces a name has letters and _ and no digits, as for SCR; \$ and \\ are $
// and \. May throw std::bad_alloc.
Status expand(ConfigLine &line, std::map<std::string, std::string> &variables);

// A copy in upper case, of the letters that have one in ASCII.
std::string upper_case(std::string_view text);

Status take_number(const ConfigLine &line, const ConfigWord &word, uint64_t least, uint64_t most,
                   uint64_t &number);

template <typename Into>
Status take_number(const ConfigLine &line, const ConfigWord &word, uint64_t least, uint64_t most,
                   Into &into) {
    uint64_t number = 0;
    Status status = take_number(line, word, least, most, number);
    into = status ? static_cast<Into>(number) : into;
    return status;
}

// Calls take(word) for all words, of which none has the key of another.
template <typename Take>
Status each_word(const ConfigLine &line, std::set<std::string> &given, const Take &take) {
    for (const ConfigWord &word : line.words) {
        if (!given.insert(word.key).second) {
            return line.refuse("%.100s is given twice", word.key.c_str());
        }
        if (Status status = take(word); !status) {
            return status;
        }
    }
    return Status::ok();
}

} // namespace cd
