// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "scratch_nodes.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>

#include <utility>

namespace cd::redset {

namespace fs = std::filesystem;

bool names_a_time(std::string_view name) { return name.starts_with("time-"); }

Status rebuild_found(const FoundSet &found, const Options &options, bool dry_run, Survey &survey) {
    OfflineResult result;
    const Status status = rebuild_offline(found, options, {}, dry_run, result);
    survey = std::move(result.survey);
    return status;
}

void copy_into(const fs::path &from, const fs::path &to) {
    struct stat of_it = {};
    ASSERT_EQ(::stat(from.c_str(), &of_it), 0);
    fs::create_directories(to.parent_path());
    fs::copy_file(from, to);
    const timespec times[] = {of_it.st_atim, of_it.st_mtim};
    ASSERT_EQ(::utimensat(AT_FDCWD, to.c_str(), times, 0), 0);
}

ScratchNodes::ScratchNodes(Set set, std::vector<std::vector<uint64_t>> sizes)
    : scratch_(std::move(set), std::move(sizes)),
      gathered_(single_set({Scheme::single, 1, 0}), {{}}) {
    EXPECT_TRUE(scratch_.apply()) << message();
}

fs::path ScratchNodes::image(const std::string &node, int member) const {
    return folder() / node / "time-1" / scratch_.names(member).back();
}

fs::path ScratchNodes::in_time(const std::string &node, const std::string &path) const {
    return folder() / node / "time-1" / fs::path(path).filename();
}

fs::path ScratchNodes::scheme_file(const std::string &node, int member) const {
    return in_time(node, scratch_.place().scheme_file(scratch_.set(), member));
}

fs::path ScratchNodes::descriptor(const std::string &node, int member) const {
    return in_time(node, scratch_.place().descriptor(scratch_.set(), member));
}

fs::path ScratchNodes::checksums(const std::string &node, int member) const {
    return in_time(node, scratch_.place().checksums(scratch_.set(), member));
}

void ScratchNodes::put(const std::string &node, std::initializer_list<int> members) const {
    for (const int member : members) {
        const std::string rank = std::to_string(scratch_.set().ranks[index(member)]);
        for (const fs::path &path : files_below(scratch_.folder())) {
            const std::string name = path.filename();
            if (name.starts_with(rank + ".")) {
                copy_into(path, in_time(node, name));
            } else if (name.starts_with("r" + rank + "_")) {
                copy_into(path, folder() / node / "time-1" / "in" / name);
            }
        }
    }
}

void ScratchNodes::put_each() const {
    for (int member = 0; member < scratch_.set().coding.members; ++member) {
        put("n" + std::to_string(member), {member});
    }
}

void ScratchNodes::damage(const fs::path &path) {
    auto bytes = state_of(path).bytes;
    bytes.back() ^= std::byte{1};
    write_file(path, bytes);
}

} // namespace cd::redset
