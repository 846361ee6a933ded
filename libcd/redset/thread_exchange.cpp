// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/thread_exchange.h"

#include "base/no_throw.h"
#include "redset/scheme.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <thread>
#include <utility>

namespace cd::redset {
class Meeting::Member : public Exchange {
public:
    Member(Meeting &meeting, int self)
        : meeting_(meeting), self_(self), next_(index(meeting.members_)) {}

    int members() const override { return meeting_.members_; }
    int self() const override { return self_; }

    Status gather(std::span<const std::byte> own, std::vector<Bytes> &all) override {
        Status told = catch_exceptions(
            [&] { meeting_.gathered_[index(self_)].assign(own.begin(), own.end()); });
        if (Status status = meeting_.meet(told.is_ok()); !status) {
            return status;
        }
        std::vector<Bytes> copies;
        Status heard = catch_exceptions([&] { copies = meeting_.gathered_; });
        if (Status status = meeting_.meet(heard.is_ok()); !status) {
            return status;
        }
        all = std::move(copies);
        return Status::ok();
    }

    void reserve(size_t messages) override {
        meeting_.outgoing_[index(self_)].reserve(messages);
        incoming_.reserve(messages);
    }

    Status start(std::span<const Message> outgoing, std::span<const Message> incoming) override {
        meeting_.outgoing_[index(self_)].assign(outgoing.begin(), outgoing.end());
        incoming_.assign(incoming.begin(), incoming.end());
        return Status::ok();
    }

    // Copies this member's messages out of the senders' buffers.
    Status finish() override {
        if (Status status = meeting_.meet(); !status) {
            return status;
        }
        std::ranges::fill(next_, 0);
        for (const auto &[peer, bytes] : incoming_) {
            const auto &sent = meeting_.outgoing_[index(peer)];
            size_t &at = next_[index(peer)];
            while (sent[at].peer != self_) {
                ++at;
            }
            std::memcpy(bytes.data(), sent[at++].bytes.data(), bytes.size());
        }
        return meeting_.meet();
    }

private:
    Meeting &meeting_;
    const int self_;
    std::vector<Message> incoming_;
    // The next message of each member. Allocated before any member reads the others' memory, so
    // that none leaves in between.
    std::vector<size_t> next_;
};

Meeting::Meeting(int members)
    : members_(members), gathered_(index(members)), outgoing_(index(members)) {}

std::unique_ptr<Exchange> Meeting::member(int self) {
    return std::make_unique<Member>(*this, self);
}

// The outcome of the last round stays until all members have read it.
Status Meeting::meet(bool has_memory) {
    std::unique_lock lock(mutex_);
    const auto round = round_;
    lacking_ = lacking_ || !has_memory;
    if (++waiting_ == members_ && !broken_) {
        waiting_ = 0;
        ++round_;
        round_lacking_ = std::exchange(lacking_, false);
        changed_.notify_all();
    }
    changed_.wait(lock, [&] { return broken_ || round_ != round; });
    if (round_ == round) {
        return fail(CD_ERROR_STORE_IO, "another member of the set is gone");
    }
    return round_lacking_
               ? fail(CD_ERROR_NO_MEMORY, "a member has no memory for what all tell each other")
               : Status::ok();
}

void Meeting::leave() {
    const std::lock_guard lock(mutex_);
    broken_ = true;
    changed_.notify_all();
}

namespace {

struct Outcome {
    Status status;
    std::string text;
    int place = 0; // among those that failed
};

} // namespace

Status run_members(int members, const std::function<Status(Exchange &)> &member) {
    Meeting meeting(members);
    std::vector<Outcome> outcomes(static_cast<size_t>(members));
    std::atomic<int> failed = 0;
    const auto take_part = [&](int self) {
        Outcome &outcome = outcomes[static_cast<size_t>(self)];
        try {
            const std::unique_ptr<Exchange> exchange = meeting.member(self);
            outcome.status = member(*exchange);
            outcome.text = outcome.status ? "" : message();
        } catch (const std::bad_alloc &) {
            outcome.status = fail(CD_ERROR_NO_MEMORY, "out of memory");
        }
        if (!outcome.status) {
            outcome.place = ++failed; // before the others learn of it, and fail because of it
            meeting.leave();
        }
    };
    std::vector<std::thread> threads;
    threads.reserve(outcomes.size());
    Status started;
    try {
        for (int self = 0; self < members; ++self) {
            threads.emplace_back(take_part, self);
        }
    } catch (const std::exception &error) { // std::system_error, std::bad_alloc
        meeting.leave();
        started = fail(CD_ERROR_NO_MEMORY, "a thread for member %zu of %d cannot be started: %s",
                       threads.size(), members, error.what());
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    if (!started) {
        return started;
    }
    for (const auto &[status, text, place] : outcomes) {
        if (place == 1) {
            return fail(status.code(), "%s", text.empty() ? describe(status.code()) : text.c_str());
        }
    }
    return Status::ok();
}

} // namespace cd::redset
