// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "redset/offline_rebuild.h"
#include "scratch_set.h"

#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace cd::redset {

// True for the names of checkpoint directories in these tests.
bool names_a_time(std::string_view name);

// Rebuilds without bounds, and keeps the survey only.
Status rebuild_found(const FoundSet &found, const Options &options, bool dry_run, Survey &survey);

// With its times, and the directories that it takes.
void copy_into(const std::filesystem::path &from, const std::filesystem::path &to);

// A set as nodes have it on which ranks were one after the other: in each a directory of one name.
class ScratchNodes {
public:
    ScratchNodes(Set set, std::vector<std::vector<uint64_t>> sizes);

    std::filesystem::path folder() const { return gathered_.folder(); }
    FolderState state() const { return gathered_.state(); }

    // A member's, on a node where it has been put.
    std::filesystem::path image(const std::string &node, int member) const; // the last one
    std::filesystem::path scheme_file(const std::string &node, int member) const;
    std::filesystem::path descriptor(const std::string &node, int member) const;
    std::filesystem::path checksums(const std::string &node, int member) const;

    void put(const std::string &node, std::initializer_list<int> members) const;
    void put_each() const; // each member on a node of its own: n0, n1, ...

    static void damage(const std::filesystem::path &path);

private:
    std::filesystem::path in_time(const std::string &node, const std::string &path) const;

    ScratchSet scratch_;
    ScratchSet gathered_;
};

} // namespace cd::redset
