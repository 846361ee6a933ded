// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "runtime/identity.h"

#include "os/system.h"

#include <atomic>
#include <charconv>
#include <cstring>

namespace cd {
namespace {

constexpr size_t longest_name = 200; // leaves room for what file names add
constexpr const char *rank_variables[] = {"PMIX_RANK", "PMI_RANK", "OMPI_COMM_WORLD_RANK",
                                          "SLURM_PROCID"};
constexpr int unknown = -1;

std::atomic<int> rank_of_mpi = unknown;

bool parse_rank(const char *text, int &rank) {
    const char *end = text + std::strlen(text);
    const auto [stopped, error] = std::from_chars(text, end, rank);
    return error == std::errc() && stopped == end && stopped != text && rank >= 0;
}

} // namespace

int current_rank() {
    if (const int rank = rank_of_mpi.load(); rank != unknown) {
        return rank;
    }
    for (const char *variable : rank_variables) {
        int rank = 0;
        const char *text = os::system().environment(variable);
        if (text != nullptr && parse_rank(text, rank)) {
            return rank;
        }
    }
    return 0;
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
