// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "cluster.h"

#include "in_memory.h"

#include "checkpoint/options.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <fstream>
#include <sstream>

namespace cd::checkpoint {
namespace {

struct Offer {
    Offer(int of, uint64_t number) : rank(of), epoch(number) {}

    int rank;
    uint64_t epoch;
    std::atomic<int> released = 0;
};

int write_image(void *context, const char *path, cd_protection_message *why) {
    const auto *offer = static_cast<const Offer *>(context);
    const std::string image = image_of(offer->rank, offer->epoch);
    const File file(os::system().open_at(AT_FDCWD, path, O_WRONLY | O_CREAT | O_EXCL, 0600), path);
    const Status status = file.is_open() ? file.write(0, image.data(), image.size())
                                         : file.refused("create the image", 0);
    if (!status) {
        std::snprintf(why->text, sizeof why->text, "%s", message());
    }
    return status.code();
}

void release(void *context) { ++static_cast<Offer *>(context)->released; }

// With all points that it offers, which are released when it has ended.
class OfferingRank : public Cluster::Rank {
public:
    explicit OfferingRank(int number) : number_(number) {}
    ~OfferingRank() override {
        opened = nullptr;
        for (const Offer &offer : offers_) {
            EXPECT_EQ(offer.released, 1);
        }
    }

    int number() const override { return number_; }
    Checkpointer &checkpointer() override { return *opened; }
    cd_offered_point offer(uint64_t epoch) override {
        Offer &offer = offers_.emplace_back(number_, epoch);
        return {epoch, &offer, write_image, release};
    }

    std::unique_ptr<Checkpointer> opened;

private:
    const int number_;
    std::deque<Offer> offers_;
};

std::string content_of(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream content;
    content << file.rdbuf();
    return content.str();
}

} // namespace

std::string image_of(int rank, uint64_t epoch) {
    std::string image = "rank " + std::to_string(rank) + " epoch " + std::to_string(epoch) + ";";
    while (image.size() < static_cast<size_t>(500 + 300 * rank)) {
        image += image;
    }
    return image;
}

Cluster::Cluster(std::vector<std::string> names) : nodes(std::move(names)) {
    std::string pattern = (scratch::in_memory() / "cd-cluster-XXXXXX").string();
    root_ = mkdtemp(pattern.data());
}

Cluster::~Cluster() { std::filesystem::remove_all(root_); }

std::string Cluster::write_config(const std::string &text) const {
    const std::string path = (root_ / "levels.conf").string();
    std::ofstream(path) << text;
    return path;
}

void Cluster::lose(const std::string &node) const { std::filesystem::remove_all(directory(node)); }

Cluster::Run Cluster::run(const std::vector<uint64_t> &epochs, bool commit) const {
    return run_steps([&](Rank &self) {
        for (const uint64_t epoch : epochs) {
            if (Status status = self.protect(epoch); !status) {
                return status;
            }
        }
        if (Status status = self.checkpointer().wait(); !status) {
            return status;
        }
        return commit ? self.checkpointer().commit_root(Status::ok()) : Status::ok();
    });
}

Cluster::Run Cluster::run_steps(const Steps &steps, const Opening &opening) const {
    Run run;
    run.starts.resize(nodes.size());
    run.protected_at_start.resize(nodes.size());
    LocalProgram program(nodes, ranks);
    program.elsewhere = elsewhere;
    run.outcomes = program.run([&](std::unique_ptr<Job> job) {
        const int rank = job->rank();
        const auto position = static_cast<size_t>(job->all().self());
        Request request;
        request.root = root;
        request.restart = restart;
        StorageInfo info;
        info.redundancy = redundancy;
        info.set_size = set_size;
        info.config = config;
        info.flush = flush;
        info.flush_interval = 2;
        if (Status status =
                read_request(info, directory(job->node()).string(), job->node(), request);
            !status) {
            return status;
        }
        OfferingRank self(rank);
        opening.before(rank);
        Status opened = Checkpointer::open(std::move(job), request, mode, self.opened);
        opening.after(rank);
        if (!opened) {
            return opened;
        }
        if (const auto &start = self.opened->start()) {
            EXPECT_EQ(content_of(self.opened->image_of_start()), image_of(rank, start->id.epoch));
            run.starts[position] = start->id.epoch;
        }
        run.protected_at_start[position] = self.opened->protected_epoch();
        Status begun = self.opened->agree_on(opening.begin(rank));
        return begun ? steps(self) : begun;
    });
    run.died = program.dead();
    return run;
}

LocalProgram::Outcome Cluster::Run::outcome() const {
    for (const auto &outcome : outcomes) {
        EXPECT_EQ(outcome.code, outcomes.front().code);
        EXPECT_EQ(outcome.text, outcomes.front().text);
    }
    return outcomes.front();
}

std::optional<uint64_t> Cluster::Run::start() const {
    for (const auto &outcome : outcomes) {
        EXPECT_EQ(outcome.text, "");
    }
    for (const auto &start : starts) {
        EXPECT_EQ(start, starts.front());
    }
    return starts.front();
}

uint64_t Cluster::Run::protected_epoch() const {
    for (const uint64_t epoch : protected_at_start) {
        EXPECT_EQ(epoch, protected_at_start.front());
    }
    return protected_at_start.front();
}

} // namespace cd::checkpoint
