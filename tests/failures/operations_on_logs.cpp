// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "operations.h"

#include "cd/mpi_log.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

namespace faults {
namespace {

cd_handle child_of(cd_handle parent) {
    return create_cd(parent, nullptr, CD_COMM_LOGGING_INHERIT, nullptr, nullptr);
}

int is_there(cd_handle cd) { return cd != nullptr ? CD_SUCCESS : CD_FAILURE; }

// As the seed has it.
void log(cd_handle cd, const char *text) {
    const size_t length = std::strlen(text) + 1;
    void *entry = std::malloc(length);
    std::memcpy(entry, text, length);
    need(add_MPI_log_to_cd(cd, entry, static_cast<int>(length)));
}

// As the logger does.
void append(cd_handle cd, const char *text) {
    const cd_log_part part = {text, std::strlen(text) + 1};
    need(cd_log_append(cd, &part, 1));
}

// Three children of the root with logs beside each other; the second has two of its own, and both
// have one that another thread made.
void with_siblings(World &world) {
    append(world.root, "root");
    for (size_t i = 0; i < 3; ++i) {
        world.siblings[i] = child_of(world.root);
    }
    log(world.siblings[0], "first");
    append(world.siblings[1], "second");
    log(world.siblings[2], "third");
    world.child = child_of(world.siblings[1]);
    append(world.child, "first below");
    world.child = child_of(world.siblings[1]);
    log(world.child, "second below");
    std::thread([&world] {
        for (const cd_handle parent : {world.root, world.siblings[1]}) {
            const cd_handle elsewhere = child_of(parent);
            append(elsewhere, "elsewhere");
            need(commit_cd(elsewhere));
        }
    }).join();
    log(world.siblings[1], "second again");
}

void read_all(cd_handle cd, std::string &text) {
    int error = CD_ERROR_NONE;
    while (const void *entry = get_MPI_log_from_cd(cd, &error)) {
        text += std::string(static_cast<const char *>(entry)) + ", ";
    }
    text += cd_strerror(error);
    text += '\n';
}

// A re-execution of the root that creates the same CDs.
std::string replayed(World &world) {
    std::string text;
    if (restore_cd(world.root) != CD_SUCCESS) {
        return cd_strerror(cd_last_error());
    }
    read_all(world.root, text);
    for (int i = 0; i < 3; ++i) {
        const cd_handle sibling = child_of(world.root);
        read_all(sibling, text);
        for (int below = 0; i == 1 && below < 2; ++below) {
            read_all(child_of(sibling), text);
        }
    }
    return text;
}

void commit_all_children(World &) {
    while (commit_cd(CD_CURRENT_CD) == CD_SUCCESS) {
        cd_info info;
        need(cd_query(CD_CURRENT_CD, &info));
        if (info.depth == 0) {
            return;
        }
    }
}

} // namespace

std::vector<Case> operations_on_logs() {
    const auto nothing = [](World &) {};
    const auto restored = [](World &world) {
        with_siblings(world);
        need(restore_cd(world.root));
    };
    const auto second_restored = [](World &world) {
        with_siblings(world);
        need(restore_cd(world.siblings[1]));
        world.child = child_of(world.siblings[1]);
        need(commit_cd(world.child));
        EXPECT_NE(get_MPI_log_from_cd(world.siblings[1], nullptr), nullptr);
    };
    const auto committed = [](World &world) {
        with_siblings(world);
        commit_all_children(world);
    };
    const auto restore_second = [](World &world) { return restore_cd(world.siblings[1]); };
    std::vector<Case> all = {
        {"logs_create_below", nullptr, with_siblings,
         [](World &world) { return is_there(child_of(world.siblings[0])); }},
        {"logs_create_sibling", nullptr, with_siblings,
         [](World &world) { return is_there(child_of(world.siblings[1])); }},
        {"logs_create_in_replay", nullptr, restored,
         [](World &world) { return is_there(child_of(world.root)); }},
        {"logs_create_sibling_in_replay", nullptr,
         [=](World &world) {
             restored(world);
             need(is_there(child_of(world.root)));
         },
         [](World &world) { return is_there(child_of(world.root)); }},
        {"logs_commit_below", nullptr, with_siblings,
         [](World &world) { return commit_cd(world.child); }},
        {"logs_commit_sibling", nullptr, with_siblings,
         [](World &world) { return commit_cd(world.siblings[2]); }},
        {"logs_commit_in_replay", nullptr, second_restored,
         [](World &world) { return commit_cd(world.siblings[1]); }},
        {"logs_advance_below", nullptr, with_siblings,
         [](World &world) { return advance_cd_point_in_time(world.child); }},
        {"logs_advance_in_replay", nullptr, second_restored,
         [](World &world) { return advance_cd_point_in_time(world.siblings[1]); }},
        {"logs_advance_root", nullptr, committed,
         [](World &world) { return advance_cd_point_in_time(world.root); }},
        {"logs_restore_root", nullptr, with_siblings,
         [](World &world) { return restore_cd(world.root); }},
        {"logs_restore_sibling", nullptr, with_siblings, restore_second},
        {"logs_restore_in_replay", nullptr,
         [=](World &world) {
             restored(world);
             need(is_there(child_of(world.root)));
             world.siblings[1] = child_of(world.root);
             EXPECT_NE(get_MPI_log_from_cd(world.siblings[1], nullptr), nullptr);
         },
         restore_second},
        {"logs_delete_of_sibling", nullptr, with_siblings,
         [](World &world) { return delete_MPI_log_from_cd(world.siblings[1]); }},
        {"logs_delete_in_replay", nullptr, second_restored,
         [](World &world) { return delete_MPI_log_from_cd(world.siblings[1]); }},
        {"logs_adopt_in_sibling", nullptr,
         [](World &world) {
             with_siblings(world);
             need(is_there(child_of(world.siblings[2])));
             world.child = child_of(world.siblings[2]); // whose log has nothing yet
         },
         [](World &world) {
             void *entry = std::calloc(1, 10);
             const int result = add_MPI_log_to_cd(world.child, entry, 10);
             if (result != CD_SUCCESS) {
                 std::free(entry);
             }
             return result;
         }},
    };
    for (Case &one : all) {
        one.replayed = replayed;
    }
    // The logger's, which leaves the last error alone.
    const Case in_place[] = {
        {"logs_open", nullptr, nothing,
         [](World &) {
             const bool open = cd_log_open(World::large).at != nullptr;
             cd_log_close(World::large);
             return open ? CD_SUCCESS : CD_FAILURE;
         }},
        {"logs_widen", nullptr, nothing,
         [](World &) {
             cd_log_room room = cd_log_open(3);
             const bool open = room.at != nullptr && cd_log_widen(&room, 3, 2 * World::large) != 0;
             cd_log_close(World::large);
             return open ? CD_SUCCESS : CD_FAILURE;
         }},
    };
    for (const Case &one : in_place) {
        all.push_back(one);
        all.back().error = CD_ERROR_NONE;
    }
    return all;
}

} // namespace faults
