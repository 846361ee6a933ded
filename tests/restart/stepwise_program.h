// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "restarting.h"

#include <algorithm>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

namespace restarting {

// A program, step by step. A letter is a range of memory, a small one its first half; they lie side
// by side.
//   =A1  memory is 1        ?A1  memory has to be 1
//   +AB  one add call       +[AB one range that is both      *AB  the root adds
//   ~A   add, READ_ONLY     /..  the step is refused, with the remedy
//   -A   delete                                              _A   the root deletes
//   c x  create a child, and go on in it; commit it
//   ^ !  advance the CD, or the root
//   R r  restore the CD, or the root, and go on there
//   u    nothing waits
class Program {
public:
    Program(cd_handle root, size_t where) : bytes_(8 * length + where), where_(where) {
        cds_.push_back(root);
    }

    // "" or what went wrong.
    std::string run(const std::string &steps) {
        std::istringstream words(steps);
        std::string problem;
        for (std::string word; problem.empty() && words >> word;) {
            if (!does(word)) {
                problem = word + ": " + (is_call(word) ? cd_last_error_message() : "not so");
            }
        }
        return problem;
    }

    static constexpr size_t length = 1000; // of a range that is not small

    // Anything that no call has come to yet.
    bool waits() const {
        return std::ranges::any_of(cds_, [](cd_handle each) {
            cd_info info = {};
            return cd_query(each, &info) != CD_SUCCESS || info.unbound != 0;
        });
    }

    static bool is_refused() {
        return cd_last_error() == CD_ERROR_RESTART_MISMATCH ||
               cd_last_error() == CD_ERROR_RESTART_UNBOUND ||
               cd_last_error() == CD_ERROR_HAS_CHILDREN;
    }

private:
    static bool is_call(const std::string &word) {
        return std::string("?u").find(word[0]) == std::string::npos;
    }

    bool does(const std::string &word) {
        cd_handle cd = cds_.back();
        switch (word[0]) {
        case '=':
            std::memset(at(word[1]), word[2], length_of(word[1]));
            return true;
        case '?':
            return std::all_of(at(word[1]), at(word[1]) + length_of(word[1]),
                               [&](char byte) { return byte == word[2]; });
        case '/':
            return !does(word.substr(1)) && is_refused() && names_both_sides();
        case '+':
            return add(cd, word.substr(1));
        case '~':
            return add(cd, word.substr(1), CD_READ_ONLY);
        case '*':
            return add(cds_.front(), word.substr(1));
        case '-':
            return remove(cd, word[1]);
        case '_':
            return remove(cds_.front(), word[1]);
        case 'c':
            cds_.push_back(create_cd(cd, nullptr, CD_COMM_LOGGING_INHERIT, nullptr, nullptr));
            return cds_.back() != nullptr;
        case 'x':
            if (commit_cd(cd) != CD_SUCCESS) {
                return false;
            }
            cds_.pop_back();
            return true;
        case '^':
            return advance_cd_point_in_time(cd) == CD_SUCCESS;
        case '!':
            return advance_cd_point_in_time(cds_.front()) == CD_SUCCESS;
        case 'R':
            return restore_cd(cd) == CD_SUCCESS;
        case 'r':
            cds_.resize(1);
            return restore_cd(cds_.front()) == CD_SUCCESS;
        default:
            return !waits();
        }
    }

    static bool names_both_sides() {
        const std::string message = cd_last_error_message();
        return message.find("0-root.cds") != std::string::npos &&
               (message.find("cd_name_region") != std::string::npos ||
                message.find("CD_RESTART=no") != std::string::npos);
    }

    bool add(cd_handle cd, const std::string &letters, addr_type access = CD_READ_WRITE) {
        std::vector<cd_addrspec> list;
        if (letters[0] == '[') {
            list.push_back({at(letters[1]), (letters.size() - 1) * length, access, CD_GLOBAL});
        } else {
            for (const char letter : letters) {
                list.push_back({at(letter), length_of(letter), access, CD_GLOBAL});
            }
        }
        return add_to_cd_via_copy(cd, list.data(), static_cast<int>(list.size()), nullptr) ==
               CD_SUCCESS;
    }

    bool remove(cd_handle cd, char letter) {
        const cd_addrspec range = {at(letter), length_of(letter), CD_READ_WRITE, CD_GLOBAL};
        return delete_from_cd(cd, &range, 1) == CD_SUCCESS;
    }

    static bool is_small(char letter) { return letter >= 'a'; }
    static size_t length_of(char letter) { return is_small(letter) ? length / 2 : length; }
    char *at(char letter) {
        return &bytes_[where_ +
                       static_cast<size_t>(letter - (is_small(letter) ? 'a' : 'A')) * length];
    }

    std::vector<char> bytes_;
    size_t where_; // not the same in any two processes
    std::vector<cd_handle> cds_;
};

} // namespace restarting
