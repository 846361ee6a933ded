// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "local_program.h"

#include "base/no_throw.h"

#include <fcntl.h>
#include <pthread.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <thread>

namespace cd::checkpoint {
namespace {

using redset::Bytes;
using redset::Exchange;
using redset::Meeting;

// A member that is not heard of any more when the program has died.
class MortalExchange : public Exchange {
public:
    MortalExchange(LocalProgram &program, std::shared_ptr<Meeting> meeting, int self)
        : program_(program), meeting_(std::move(meeting)), member_(meeting_->member(self)) {}
    ~MortalExchange() override { meeting_->leave(); }

    int members() const override { return member_->members(); }
    int self() const override { return member_->self(); }

    Status gather(std::span<const std::byte> own, std::vector<Bytes> &all) override {
        return alive() ? member_->gather(own, all) : gone();
    }
    void reserve(size_t messages) override { member_->reserve(messages); }
    Status start(std::span<const Message> outgoing, std::span<const Message> incoming) override {
        return alive() ? member_->start(outgoing, incoming) : gone();
    }
    Status finish() override { return alive() ? member_->finish() : gone(); }

private:
    bool alive() const { return !program_.dead(); }
    Status gone() {
        meeting_->leave();
        return fail(CD_ERROR_STORE_IO, "the program has died");
    }

    LocalProgram &program_;
    std::shared_ptr<Meeting> meeting_;
    std::unique_ptr<Exchange> member_;
};

class LocalJob : public Job {
public:
    LocalJob(LocalProgram &program, int position)
        : program_(program),
          all_(program, program.meeting(0, 0, static_cast<int>(program.ranks().size())), position) {
    }

    Exchange &all() override { return all_; }
    const std::vector<int> &ranks() const override { return program_.ranks(); }
    int program_ranks() const override { return ranks().back() + 1; }
    std::string node() const override { return program_.nodes()[static_cast<size_t>(all_.self())]; }

    const std::vector<Elsewhere> &elsewhere() const override { return program_.elsewhere; }

    Status divide(int color, int key, std::unique_ptr<Exchange> &part) override {
        const int own[] = {color, key};
        std::vector<Bytes> all;
        if (Status status = all_.gather(std::as_bytes(std::span(own)), all); !status) {
            return status;
        }
        int members = 0;
        int position = 0;
        for (const Bytes &bytes : all) {
            int theirs[2] = {};
            std::memcpy(theirs, bytes.data(), sizeof theirs);
            members += theirs[0] == color ? 1 : 0;
            position += theirs[0] == color && theirs[1] < key ? 1 : 0;
        }
        const int division = ++divisions_;
        return redset::agree(all_, catch_exceptions([&] {
                                 part = std::make_unique<MortalExchange>(
                                     program_, program_.meeting(division, color, members),
                                     position);
                             }));
    }

private:
    LocalProgram &program_;
    MortalExchange all_;
    int divisions_ = 0;
};

std::atomic<LocalProgram *> program_that_runs = nullptr; // threads that help its ranks are its, too
thread_local ThreadOfRank this_thread;
thread_local int calls_until_failure = 0; // of this thread
thread_local bool failure_happened = false;

constexpr char name_of_thread[] = "rank %d.%d";

void name_this_thread() {
    char name[16] = "";
    std::snprintf(name, sizeof name, name_of_thread, this_thread.rank, this_thread.depth);
    pthread_setname_np(pthread_self(), name);
}

// A thread begins with the name of the one that made it.
void know_this_thread() {
    char name[16] = "";
    ThreadOfRank maker;
    if (this_thread == ThreadOfRank() &&
        pthread_getname_np(pthread_self(), name, sizeof name) == 0 &&
        std::sscanf(name, name_of_thread, &maker.rank, &maker.depth) == 2) {
        this_thread = {maker.rank, maker.depth + 1};
        name_this_thread();
    }
}

} // namespace

LocalProgram::LocalProgram(std::vector<std::string> nodes, std::vector<int> ranks)
    : nodes_(std::move(nodes)), ranks_(std::move(ranks)) {
    if (ranks_.empty()) {
        ranks_.resize(nodes_.size());
        std::iota(ranks_.begin(), ranks_.end(), 0);
    }
}

std::vector<LocalProgram::Outcome> LocalProgram::run(const Body &body) {
    std::vector<Outcome> outcomes(nodes_.size());
    std::vector<std::thread> threads;
    program_that_runs = this;
    for (size_t position = 0; position < nodes_.size(); ++position) {
        threads.emplace_back([&, position] {
            DyingSystem::enter(ranks_[position]);
            const Status status =
                body(std::make_unique<LocalJob>(*this, static_cast<int>(position)));
            outcomes[position] = {status.code(), status ? "" : message()};
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    program_that_runs = nullptr;
    return outcomes;
}

std::shared_ptr<Meeting> LocalProgram::meeting(int serial, int color, int members) {
    const std::lock_guard lock(mutex_);
    auto &meeting = meetings_[{serial, color}];
    if (meeting == nullptr) {
        meeting = std::make_shared<Meeting>(members);
    }
    return meeting;
}

void FailingSystem::fail_call(int nth) {
    calls_until_failure = nth;
    failure_happened = false;
}

bool FailingSystem::happened() { return failure_happened; }

bool FailingSystem::alive() {
    if (calls_until_failure == 0 || --calls_until_failure > 0) {
        return true;
    }
    failure_happened = true;
    errno = ENOSPC;
    return false;
}

void DyingSystem::enter(int rank) {
    this_thread = {rank, 0};
    name_this_thread();
}

bool DyingSystem::alive() {
    LocalProgram *const program = program_that_runs;
    if (program == nullptr) {
        return true;
    }
    know_this_thread();
    if (this_thread == victim_ && this_thread.rank >= 0 && --calls_ == 0) {
        program->die();
    }
    errno = EIO;
    return !program->dead();
}

int DyingSystem::rank_of_this_thread() {
    know_this_thread();
    return this_thread.rank;
}

int DyingSystem::open_at(int directory, const char *name, int flags, mode_t mode) {
    const bool allowed = (flags & O_CREAT) == 0 || alive();
    return allowed ? System::open_at(directory, name, flags, mode) : -1;
}

int DyingSystem::set_owner(int fd, uid_t owner, gid_t group) {
    return alive() ? System::set_owner(fd, owner, group) : -1;
}

int DyingSystem::set_mode(int fd, mode_t mode) { return alive() ? System::set_mode(fd, mode) : -1; }

int DyingSystem::set_times(int fd, timespec accessed, timespec modified) {
    return alive() ? System::set_times(fd, accessed, modified) : -1;
}

int DyingSystem::make_directory_at(int directory, const char *name, mode_t mode) {
    return alive() ? System::make_directory_at(directory, name, mode) : -1;
}

int DyingSystem::rename_at(int directory, const char *from, const char *to) {
    return alive() ? System::rename_at(directory, from, to) : -1;
}

int DyingSystem::unlink_at(int directory, const char *name) {
    return alive() ? System::unlink_at(directory, name) : -1;
}

int DyingSystem::remove_directory_at(int directory, const char *name) {
    return alive() ? System::remove_directory_at(directory, name) : -1;
}

void DyingSystem::warn(const char *line) {
    const std::lock_guard lock(mutex_);
    told_.emplace_back(line);
}

std::vector<std::string> DyingSystem::told() const {
    const std::lock_guard lock(mutex_);
    return told_;
}

ssize_t DyingSystem::write_at(int fd, const void *from, size_t length, off_t offset) {
    return alive() ? System::write_at(fd, from, length, offset) : -1;
}

} // namespace cd::checkpoint
