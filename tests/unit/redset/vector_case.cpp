// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "vector_case.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace cd::redset {
namespace {

namespace fs = std::filesystem;

Coding coding_of(const fs::path &folder) {
    std::ifstream file(folder / "case.txt");
    Coding coding;
    for (std::string word; file >> word;) {
        const std::string value = word.substr(word.find('=') + 1);
        if (word.starts_with("type=")) {
            coding.scheme = scheme_named(value);
        } else if (word.starts_with("k=") && coding.scheme != Scheme::single) {
            coding.checks = std::stoi(value);
        }
    }
    return coding;
}

std::vector<std::vector<uint64_t>> sizes_of(const fs::path &folder) {
    std::ifstream file(folder / "sizes.txt");
    std::vector<std::vector<uint64_t>> sizes;
    for (std::string line; std::getline(file, line);) {
        std::istringstream numbers(line.substr(line.find(':') + 1));
        sizes.emplace_back();
        for (uint64_t size = 0; numbers >> size;) {
            sizes.back().push_back(size);
        }
    }
    return sizes;
}

// Which rank is where is in the names of the scheme files.
VectorCase read_case(const fs::path &folder) {
    VectorCase result{folder, 0, sizes_of(folder), {}};
    const Coding coding = coding_of(folder);
    for (const fs::path &path : files_below(folder / "red")) {
        int rank = 0;
        int group = 0;
        int member = 0;
        int members = 0;
        const std::string name = path.filename();
        if (std::sscanf(name.c_str(), "%d.%*[a-z].grp_%d_of_%d.mem_%d_of_%d.redset", &rank, &group,
                        &result.groups, &member, &members) != 5) {
            continue;
        }
        result.sets.resize(static_cast<size_t>(result.groups));
        VectorCase::Set &set = result.sets[static_cast<size_t>(group - 1)];
        set.coding = {coding.scheme, members, coding.checks};
        set.group = group - 1;
        set.ranks.resize(static_cast<size_t>(members));
        set.ranks[static_cast<size_t>(member - 1)] = rank;
    }
    return result;
}

} // namespace

std::vector<VectorCase> vector_cases() {
    std::vector<VectorCase> cases;
    for (const auto &entry : fs::directory_iterator(CD_REDSET_VECTORS)) {
        if (entry.is_directory()) {
            cases.push_back(read_case(entry.path()));
        }
    }
    if (cases.size() != 16) {
        throw std::runtime_error("tests/redset_vectors should have 16 cases");
    }
    return cases;
}

std::vector<fs::path> files_below(const fs::path &folder) {
    std::vector<fs::path> files;
    for (const auto &entry : fs::recursive_directory_iterator(folder)) {
        if (entry.is_regular_file()) {
            files.push_back(entry.path());
        }
    }
    std::sort(files.begin(), files.end());
    return files;
}

// Without a trace in the time of access, which is compared, too.
std::vector<std::byte> bytes_of(const fs::path &path) {
    const int own = ::open(path.c_str(), O_RDONLY | O_NOATIME);
    const int fd = own < 0 ? ::open(path.c_str(), O_RDONLY) : own;
    std::vector<std::byte> bytes(fs::file_size(path));
    const ssize_t got = ::read(fd, bytes.data(), bytes.size());
    ::close(fd);
    if (got != static_cast<ssize_t>(bytes.size())) {
        throw std::runtime_error("a test's file cannot be read: " + path.string());
    }
    return bytes;
}

} // namespace cd::redset
