// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "runtime/identity.h"

#include "base/text.h"
#include "os/system.h"

#include <atomic>
#include <climits>
#include <cstdio>
#include <cstring>
#include <optional>

namespace cd {
namespace {

constexpr size_t longest_name = 200; // leaves room for what file names add
constexpr const char *rank_variables[] = {"PMIX_RANK", "PMI_RANK", "OMPI_COMM_WORLD_RANK",
                                          "SLURM_PROCID"};
constexpr int unknown = -1;

std::atomic<int> rank_of_mpi = unknown;
std::atomic<bool> has_warned = false;

// Warns once: with the wrong rank a program may find another one's stores, or none.
void warn_of_no_rank(const char *variable, const char *text, int rank) {
    if (has_warned.exchange(true)) {
        return;
    }
    char line[200];
    std::snprintf(line, sizeof line,
                  "%s is \"%.40s\", which is no rank (an integer from 0); rank %d is used: set "
                  "or unset it",
                  variable, text, rank);
    os::system().warn(line);
}

} // namespace

int current_rank() {
    if (const int rank = rank_of_mpi.load(); rank != unknown) {
        return rank;
    }
    const char *variable_of_none = nullptr;
    const char *none = nullptr;
    std::optional<int> rank;
    for (const char *variable : rank_variables) {
        const char *text = os::system().environment(variable);
        if (text == nullptr || *text == '\0') {
            continue;
        }
        rank = parse_number(text, 0, INT_MAX);
        if (rank) {
            break;
        }
        if (none == nullptr) {
            variable_of_none = variable;
            none = text;
        }
    }
    if (none != nullptr) {
        warn_of_no_rank(variable_of_none, none, rank.value_or(0));
    }
    return rank.value_or(0);
}

void set_rank(int rank) { rank_of_mpi = rank; }

Status check_root_name(const char *name) {
    if (name == nullptr || *name == '\0') {
        return fail(CD_ERROR_NAME_MISSING,
                    "a root CD needs a name that is unique in its rank; pass one to create_cd");
    }
    const size_t length = std::strlen(name);
    if (length > longest_name) {
        return fail(CD_ERROR_NAME_INVALID,
                    "the name \"%.40s...\" has %zu bytes; at most %zu are allowed", name, length,
                    longest_name);
    }
    if (*name == '.') {
        return fail(CD_ERROR_NAME_INVALID,
                    "the name \"%s\" starts with a dot; choose one that does not", name);
    }
    for (const char *at = name; *at != '\0'; ++at) {
        const auto character = static_cast<unsigned char>(*at);
        if (character == '/' || character < 0x20 || character == 0x7f) {
            return fail(CD_ERROR_NAME_INVALID,
                        "the name \"%s\" has a slash or control character (code %d) at position "
                        "%td; leave it out",
                        name, character, at - name);
        }
    }
    return Status::ok();
}

std::string make_identity(int rank, const std::string &root_name, int depth, int sibling) {
    return std::to_string(rank) + '/' + root_name + '/' + std::to_string(depth) + '/' +
           std::to_string(sibling);
}

} // namespace cd
