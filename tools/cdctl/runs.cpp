// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "runs.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

namespace cdctl {
namespace {

using Path = std::filesystem::path;

bool have_a_session_in_common(const Root &a, const Root &b) {
    return std::ranges::any_of(a.sessions,
                               [&](uint64_t session) { return b.sessions.contains(session); });
}

Path common_directory(const std::set<Path> &paths) {
    Path common = *paths.begin();
    for (const Path &path : paths) {
        Path shared;
        const auto end = std::ranges::mismatch(common, path).in1;
        for (auto part = common.begin(); part != end; ++part) {
            shared /= *part;
        }
        common = std::move(shared);
    }
    return common;
}

// One directory, beside at least two of the other part, and as deep as these. Several are a run of
// their own, as is what has only the root of the file system in common with others.
bool lies_among(const Root &part, const Root &others) {
    if (part.lies_in.size() != 1 || others.lies_in.size() < 2 || part.sessions.empty() ||
        others.sessions.empty() || part.name != others.name) {
        return false;
    }
    const auto depth = [](const Path &path) { return std::distance(path.begin(), path.end()); };
    const Path common = common_directory(others.lies_in);
    const Path &path = *part.lies_in.begin();
    return common.has_relative_path() && std::ranges::mismatch(common, path).in1 == common.end() &&
           depth(path) == depth(*others.lies_in.begin());
}

void add(Root &&part, Root &root) {
    root.sessions.merge(part.sessions);
    root.lies_in.merge(part.lies_in);
    std::ranges::move(part.findings.contents, std::back_inserter(root.findings.contents));
    root.directories.merge(part.directories);
    root.problem = root.problem ? root.problem : part.problem;
    root.is_everybodys = root.is_everybodys || part.is_everybodys;
}

// What has a session in common, or is everybody's, to one root.
std::vector<Root> join_sessions(std::vector<Root> parts) {
    std::vector<Root> roots;
    for (Root &part : parts) {
        for (auto root = roots.begin(); root != roots.end();) {
            if (root->name == part.name && (root->is_everybodys || part.is_everybodys ||
                                            have_a_session_in_common(*root, part))) {
                add(std::move(*root), part);
                root = roots.erase(root);
            } else {
                ++root;
            }
        }
        roots.push_back(std::move(part));
    }
    return roots;
}

// What lies among the directories of one run to that; nobody knows whose it is among several.
std::vector<Root> join_neighbours(std::vector<Root> parts) {
    const auto alone = std::stable_partition(
        parts.begin(), parts.end(), [](const Root &part) { return part.lies_in.size() > 1; });
    std::vector<Root> roots(std::make_move_iterator(parts.begin()), std::make_move_iterator(alone));
    const auto runs = static_cast<std::ptrdiff_t>(roots.size());
    for (Root &part : std::span(alone, parts.end())) {
        const auto is_host = [&](const Root &run) { return lies_among(part, run); };
        const auto end = roots.begin() + runs;
        const auto host = std::find_if(roots.begin(), end, is_host);
        if (host != end && std::find_if(host + 1, end, is_host) == end) {
            add(std::move(part), *host);
        } else {
            roots.push_back(std::move(part));
        }
    }
    return roots;
}

} // namespace

std::vector<Root> put_together(std::vector<Root> parts) {
    return join_neighbours(join_sessions(std::move(parts)));
}

std::vector<std::string> different_runs(const std::vector<Root> &roots) {
    std::map<std::string, std::set<std::string>> places; // by name, one of each run
    for (const Root &root : roots) {
        if (!root.sessions.empty()) {
            places[root.name].insert(root.lies_in.begin()->parent_path().string());
        }
    }
    std::vector<std::string> sentences;
    for (const auto &[name, of_it] : places) {
        if (of_it.size() > 1) {
            std::string &sentence = sentences.emplace_back("points in time of root " + name);
            for (const std::string &place : of_it) {
                sentence.append(place == *of_it.begin() ? " in " : ", ").append(place);
            }
            sentence += " have no session in common, and are taken for different runs, each of "
                        "which is judged by itself; where one is the flush= of a program that has "
                        "the other one as its dir=, that starts from the latest of both that can "
                        "be had, and what is lost of the other one is not needed";
        }
    }
    return sentences;
}

} // namespace cdctl
