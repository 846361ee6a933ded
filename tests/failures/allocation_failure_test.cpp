// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// Lets every single allocation of every operation fail in turn. Afterwards the operation has failed
// with CD_ERROR_NO_MEMORY and nothing has changed; once there is memory again it does what it
// would have done at once; and nothing has leaked.

#include "allocation_faults.h"
#include "snapshot.h"

#include "cd/cd.h"
#include "cd/control.h"
#include "cd/mpi_log.h"
#include "runtime/active_stack.h"
#include "runtime/stored_family.h"
#include "store/page_pool.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

// What one run of an operation works on. Application memory is the same for all runs, since
// addresses are part of what is compared.
struct World {
    static constexpr size_t cells = 64;
    static constexpr size_t cell = 16;
    static constexpr size_t large = size_t{300} << 10; // comes from mapped pages

    static inline std::array<char, cells * cell> memory;
    static inline std::vector<char> large_memory = std::vector<char>(large);

    cd_handle root = nullptr;
    cd_handle child = nullptr;
    int file = -1;

    static cd_addrspec range(size_t offset, size_t length, addr_type access,
                             addr_scope scope = CD_GLOBAL) {
        return {memory.data() + offset, length, access, scope};
    }
    static cd_addrspec all_of_large(addr_type access) {
        return {large_memory.data(), large, access, CD_GLOBAL};
    }

    // The first half of each cell from first up to last, as one entry each. Not on the heap, where
    // the test's own requests would be the ones that fail.
    struct List {
        std::array<cd_addrspec, cells> ranges;
        int count = 0;
    };
    static List halves(size_t first, size_t last, addr_type access, addr_scope scope = CD_GLOBAL) {
        List list = {};
        for (size_t i = first; i < last; ++i) {
            list.ranges[static_cast<size_t>(list.count++)] =
                range(i * cell, cell / 2, access, scope);
        }
        return list;
    }

    static void scribble(char value) {
        memory.fill(value);
        std::memset(large_memory.data(), value, large);
    }
};

int add(cd_handle cd, const World::List &list, const char *storage_info = nullptr) {
    return add_to_cd_via_copy(cd, list.ranges.data(), list.count, storage_info);
}

int regenerate(cd_addrspec list[], int count) {
    for (int i = 0; i < count; ++i) {
        std::memset(list[i].address, 'r', list[i].length);
    }
    return 0;
}

struct Case {
    std::string name;
    const char *storage_info;
    std::function<void(World &)> prepare;
    std::function<int(World &)> operate;
    // In files an operation that is over gives room back: if it cannot note that, the room is lost
    // until the file is opened again, and nothing else.
    bool in_file = false;
    // Has written memory when it writes down what that means, which can still fail.
    bool writes_memory = false;
    // Binds what came from another process before it does anything else that can fail.
    bool binds_first = false;
    // Fills maps of Abseil's, which lose what they hold when there is no memory for one more node.
    bool fills_btrees = false;
};

void need(int result) { ASSERT_EQ(result, CD_SUCCESS) << cd_last_error_message(); }

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

// What the grandchild changes is held by the root, not by the CD in between.
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

std::vector<Case> cases_in_memory() {
    const auto nothing = [](World &) {};
    const auto holds_some = [](World &world) {
        World::scribble('1');
        need(add(world.root, World::halves(0, 30, CD_READ_ONLY)));
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
        {"inject", nullptr, nothing,
         [](World &) {
             const int result = cd_inject("cd=0/a name that needs memory/0/0;cd=0/root/0/0");
             return result == CD_SUCCESS ? cd_inject(nullptr) : result;
         }},
        {"run", nullptr, nothing,
         [](World &world) {
             const cd_body_fn nothing_to_do = [](cd_handle, void *) { return 0; };
             return cd_run(world.root, nullptr, nothing_to_do, nullptr);
         }},
    };
}

