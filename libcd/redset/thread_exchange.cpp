// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/thread_exchange.h"

#include "base/no_throw.h"
#include "base/saved_status.h"
#include "redset/scheme.h"

#include <algorithm>
#include <cstring>
#include <thread>

namespace cd::redset {
class Meeting::Member : public Exchange {
public:
    Member(Meeting &meeting, int self)
        : meeting_(meeting), self_(self), next_(index(meeting.members_)) {}

    int members() const override { return meeting_.members_; }
    int self() const override { return self_; }

    Status gather(std::span<const std::byte> own, std::vector<Bytes> &all) override {
        Status status =
            act_and_meet([&] { meeting_.gathered_[index(self_)].assign(own.begin(), own.end()); });
        return status ? act_and_meet([&] { all = meeting_.gathered_; }) : status;
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
    template <typename Action> Status act_and_meet(const Action &action) {
        Status acted = catch_exceptions(action);
        if (!acted) {
            meeting_.leave();
            return acted;
        }
        return meeting_.meet();
    }

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

Status Meeting::meet() {
    std::unique_lock lock(mutex_);
    const auto round = round_;
    if (++waiting_ == members_ && !broken_) {
        waiting_ = 0;
        ++round_;
        changed_.notify_all();
    }
    changed_.wait(lock, [&] { return broken_ || round_ != round; });
    return round_ != round ? Status::ok()
                           : fail(CD_ERROR_STORE_IO, "another member of the set is gone");
}

void Meeting::leave() {
    const std::lock_guard lock(mutex_);
    broken_ = true;
    changed_.notify_all();
}

Status run_members(int members, const std::function<Status(Exchange &)> &member) {
    Meeting meeting(members);
    std::mutex mutex;
    SavedStatus first; // failure
    const auto leave = [&](Status failure) {
        const std::lock_guard lock(mutex);
        if (first.is_ok()) { // the others fail when they learn of it
            first = SavedStatus(failure);
        }
        meeting.leave();
    };
    const auto take_part = [&](int self) {
        Status status = catch_exceptions([&] {
            const std::unique_ptr<Exchange> exchange = meeting.member(self);
            return member(*exchange);
        });
        if (!status) {
            leave(status);
        }
    };
    std::vector<std::thread> threads;
    Status started = catch_exceptions([&] {
        for (int self = 0; self < members; ++self) {
            threads.emplace_back(take_part, self);
        }
    });
    if (!started) {
        leave(fail(CD_ERROR_NO_MEMORY, "a thread for member %zu of %d cannot be started: %s",
                   threads.size(), members, SavedStatus(started).text()));
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    return first.again();
}

} // namespace cd::redset
