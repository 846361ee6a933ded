// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "scratch_set.h"

#include "in_memory.h"

#include "redset/thread_exchange.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <fstream>
#include <stdexcept>
#include <utility>

namespace cd::redset {
namespace {

namespace fs = std::filesystem;

fs::path fresh_folder() {
    std::string name = (scratch::in_memory() / "cd-redset-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
        throw std::runtime_error("no folder for the test can be made");
    }
    return name;
}

void write_input(const fs::path &path, int rank, size_t file, uint64_t size) {
    std::vector<std::byte> bytes(size);
    for (uint64_t j = 0; j < size; ++j) {
        bytes[j] = input_byte(rank, file, j);
    }
    write_file(path, bytes);
    const auto f = static_cast<long>(file);
    const timespec times[] = {{1500000000 + 100 * rank + f, 111000000 + 1000 * rank + f},
                              {1600000000 + 100 * rank + f, 222000000 + 1000 * rank + f}};
    if (::chmod(path.c_str(), file % 2 == 0 ? 0640 : 0600) != 0 ||
        ::utimensat(AT_FDCWD, path.c_str(), times, 0) != 0) {
        throw std::runtime_error("attributes of a test's file cannot be set");
    }
}

int64_t nanoseconds(const timespec &time) { return time.tv_sec * 1'000'000'000 + time.tv_nsec; }

} // namespace

ScratchSet::ScratchSet(Set set, std::vector<std::vector<uint64_t>> sizes_by_member)
    : set_(std::move(set)), place_{fresh_folder(), "red/"}, names_(set_.ranks.size()) {
    fs::create_directory(folder() / "in");
    for (size_t member = 0; member < set_.ranks.size(); ++member) {
        const int rank = set_.ranks[member];
        for (size_t file = 0; file < sizes_by_member[member].size(); ++file) {
            const std::string name =
                "in/r" + std::to_string(rank) + "_f" + std::to_string(file) + ".dat";
            write_input(folder() / name, rank, file, sizes_by_member[member][file]);
            names_[member].push_back(name);
        }
    }
}

ScratchSet::~ScratchSet() {
    std::error_code ignored;
    fs::remove_all(folder(), ignored);
}

Status ScratchSet::apply() {
    return run_members(set_.coding.members, [this](Exchange &exchange) {
        return redset::apply(exchange, set_, place_, names(exchange.self()), {.sync = sync});
    });
}

Status ScratchSet::rebuild() {
    std::vector<Survey> surveys(set_.ranks.size());
    const Status status = run_members(set_.coding.members, [&](Exchange &exchange) {
        return redset::rebuild(exchange, set_, place_, {.sync = sync},
                               surveys[static_cast<size_t>(exchange.self())]);
    });
    survey_ = std::move(surveys.front());
    return status;
}

FolderState ScratchSet::state() const {
    FolderState state;
    for (const fs::path &path : files_below(folder())) {
        state[path.lexically_relative(folder())] = state_of(path);
    }
    return state;
}

void ScratchSet::erase(int member) const {
    for (const std::string &name : names(member)) {
        fs::remove(place_.path(name));
    }
    fs::remove(place_.scheme_file(set_, member));
    fs::remove(place_.descriptor(set_, member));
    fs::remove(place_.checksums(set_, member));
}

FolderState contents(FolderState state) {
    for (auto &[name, file] : state) {
        if (name.starts_with("red/") || name.find("/time-") != std::string::npos) {
            file = {file.bytes, 0, 0, 0};
        }
    }
    return state;
}

bool covered(const Coding &coding, unsigned lost) {
    return (coding.scheme == Scheme::partner ? longest_run(coding, lost) : std::popcount(lost)) <=
           coding.checks;
}

int longest_run(const Coding &coding, unsigned lost) {
    int longest = 0;
    for (int member = 0; member < coding.members; ++member) {
        int run = 0;
        while (run < coding.members && (lost >> coding.right(member, run) & 1) != 0) {
            ++run;
        }
        longest = std::max(longest, run);
    }
    return longest;
}

Set single_set(const Coding &coding) {
    Set set{coding, 0, 1, coding.members, {}};
    for (int rank = 0; rank < coding.members; ++rank) {
        set.ranks.push_back(rank);
    }
    return set;
}

std::unique_ptr<ScratchSet> scratch_set(const VectorCase &vector, const VectorCase::Set &set) {
    std::vector<std::vector<uint64_t>> sizes;
    for (const int rank : set.ranks) {
        sizes.push_back(vector.sizes[static_cast<size_t>(rank)]);
    }
    return std::make_unique<ScratchSet>(
        Set{set.coding, set.group, vector.groups, static_cast<int>(vector.sizes.size()), set.ranks},
        sizes);
}

FileState state_of(const fs::path &path) {
    struct stat found = {};
    if (::stat(path.c_str(), &found) != 0) {
        throw std::runtime_error("a test's file is not there: " + path.string());
    }
    FileState state{bytes_of(path), found.st_mode, 0, 0};
    state.accessed_ns = nanoseconds(found.st_atim);
    state.modified_ns = nanoseconds(found.st_mtim);
    return state;
}

void write_file(const fs::path &path, const std::vector<std::byte> &bytes) {
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char *>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
}

} // namespace cd::redset