// Where the stores of these tests are; goes with the process.
class StoreFolder {
public:
    StoreFolder() {
        std::string pattern =
            (std::filesystem::temp_directory_path() / "cd-failures-XXXXXX").string();
        path_ = ::mkdtemp(pattern.data());
        storage_info_ = "store=file,sync=none,dir=" + path_;
    }
    ~StoreFolder() { std::filesystem::remove_all(path_); }
    StoreFolder(const StoreFolder &) = delete;
    StoreFolder &operator=(const StoreFolder &) = delete;

    static StoreFolder &instance() {
        static StoreFolder folder;
        return folder;
    }
    const std::string &path() const { return path_; }
    const char *storage_info() const { return storage_info_.c_str(); }

private:
    std::string path_;
    std::string storage_info_;
};

// What the root holds in a store, for a process that finds it.
void leave_a_stored_root(World &) {
    World::scribble('1');
    const cd_handle root = create_cd(nullptr, StoreFolder::instance().storage_info(),
                                     CD_COMM_LOGGING_DISABLED, "left", nullptr);
    need(add(root, World::halves(0, 10, CD_READ_WRITE)));
    need(add_to_cd_via_copy(root, World::all_of_large(CD_READ_ONLY), 1));
    const cd_handle child = create_cd(root, nullptr, CD_COMM_LOGGING_INHERIT, nullptr, nullptr);
    need(add(child, World::halves(5, 20, CD_READ_WRITE)));
    cd::ActiveStack::of_this_thread().remove(child);
    cd::ActiveStack::of_this_thread().remove(root);
    cd::end_family(root); // as the end of the process does
}

cd_handle create_left() {
    return create_cd(nullptr, StoreFolder::instance().storage_info(), CD_COMM_LOGGING_DISABLED,
                     "left", nullptr);
}

std::vector<Case> cases_in_files() {
    const char *storage_info = StoreFolder::instance().storage_info();
    std::vector<Case> cases;
    for (Case &in_memory : cases_in_memory()) {
        if (in_memory.storage_info == nullptr && !in_memory.name.starts_with("log_") &&
            !in_memory.name.ends_with("_checksummed") && !in_memory.name.starts_with("create_")) {
            cases.push_back(std::move(in_memory));
            cases.back().name += "_in_file";
            cases.back().storage_info = storage_info;
        }
    }
    cases.push_back({"attach", storage_info, leave_a_stored_root, [](World &world) {
                         world.child = create_left();
                         return world.child != nullptr ? CD_SUCCESS : CD_FAILURE;
                     }});
    cases.push_back({"bind", storage_info,
                     [](World &world) {
                         leave_a_stored_root(world);
                         ASSERT_NE(world.child = create_left(), nullptr);
                     },
                     [](World &world) {
                         return add_to_cd_via_copy(world.child, World::all_of_large(CD_READ_ONLY),
                                                   1);
                     }});
    cases.push_back({"create_in_file", storage_info, [](World &) {},
                     [](World &world) {
                         world.child = create_left();
                         return world.child != nullptr ? CD_SUCCESS : CD_FAILURE;
                     }});
    cases.push_back({"commit_root", storage_info,
                     [](World &world) {
                         ASSERT_NE(world.child = create_left(), nullptr);
                         need(add(world.child, World::halves(0, 9, CD_READ_WRITE)));
                     },
                     [](World &world) { return commit_cd(world.child); }});
    for (Case &in_file : cases) {
        in_file.in_file = true;
        in_file.fills_btrees = in_file.name == "attach";
        in_file.binds_first = in_file.name == "bind";
        in_file.writes_memory = in_file.name.starts_with("restore_");
    }
    return cases;
}

std::vector<Case> cases() {
    std::vector<Case> all = cases_in_memory();
    for (Case &in_file : cases_in_files()) {
        all.push_back(std::move(in_file));
    }
    return all;
}

