// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "operations.h"

#include "cd/control.h"
#include "cd/mpi_log.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <utility>

namespace faults {

void need(int result) { ASSERT_EQ(result, CD_SUCCESS) << cd_last_error_message(); }

int add(cd_handle cd, const World::List &list, const char *storage_info) {
    return add_to_cd_via_copy(cd, list.ranges.data(), list.count, storage_info);
}

namespace {

int regenerate(cd_addrspec list[], int count) {
    for (int i = 0; i < count; ++i) {
        std::memset(list[i].address, 'r', list[i].length);
    }
    return 0;
}

void with_child(World &world) {
    World::scribble('1');
    need(add(world.root, World::halves(0, 40, CD_READ_ONLY)));
    world.child = create_cd(world.root, nullptr, CD_COMM_LOGGING_INHERIT, nullptr, nullptr);
    ASSERT_NE(world.child, nullptr);
    World::scribble('2');
    // Some meet the parent's entries in part, some are new, some stay behind.
    need(add_to_cd_via_copy(world.child, {World::range(4, 200, CD_READ_WRITE)}, 1));
    need(add(world.child, World::halves(30, 60, CD_READ_WRITE)));
    need(add_to_cd_via_copy(world.child, {World::range(60 * 16, 8, CD_READ_ONLY, CD_CONSTRAINED)},
                            1));
    need(add_to_cd_via_parent(world.child, World::range(20 * 16, 8, CD_READ_WRITE), 1));
    need(add_to_cd_via_regen(world.child, World::range(62 * 16, 8, CD_READ_ONLY), 1, regenerate));
    need(add_to_cd_via_copy(world.child, World::all_of_large(CD_READ_WRITE), 1));
    need(add_file_to_cd(world.child, world.file));
    World::scribble('3');
}

// The root holds what the grandchild changes; the CD in between does not.
void with_grandchild(World &world) {
    World::scribble('1');
    need(add(world.root, World::halves(0, 40, CD_READ_ONLY)));
    const cd_handle between =
        create_cd(world.root, nullptr, CD_COMM_LOGGING_INHERIT, nullptr, nullptr);
    world.child = create_cd(between, nullptr, CD_COMM_LOGGING_INHERIT, nullptr, nullptr);
    ASSERT_NE(world.child, nullptr);
    need(add_to_cd_via_copy(world.child, {World::range(4, 200, CD_READ_WRITE, CD_CONSTRAINED)}, 1));
    need(add(world.child, World::halves(30, 60, CD_READ_WRITE)));
    World::scribble('2');
}

// Sets an observer that the library has not seen before.
int observe_anew() {
    static std::array<char, 1000> contexts;
    static auto next = contexts.begin();
    return cd_observe([](const cd_event *, void *) {}, &*next++);
}

// An observer is never freed, so there is one for all runs.
void observe_once() {
    static const int set = cd_observe([](const cd_event *, void *) {}, nullptr);
    need(set);
}

} // namespace

std::vector<Case> operations_in_memory() {
    const auto nothing = [](World &) {};
    const auto holds_some = [](World &world) {
        World::scribble('1');
        need(add(world.root, World::halves(0, 30, CD_READ_ONLY)));
        World::scribble('2');
    };
    const auto holds_neighbours = [](World &world) {
        World::scribble('1');
        need(add(world.root, World::neighbours(0, 30, CD_READ_ONLY)));
        World::scribble('2');
    };
    const auto to_advance = [](World &world) {
        World::scribble('1');
        need(add(world.root, World::halves(0, 50, CD_READ_WRITE)));
        need(add_to_cd_via_copy(world.root, World::all_of_large(CD_READ_WRITE), 1));
        need(add_file_to_cd(world.root, world.file));
        World::scribble('2');
    };
    const auto make_child = [](World &world, const char *storage_info) {
        world.child =
            create_cd(world.root, storage_info, CD_COMM_LOGGING_INHERIT, nullptr, nullptr);
        return world.child != nullptr ? CD_SUCCESS : CD_FAILURE;
    };
    const auto from_parent = [=](World &world) {
        holds_some(world);
        need(make_child(world, nullptr));
        const auto list = World::halves(0, 30, CD_READ_ONLY);
        need(add_to_cd_via_parent(world.child, list.ranges.data(), list.count, nullptr));
    };
    const auto advance_root = [](World &world) { return advance_cd_point_in_time(world.root); };
    const auto advance_child = [](World &world) { return advance_cd_point_in_time(world.child); };
    return {
        {"create_root", nullptr, nothing,
         [](World &world) {
             world.child = create_cd(nullptr, "checksum=crc32c", CD_COMM_LOGGING_ENABLED,
                                     "a second root with a name that is long", nullptr);
             return world.child != nullptr ? CD_SUCCESS : CD_FAILURE;
         }},
        {"create_child", nullptr, nothing,
         [=](World &world) { return make_child(world, "shadow=none"); }},
        {"create_sibling", nullptr, [=](World &world) { need(make_child(world, nullptr)); },
         [=](World &world) { return make_child(world, nullptr); }},
        {"add_copy", nullptr, holds_some,
         [](World &world) { return add(world.root, World::halves(20, 60, CD_READ_WRITE)); }},
        {"add_copy_checksummed", nullptr, holds_some,
         [](World &world) {
             return add(world.root, World::halves(20, 60, CD_READ_WRITE), "checksum=crc32c");
         }},
        {"add_large", "checksum=crc32c", nothing,
         [](World &world) {
             return add_to_cd_via_copy(world.root, World::all_of_large(CD_READ_WRITE), 1);
         }},
        {"add_overlapping_list", nullptr, holds_some,
         [](World &world) {
             return add_to_cd_via_copy(world.root,
                                       {World::range(100, 300, CD_READ_WRITE),
                                        World::range(150, 20, CD_READ_ONLY),
                                        World::range(0, 1000, CD_READ_ONLY)},
                                       3);
         }},
        {"promote_part", nullptr, holds_some,
         [](World &world) {
             return add_to_cd_via_copy(world.root, {World::range(2, 3, CD_READ_WRITE)}, 1);
         }},
        {"add_neighbours", nullptr, holds_some,
         [](World &world) { return add(world.root, World::neighbours(28, 60, CD_READ_WRITE)); }},
        {"promote_part_of_neighbours", nullptr, holds_neighbours,
         [](World &world) {
             return add_to_cd_via_copy(world.root, {World::range(100, 50, CD_READ_WRITE)}, 1);
         }},
        {"delete_part_of_neighbours", nullptr, holds_neighbours,
         [](World &world) {
             return delete_from_cd(world.root, {World::range(100, 50, CD_READ_ONLY)}, 1);
         }},
        {"commit_neighbours", nullptr,
         [=](World &world) {
             need(add_to_cd_via_copy(world.root, {World::range(100, 50, CD_READ_ONLY)}, 1));
             need(make_child(world, nullptr));
             need(add(world.child, World::neighbours(0, 40, CD_READ_WRITE)));
         },
         [](World &world) { return commit_cd(world.child); }},
        {"add_parent", nullptr,
         [=](World &world) {
             holds_some(world);
             need(make_child(world, nullptr));
         },
         [](World &world) {
             const auto list = World::halves(0, 30, CD_READ_WRITE);
             return add_to_cd_via_parent(world.child, list.ranges.data(), list.count, nullptr);
         }},
        {"copy_to_parent", nullptr,
         [=](World &world) {
             holds_some(world);
             need(make_child(world, nullptr));
             need(add(world.child, World::halves(0, 30, CD_READ_ONLY)));
         },
         [](World &world) {
             const auto list = World::halves(10, 20, CD_READ_ONLY);
             return add_to_cd_via_parent(world.child, list.ranges.data(), list.count, nullptr);
         }},
        {"parent_to_copy", nullptr, from_parent,
         [](World &world) { return add(world.child, World::halves(10, 40, CD_READ_WRITE)); }},
        {"parent_to_regen", nullptr, from_parent,
         [](World &world) {
             return add_to_cd_via_regen(world.child, World::range(0, 100, CD_READ_ONLY), 1,
                                        regenerate);
         }},
        {"add_regen", nullptr, nothing,
         [](World &world) {
             return add_to_cd_via_regen(world.root, World::range(0, 1000, CD_READ_ONLY), 1,
                                        regenerate);
         }},
        {"delete_file", nullptr, [](World &world) { need(add_file_to_cd(world.root, world.file)); },
         [](World &world) { return delete_file_from_cd(world.root, world.file); }},
        {"copy_to_regen", nullptr, holds_some,
         [](World &world) {
             return add_to_cd_via_regen(world.root, World::range(0, 100, CD_READ_ONLY), 1,
                                        regenerate);
         }},
        {"regen_to_parent", nullptr,
         [=](World &world) {
             holds_some(world);
             need(make_child(world, nullptr));
             const auto list = World::halves(0, 30, CD_READ_ONLY);
             need(add_to_cd_via_regen(world.child, list.ranges.data(), list.count, nullptr,
                                      regenerate));
         },
         [](World &world) {
             const auto list = World::halves(10, 20, CD_READ_WRITE);
             return add_to_cd_via_parent(world.child, list.ranges.data(), list.count, nullptr);
         }},
        {"regen_to_copy", nullptr,
         [](World &world) {
             need(add_to_cd_via_regen(world.root, World::range(0, 1000, CD_READ_ONLY), 1,
                                      regenerate));
         },
         [](World &world) { return add(world.root, World::halves(0, 50, CD_READ_WRITE)); }},
        {"delete_parts", nullptr, holds_some,
         [](World &world) {
             return delete_from_cd(
                 world.root, {World::range(2, 2, CD_READ_ONLY), World::range(33, 4, CD_READ_ONLY)},
                 2);
         }},
        {"delete_shuffled", nullptr, holds_some,
         [](World &world) {
             auto list = World::halves(0, 30, CD_READ_ONLY);
             std::swap(list.ranges[0], list.ranges[29]);
             return delete_from_cd(world.root, list.ranges.data(), list.count);
         }},
        {"add_file", nullptr, nothing,
         [](World &world) { return add_file_to_cd(world.root, world.file); }},
        {"commit_child", nullptr, with_child, [](World &world) { return commit_cd(world.child); }},
        {"commit_root", nullptr, holds_some, [](World &world) { return commit_cd(world.root); }},
        {"commit_grandchild", nullptr, with_grandchild,
         [](World &world) { return commit_cd(world.child); }},
        {"advance_grandchild", nullptr, with_grandchild, advance_child},
        {"advance_root", nullptr, to_advance, advance_root},
        {"advance_root_checksummed", "checksum=crc32c", to_advance, advance_root},
        {"advance_root_in_place", "shadow=none", to_advance, advance_root},
        {"advance_root_in_place_checksummed", "shadow=none,checksum=crc32c", to_advance,
         advance_root},
        {"advance_child", nullptr, with_child, advance_child},
        {"advance_child_in_place", "shadow=none", with_child, advance_child},
        {"restore_family", nullptr, with_child,
         [](World &world) { return restore_cd(world.root); }},
        {"restore_many", nullptr,
         [](World &world) {
             World::scribble('1');
             for (size_t sibling = 0; sibling < 12; ++sibling) {
                 const cd_handle child =
                     create_cd(world.root, nullptr, CD_COMM_LOGGING_INHERIT, nullptr, nullptr);
                 need(add(child, World::halves(sibling, sibling + 9, CD_READ_WRITE)));
             }
             World::scribble('2');
         },
         [](World &world) { return restore_cd(world.root); }},
        {"restore_observed", nullptr,
         [](World &world) {
             with_child(world);
             observe_once();
         },
         [](World &world) { return restore_cd(world.root); }},
        {"advance_observed", nullptr,
         [](World &world) {
             with_child(world);
             observe_once();
         },
         advance_child},
        {"verify", nullptr,
         [](World &world) {
             with_child(world);
             World::scribble('2'); // what the child holds as READ_ONLY
             need(add(world.child, World::halves(30, 60, CD_READ_ONLY)));
         },
         [](World &world) {
             const int result = cd_verify(world.child, nullptr, nullptr);
             return result == CD_FAILURE && cd_last_error() == CD_ERROR_VERIFY_MISMATCH ? CD_SUCCESS
                                                                                        : result;
         }},
        {"verify_family", nullptr,
         [](World &world) {
             World::scribble('1');
             need(add(world.root, World::halves(30, 60, CD_READ_ONLY)));
             world.child =
                 create_cd(world.root, nullptr, CD_COMM_LOGGING_INHERIT, nullptr, nullptr);
             need(add(world.child, World::halves(30, 60, CD_READ_WRITE)));
             World::scribble('2'); // what the child may modify
         },
         [](World &world) { return cd_verify(world.root, nullptr, nullptr); }},
        {"log_append", nullptr, nothing,
         [](World &world) {
             const cd_log_part parts[] = {{"head", 4}, {World::large_memory.data(), 100'000}};
             return cd_log_append(world.root, parts, 2);
         }},
        {"log_adopt", nullptr, nothing,
         [](World &world) {
             void *entry = std::malloc(10);
             const int result = add_MPI_log_to_cd(world.root, entry, 10);
             if (result != CD_SUCCESS) {
                 std::free(entry);
             }
             return result;
         }},
        {"log_delete", nullptr,
         [=](World &world) {
             need(make_child(world, nullptr));
             need(make_child(world, nullptr)); // has a log of its own
             const cd_log_part part = {"entry", 5};
             need(cd_log_append(world.child, &part, 1));
         },
         [](World &world) { return delete_MPI_log_from_cd(world.root); }},
        {"run", nullptr, nothing,
         [](World &world) {
             const cd_body_fn nothing_to_do = [](cd_handle, void *) { return 0; };
             return cd_run(world.root, nullptr, nothing_to_do, nullptr);
         }},
    };
}

std::vector<Case> operations_of_the_process() {
    const auto nothing = [](World &) {};
    std::vector<Case> all = {
        {"inject", nullptr, nothing,
         [](World &) {
             const int result = cd_inject("cd=0/a name that needs memory/0/0;cd=0/root/0/0");
             return result == CD_SUCCESS ? cd_inject(nullptr) : result;
         }},
        {"name_region", nullptr, nothing,
         [](World &) {
             const char *name = "a name that needs memory";
             const int result = cd_name_region(name, World::memory.data(), World::memory.size());
             return result == CD_SUCCESS ? cd_name_region(name, nullptr, 0) : result;
         }},
        {"observe", nullptr, [](World &) { need(observe_anew()); },
         [](World &) { return observe_anew(); }},
    };
    all.back().leaves_blocks = true;
    return all;
}

} // namespace faults
