// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "config/failure_groups.h"

#include "base/text.h"

#include <algorithm>
#include <map>
#include <vector>

namespace cd {
namespace {

std::vector<std::string_view> words_of(std::string_view line) {
    constexpr std::string_view blanks = " \t\r";
    line = line.substr(0, line.find('#'));
    std::vector<std::string_view> words;
    for (size_t begin = 0; (begin = line.find_first_not_of(blanks, begin)) != line.npos;) {
        const size_t end = std::min(line.find_first_of(blanks, begin), line.size());
        words.push_back(line.substr(begin, end - begin));
        begin = end;
    }
    return words;
}

} // namespace

Status find_group(std::string_view text, const char *file, std::string_view host,
                  std::string &group) {
    std::map<std::string_view, std::string_view> groups;
    for (int number = 1; !text.empty(); ++number) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        const auto words = words_of(line);
        if (words.empty()) {
            continue;
        }
        if (words.size() != 2) {
            return fail(CD_ERROR_STORAGE_VALUE,
                        "%s:%d: \"%.*s\" is not HOST GROUP, two words with a blank between them",
                        file, number, quoted(line), line.data());
        }
        if (!groups.emplace(words[0], words[1]).second) {
            return fail(CD_ERROR_STORAGE_VALUE, "%s:%d: another line has the host %.*s already",
                        file, number, quoted(words[0]), words[0].data());
        }
    }
    const auto found = groups.find(host);
    if (found == groups.end()) {
        return fail(CD_ERROR_STORAGE_VALUE, "%s: no line \"%.*s GROUP\" for this node; add one",
                    file, quoted(host), host.data());
    }
    group = found->second;
    return Status::ok();
}

} // namespace cd