// Each test is a process of its own under ctest: nobody has asked for the pool before.
TEST(PagePool, IsThereWithoutMemory) {
    faults::fail_request(1);
    cd::PagePool::instance().trim();
    const bool asked = faults::happened();
    faults::fail_request(0);
    EXPECT_FALSE(asked);
}

class AllocationFailure : public testing::TestWithParam<Case> {
protected:
    void SetUp() override {
        cd::os::replace_system(&system_);
        cd::PagePool::instance().trim();
    }
    void TearDown() override { cd::os::replace_system(nullptr); }

    // One run in a world of its own. Returns whether the failure happened.
    bool run(size_t failing_request, std::string &outcome) {
        World world;
        std::FILE *file = std::tmpfile();
        world.file = ::fileno(file);
        World::scribble('0');
        world.root =
            create_cd(nullptr, GetParam().storage_info, CD_COMM_LOGGING_ENABLED, "root", nullptr);
        EXPECT_NE(world.root, nullptr) << cd_last_error_message();
        GetParam().prepare(world);
        const std::string before = snapshot_and_memory();
        const std::string held_before = held();

        faults::fail_request(failing_request);
        int result = GetParam().operate(world);
        const bool failed = faults::happened();
        const cd_error code = cd_last_error();
        faults::fail_request(0);

        if (failed && !(GetParam().in_file && result == CD_SUCCESS)) {
            EXPECT_EQ(result, CD_FAILURE) << "request " << failing_request << " failed unnoticed";
            EXPECT_EQ(code, CD_ERROR_NO_MEMORY) << cd_last_error_message();
            if (GetParam().writes_memory) {
                EXPECT_EQ(held(), held_before) << "after request " << failing_request;
            } else if (!GetParam().binds_first) {
                EXPECT_EQ(snapshot_and_memory(), before) << "after request " << failing_request;
            }
            result = GetParam().operate(world);
        }
        EXPECT_EQ(result, CD_SUCCESS) << cd_last_error_message();
        outcome = snapshot_and_memory();
        end_all();
        std::fclose(file);
        return failed;
    }

    static std::string held() {
        return faults::snapshot() + faults::stores_in(StoreFolder::instance().path());
    }

    static std::string snapshot_and_memory() {
        std::string text = held();
        text.append(World::memory.begin(), World::memory.end());
        text.append(World::large_memory.begin(), World::large_memory.end());
        return text;
    }

    static void end_all() {
        while (commit_cd(CD_CURRENT_CD) == CD_SUCCESS ||
               (cd_last_error() == CD_ERROR_HAS_CHILDREN && // that nobody has created yet
                restore_cd(CD_CURRENT_CD) == CD_SUCCESS)) {
        }
        EXPECT_EQ(cd_last_error(), CD_ERROR_NO_CURRENT_CD) << cd_last_error_message();
    }

    faults::System system_;
};

TEST_P(AllocationFailure, ChangesNothingWhicheverAllocationItIs) {
    std::string undisturbed;
    ASSERT_FALSE(run(0, undisturbed));
    // The first run has made what stays, such as the thread's stack of active CDs.
    cd::PagePool::instance().trim();
    const long blocks = faults::live_blocks();
    const long regions = system_.mapped_regions();

    size_t failures = 0;
    std::string outcome;
    while (run(failures + 1, outcome)) {
        ++failures;
        EXPECT_EQ(outcome, undisturbed) << "after request " << failures << " had failed";
        ASSERT_FALSE(HasFailure()) << "at request " << failures;
        cd::PagePool::instance().trim();
        outcome.clear();
        outcome.shrink_to_fit();
        if (!GetParam().fills_btrees) {
            EXPECT_EQ(faults::live_blocks(), blocks);
        }
        EXPECT_EQ(system_.mapped_regions(), regions);
    }
    EXPECT_GT(failures, 0U) << "the operation allocates nothing, so the case tests nothing";
}

INSTANTIATE_TEST_SUITE_P(Operations, AllocationFailure, testing::ValuesIn(cases()),
                         [](const auto &tested) { return tested.param.name; });

} // namespace
