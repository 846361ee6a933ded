// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "operations.h"

#include "runtime/active_stack.h"
#include "runtime/persistent_root.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <utility>

namespace faults {
namespace {

// The folder of these tests' stores; it is removed at the end of the process.
class StoreFolder {
public:
    StoreFolder() {
        std::string pattern =
            (std::filesystem::temp_directory_path() / "cd-failures-XXXXXX").string();
        path_ = ::mkdtemp(pattern.data());
        storage_info_ = "store=file,sync=none,dir=" + path_;
        limited_log_ = "log_limit=256K,dir=" + path_;
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
    const char *limited_log() const { return limited_log_.c_str(); }

private:
    std::string path_;
    std::string storage_info_;
    std::string limited_log_;
};

} // namespace

void leave_a_stored_root(World &world) {
    World::scribble('1');
    const cd_handle root = create_cd(nullptr, StoreFolder::instance().storage_info(),
                                     CD_COMM_LOGGING_DISABLED, "left", nullptr);
    need(add(root, World::halves(0, 10, CD_READ_WRITE)));
    need(add_to_cd_via_copy(root, World::all_of_large(CD_READ_ONLY), 1));
    need(add_file_to_cd(root, world.file));
    const cd_handle child = create_cd(root, nullptr, CD_COMM_LOGGING_INHERIT, nullptr, nullptr);
    need(add(child, World::halves(5, 20, CD_READ_WRITE)));
    need(add_to_cd_via_copy(child, World::all_of_large(CD_READ_ONLY), 1));
    end_without_trace(root);
}

void end_without_trace(cd_handle root) {
    cd::FamilyLock lock;
    ASSERT_TRUE(lock.lock(root, cd::FamilyLock::Reach::family));
    lock.prepare_discard(2);
    cd::end_family(lock, lock.domain());
    cd::ActiveStack::look_for_ended();
}

cd_handle create_left() {
    return create_cd(nullptr, StoreFolder::instance().storage_info(), CD_COMM_LOGGING_DISABLED,
                     "left", nullptr);
}

const std::string &store_folder() { return StoreFolder::instance().path(); }

std::vector<Case> operations_in_files() {
    const char *storage_info = StoreFolder::instance().storage_info();
    std::vector<Case> cases;
    for (Case &in_memory : operations_in_memory()) {
        if (in_memory.storage_info == nullptr && !in_memory.name.starts_with("log_") &&
            !in_memory.name.ends_with("_checksummed") && !in_memory.name.ends_with("_observed") &&
            !in_memory.name.ends_with("neighbours") && !in_memory.name.starts_with("create_")) {
            cases.push_back(std::move(in_memory));
            cases.back().name += "_in_file";
            cases.back().storage_info = storage_info;
        }
    }
    cases.push_back({"attach", storage_info, leave_a_stored_root, [](World &world) {
                         world.child = create_left();
                         return world.child != nullptr ? CD_SUCCESS : CD_FAILURE;
                     }});
    const auto attach_left = [](World &world) {
        leave_a_stored_root(world);
        ASSERT_NE(world.child = create_left(), nullptr);
    };
    cases.push_back({"bind", storage_info, attach_left, [](World &world) {
                         return add_to_cd_via_copy(world.child, World::all_of_large(CD_READ_ONLY),
                                                   1);
                     }});
    const auto bind_and_add = [](World &world) {
        return add_to_cd_via_copy(
            world.child,
            {World::all_of_large(CD_READ_ONLY), World::range(61 * 16, 8, CD_READ_WRITE)}, 2);
    };
    cases.push_back({"bind_and_add", storage_info, attach_left, bind_and_add});
    cases.push_back({"bind_what_is_owed_and_add", storage_info,
                     [=](World &world) {
                         attach_left(world);
                         need(restore_cd(world.child));
                         World::scribble('3');
                     },
                     bind_and_add});
    cases.push_back(
        {"bind_what_was_bound_ahead", storage_info,
         [=](World &world) {
             attach_left(world);
             need(add_to_cd_via_copy(world.child, World::all_of_large(CD_READ_ONLY), 1));
             world.child =
                 create_cd(world.child, nullptr, CD_COMM_LOGGING_INHERIT, nullptr, nullptr);
             ASSERT_NE(world.child, nullptr);
         },
         bind_and_add});
    cases.push_back({"bind_file", storage_info, attach_left,
                     [](World &world) { return add_file_to_cd(world.child, world.file); }});
    cases.push_back({"create_in_file", storage_info, [](World &) {},
                     [](World &world) {
                         world.child = create_left();
                         return world.child != nullptr ? CD_SUCCESS : CD_FAILURE;
                     }});
    for (Case &in_file : cases) {
        in_file.in_file = true;
        in_file.leaves_blocks = in_file.name == "attach";
        in_file.writes_memory =
            in_file.name.starts_with("restore_") || in_file.name == "bind_what_is_owed_and_add";
    }
    cases.push_back({"log_get_from_file", StoreFolder::instance().limited_log(),
                     [](World &world) {
                         const cd_log_part part = {World::large_memory.data(), 100'000};
                         for (int i = 0; i < 20; ++i) {
                             need(cd_log_append(world.root, &part, 1));
                         }
                         need(restore_cd(world.root));
                     },
                     [](World &world) {
                         int error = CD_ERROR_NONE;
                         return get_MPI_log_from_cd(world.root, &error) != nullptr ? CD_SUCCESS
                                                                                   : CD_FAILURE;
                     }});
    cases.back().error = CD_ERROR_LOG_SPILL;
    return cases;
}

} // namespace faults
