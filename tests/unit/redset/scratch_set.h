// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "../replaced_system.h"
#include "redset/rebuild.h"
#include "redset/set.h"
#include "vector_case.h"

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace cd::redset {

// Attributes as the vectors have them, whoever runs the tests and whenever.
class AttributesOfVectors : public ReplacedSystem {
public:
    int attributes(int fd, os::FileAttributes &attributes) override {
        const int result = System::attributes(fd, attributes);
        attributes.owner = 0;
        attributes.group = 0;
        attributes.changed = {1700000000, 333000000};
        return result;
    }
};

// A file's content, mode and times.
struct FileState {
    std::vector<std::byte> bytes;
    mode_t mode = 0;
    int64_t accessed_ns = 0;
    int64_t modified_ns = 0;
    bool operator==(const FileState &) const = default;
};

using FolderState = std::map<std::string, FileState>; // by name from the folder

// A set whose files are in a folder of its own, which is gone afterwards: in/ has what members
// store, red/ what redset writes, as in the vectors.
class ScratchSet {
public:
    ScratchSet(Set set, std::vector<std::vector<uint64_t>> sizes_by_member);
    ScratchSet(const ScratchSet &) = delete;
    ~ScratchSet();

    const Set &set() const { return set_; }
    const Place &place() const { return place_; }
    std::filesystem::path folder() const { return place_.folder; }
    const std::vector<std::string> &names(int member) const {
        return names_[static_cast<size_t>(member)];
    }

    Status apply();
    Status rebuild(); // what was found is in survey()
    const Survey &survey() const { return survey_; }
    FolderState state() const;

    void erase(int member) const; // as if its node were gone

    bool sync = false; // tests rarely need the disk

private:
    Set set_;
    Place place_;
    std::vector<std::vector<std::string>> names_;
    Survey survey_;
};

// Without the modes and times of what redset writes, which nobody brings back.
FolderState contents(FolderState state);

// Whether no more members in a row, or at all, are lost than the scheme allows.
bool covered(const Coding &coding, unsigned lost);
int longest_run(const Coding &coding, unsigned lost);

Set single_set(const Coding &coding); // that is all of a job

// The set with this number of a case, with the case's files.
std::unique_ptr<ScratchSet> scratch_set(const VectorCase &vector, const VectorCase::Set &set);

FileState state_of(const std::filesystem::path &path);
void write_file(const std::filesystem::path &path, const std::vector<std::byte> &bytes);

} // namespace cd::redset
