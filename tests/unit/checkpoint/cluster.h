// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "checkpoint/checkpointer.h"
#include "local_program.h"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace cd::checkpoint {

// Four ranks with a directory each, or fewer, that are their nodes; gone afterwards.
class Cluster {
public:
    explicit Cluster(std::vector<std::string> nodes);
    Cluster(const Cluster &) = delete;
    ~Cluster();

    std::filesystem::path directory(const std::string &node) const { return root_ / node; }
    std::string write_config(const std::string &text) const; // gives the file
    void lose(const std::string &node) const;                // with all that it has

    // Who runs where now.
    std::vector<std::string> nodes;
    std::vector<int> ranks; // those of the program that have the root, if not 0, 1 and so on
    Redundancy redundancy{Scheme::xor_set, 0};
    int set_size = 8;
    std::string root = "solver";
    std::string restart;
    std::string config; // a file
    std::string flush;  // a directory
    Mode mode = Mode::sync;
    std::vector<Elsewhere> elsewhere; // what ranks without the root see of it

    // One after the other, each in the order of ranks.
    struct Run {
        std::vector<LocalProgram::Outcome> outcomes;
        std::vector<std::optional<uint64_t>> starts; // the epoch of which the right image was found
        std::vector<uint64_t> protected_at_start;
        bool died = false;

        // What all of them had alike, or a failure of the test.
        LocalProgram::Outcome outcome() const;
        std::optional<uint64_t> start() const;
        uint64_t protected_epoch() const; // before the first advance
    };

    // What a rank does with its protection.
    class Rank {
    public:
        virtual ~Rank() = default;
        virtual int number() const = 0;
        virtual Checkpointer &checkpointer() = 0;
        // A point in time to protect, which lives until it is released.
        virtual cd_offered_point offer(uint64_t epoch) = 0;

        Status protect(uint64_t epoch) {
            Status status = checkpointer().may_advance(epoch, Status::ok());
            return status ? checkpointer().protect(offer(epoch)) : status;
        }
        // The advance to it failed here, when all had agreed on it.
        Status miss(uint64_t epoch) {
            Status status = checkpointer().may_advance(epoch, Status::ok());
            char why[] = "its record cannot be written";
            return status ? checkpointer().protect({epoch, why, nullptr, nullptr}) : status;
        }
    };
    using Steps = std::function<Status(Rank &)>;

    // What surrounds the opening, with the rank's number.
    struct Opening {
        std::function<void(int)> before = [](int) {};
        std::function<void(int)> after = [](int) {};
        std::function<Status(int)> begin = [](int) { return Status::ok(); };
    };

    // Opens, protects these epochs, and commits the root if that is wanted.
    Run run(const std::vector<uint64_t> &epochs, bool commit = false) const;
    Run run_steps(const Steps &steps) const { return run_steps(steps, Opening()); }
    Run run_steps(const Steps &steps, const Opening &opening) const;

private:
    std::filesystem::path root_;
};

std::string image_of(int rank, uint64_t epoch);

} // namespace cd::checkpoint
