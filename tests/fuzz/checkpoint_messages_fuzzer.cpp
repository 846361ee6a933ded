// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// Ranks tell anything of themselves, and of what they have found: who hears it either refuses, or
// comes to sets and transfers within bounds.
#include "checkpoint/inventory.h"
#include "checkpoint/restart.h"
#include "lying_exchange.h"
#include "os/system.h"
#include "scratch_folder.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace cd;
using namespace cd::checkpoint;
using fuzz::require;

namespace {

constexpr int rank_count = 3;

class LyingJob : public Job {
public:
    explicit LyingJob(fuzz::Input &input) : input_(input), all_(input, rank_count) {}

    redset::Exchange &all() override { return all_; }
    const std::vector<int> &ranks() const override { return ranks_; }
    int program_ranks() const override { return rank_count; }
    std::string node() const override { return "here"; }
    const std::vector<Elsewhere> &elsewhere() const override { return elsewhere_; }
    Status divide(int, int, std::unique_ptr<redset::Exchange> &part) override {
        part = std::make_unique<fuzz::LyingExchange>(input_, rank_count);
        return Status::ok();
    }

private:
    fuzz::Input &input_;
    fuzz::LyingExchange all_;
    const std::vector<int> ranks_{0, 1, 2};
    const std::vector<Elsewhere> elsewhere_;
};

// Allows directories in `folder` only, since ranks may name any path as a store.
class Confined : public os::System {
public:
    explicit Confined(std::string folder) : folder_(std::move(folder)) { os::replace_system(this); }
    int make_directory_at(int directory, const char *name, mode_t mode) override {
        if (std::string_view(name).starts_with(folder_)) {
            return System::make_directory_at(directory, name, mode);
        }
        errno = EACCES;
        return -1;
    }

private:
    const std::string folder_;
};

// This rank has nothing.
void hear_of_inventory(Job &job) {
    Inventory findings{job.ranks(), {0, 1, 2}, {}};
    if (!gather_contents(job, Status::ok(), {}, findings.contents)) {
        return;
    }
    require(findings.contents.size() == rank_count, "all ranks are heard");
    (void)findings.last_number();
    for (const CheckpointId &point : findings.committed()) {
        require(!findings.can_never_be_committed(point), "what counts may count");
        (void)findings.is_of_committed_root(point);
        Division division;
        if (find_sets(findings, point, division)) {
            for (const int rank : job.ranks()) {
                const redset::Set &set = division.set_of(rank);
                require(member_of(set, rank) < set.coding.members, "each rank is in a set");
            }
        }
        for (const Transfer &transfer : find_transfers(findings, point)) {
            require(transfer.from >= 0 && transfer.from < rank_count && transfer.to >= 0 &&
                        transfer.to < rank_count && transfer.from != transfer.to,
                    "files get from one rank to another");
            require(transfer.name.find('/') == std::string::npos, "and have names");
        }
    }
}

} // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name that libFuzzer calls
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const fuzz::ScratchFolder folder;
    static const Confined confined(folder.path());
    fuzz::Input input(data, size);
    const bool opens = input.number8() % 8 == 0;
    LyingJob job(input);
    if (!opens) {
        hear_of_inventory(job);
        return 0;
    }
    Request request;
    request.root = "solver";
    request.restart = "no"; // files that ranks name are not there to be moved
    request.stores = {folder.path()};
    request.levels = {{0, 1, {{Scheme::xor_set, 0}, 8}, "here", 0}};
    request.sync = false;
    OpenRoot opened;
    if (open_root(job, request, opened)) {
        require(opened.levels.size() == 1 && !opened.stores.empty(), "it is what was asked for");
    }
    return 0;
}
