// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "protected.h"

#include "checkpoint/fetching.h"

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cd::checkpoint {

inline const std::vector<std::string> four_others{"m0", "m1", "m2", "m3"};

// The root's four ranks are on other nodes than before, where ranks without the root are now.
struct Moved {
    std::vector<std::string> nodes = four_others;
    std::vector<std::string> of_others = four_nodes;
    std::function<void(int)> before = [](int) {};
    std::function<void(int)> after = [](int) {};
    bool afresh = false;
    std::string earlier; // a directory of another configuration on each node, where they are
    bool are_in_both = false;
    bool died = false;
    std::vector<Holding> same; // as those know it who have the root

    std::vector<Holding> holdings(const Cluster &cluster) const {
        std::vector<Holding> all;
        for (size_t i = 0; i < of_others.size(); ++i) {
            const int rank = 10 + static_cast<int>(i);
            const auto first = cluster.directory(of_others[i]);
            if (earlier.empty() || are_in_both) {
                all.push_back({rank, first.string(), 0});
            }
            if (!earlier.empty()) {
                all.push_back({rank, (first / earlier).string(), 1});
            }
        }
        return all;
    }

    LocalProgram::Outcome fetch_in(const Cluster &cluster) {
        std::vector<std::string> all = nodes;
        all.insert(all.end(), of_others.begin(), of_others.end());
        std::vector<int> ranks{0, 1, 2, 3};
        for (size_t i = 0; i < of_others.size(); ++i) {
            ranks.push_back(10 + static_cast<int>(i));
        }
        LocalProgram program(all, ranks);
        const auto outcomes = program.run([&](std::unique_ptr<Job> job) {
            const auto directory = cluster.directory(job->node());
            RootApart root{"solver",
                           {0, 1, 2, 3},
                           {{directory.string()}, std::nullopt, {{0, 0}}, {}, afresh},
                           holdings(cluster)};
            if (!earlier.empty()) {
                root.earlier = {(directory / earlier).string()};
            }
            before(job->rank());
            std::vector<Holding> found;
            Status status = fetch(*job, root, true, found);
            if (job->rank() == 0) {
                same = std::move(found);
            }
            after(job->rank());
            return status;
        });
        died = program.dead();
        for (const auto &outcome : outcomes) {
            EXPECT_TRUE(died || outcome == outcomes.front()) << outcome.text;
        }
        return outcomes.front();
    }
};

class Fetched : public Protected {
protected:
    LocalProgram::Outcome fetch() { return moved.fetch_in(cluster); }
    std::optional<uint64_t> start() {
        cluster.nodes = moved.nodes;
        return cluster.run({}).start();
    }
    // Their contents, by name.
    std::map<std::string, std::string> files_in(const std::string &node) const {
        std::map<std::string, std::string> files;
        for (const auto &each : std::filesystem::directory_iterator(epoch_in(node, 7))) {
            std::ifstream file(each.path(), std::ios::binary);
            files[each.path().filename().string()].assign(std::istreambuf_iterator<char>(file), {});
        }
        return files;
    }
    // By ranks that do not have the root.
    bool is_seen_in(const std::string &node) const {
        std::vector<Asked> asked(11);
        asked[10].directories = {cluster.directory(node).string()};
        return !see_points({{"solver", {0, 1, 2, 3}}}, asked, 10, "node").empty();
    }
    bool is_left(const std::string &node) const {
        return std::filesystem::exists(cluster.directory(node) / "solver.points");
    }

    Moved moved;
};

} // namespace cd::checkpoint
