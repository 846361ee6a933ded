// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "replay/call_text.h"

#include "call/handle_word.h"
#include "mpi/real.h"
#include "mpi/reentry_guard.h"
#include "payload/ended_connections.h"
#include "replay/predefined_names.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <span>

namespace cd::logger {
namespace {

// What a word of an entry is; nothing for those that a family adds to those of the arguments.
struct Meaning {
    bool known = false;
    Role role = Role::value;
};

Meaning meaning_of(Fn fn, int word) {
    int before = 0;
    for (const Role role : roles_of(fn)) {
        if (is_compared(role) || role == Role::inout || role == Role::handle ||
            role == Role::freed_type) {
            if (before++ == word) {
                return {true, role};
            }
        }
    }
    return {};
}

bool moves_data(Fn fn) {
    return std::ranges::any_of(
        roles_of(fn), [](Role role) { return role == Role::send_buf || role == Role::recv_buf; });
}

std::string number(uint64_t word) {
    char text[32];
    const auto value = static_cast<int64_t>(word);
    std::snprintf(text, sizeof text, value > -65536 && value < 65536 ? "%ld" : "%#lx",
                  static_cast<long>(value));
    return text;
}

std::string named(const char *name, const char *otherwise, uint64_t word) {
    return name != nullptr ? name : otherwise + number(word);
}

std::string text_of(Fn fn, int index, uint64_t word) {
    const Meaning meaning = meaning_of(fn, index);
    if (!meaning.known) {
        return (moves_data(fn) ? "checksum " : "") + number(word);
    }
    switch (meaning.role) {
    case Role::send_type:
    case Role::recv_type:
    case Role::both_type:
    case Role::type:
    case Role::freed_type:
        return named(name_of_type(word), "type ", word);
    case Role::comm:
        return named(name_of_comm(word), "communicator ", word);
    case Role::value:
    case Role::operation:
        return named(name_of_operation(word), "", word);
    case Role::peer:
    case Role::target:
        return named(name_of_rank(word), "rank ", word);
    case Role::root:
        return named(name_of_rank(word), "root ", word);
    case Role::tag:
        return named(name_of_tag(word), "tag ", word);
    default:
        return number(word);
    }
}

std::string name_given_to(MPI_Comm comm) {
    if (EndedConnections::is_freed(comm)) {
        return "";
    }
    const ReentryGuard inside;
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length = 0;
    real<Fn::MPI_Comm_get_name>(comm, name, &length);
    return name;
}

} // namespace

std::string text_of(Fn fn, const uint64_t *words, int count) {
    std::string text = name_of(fn);
    text += '(';
    for (int i = 0; i < count; ++i) {
        text += (i > 0 ? ", " : "") + text_of(fn, i, words[i]);
    }
    return text + ')';
}

bool differ_in_data(Fn fn, const uint64_t *words, const uint64_t *others, int count) {
    if (!moves_data(fn)) {
        return false;
    }
    bool data = false;
    for (int i = 0; i < count; ++i) {
        if (words[i] != others[i]) {
            if (meaning_of(fn, i).known) {
                return false;
            }
            data = true;
        }
    }
    return data;
}

std::string names_of_comms(Fn fn, const uint64_t *words, int count) {
    std::string text;
    for (int i = 0; i < count; ++i) {
        const Meaning meaning = meaning_of(fn, i);
        if (!meaning.known || meaning.role != Role::comm || name_of_comm(words[i]) != nullptr) {
            continue;
        }
        MPI_Comm comm = MPI_COMM_NULL;
        std::memcpy(&comm, &words[i], sizeof comm);
        if (const std::string name = name_given_to(comm); !name.empty()) {
            text += "  communicator " + number(words[i]) + " is \"" + name + "\"\n";
        }
    }
    return text;
}

} // namespace cd::logger
