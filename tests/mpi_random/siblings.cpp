// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Programs that run beside each other in threads, each in a child of the domain that there is, with
// domains and failures of its own.
#include "program.h"
#include "steps.h"

#include <atomic>
#include <thread>

namespace {

// The threads' children come into being one after the other, and before any of them ends, so that
// each finds its log again.
class Turns {
public:
    explicit Turns(int count) : count_(count) {}

    void await(int turn) const {
        for (int now = next_; now < turn; now = next_) {
            next_.wait(now);
        }
    }
    void await_all() const { await(count_); }
    void pass() {
        ++next_;
        next_.notify_all();
    }

private:
    const int count_;
    std::atomic<int> next_ = 0;
};

cd_handle open_child(cd_handle parent) {
    const cd_handle child = create_cd(parent, nullptr, MPI_LOGGING_INHERIT, nullptr, nullptr);
    if (child == nullptr) {
        fail("create_cd in a thread", 0);
    }
    return child;
}

constexpr int most_siblings = 3;

// Of siblings that have ended, a restore of their parent writes it, too; so a re-execution has its
// own.
State &state_of(int number) {
    static State states[2][most_siblings];
    static std::atomic<unsigned> uses = 0;
    return states[uses++ / 7 % 2][number];
}

struct Sibling {
    MPI_Comm comm = MPI_COMM_NULL;
    uint64_t seed = 0;
    int rank = 0;
    Outcome outcome;
};

void run(Sibling &sibling, int number, cd_handle parent, Turns &turns) {
    std::vector<Step> steps = plan_of(sibling.seed, Plan::of_a_sibling);
    const auto count = static_cast<int>(steps.size());
    Program program(std::move(steps), operations_of(sibling.seed, sibling.rank, count, 1),
                    sibling.comm, state_of(number));
    turns.await(number);
    if (parent == nullptr) {
        turns.pass();
        sibling.outcome = program.undisturbed();
        sibling.outcome.order = 0;
        return;
    }
    const cd_handle child = open_child(parent);
    turns.pass();
    turns.await_all();
    sibling.outcome = program.disturbed(nullptr, child);
}

} // namespace

void run_siblings(Part &part) {
    std::vector<Sibling> siblings(static_cast<size_t>(2 + part.common.below(most_siblings - 1)));
    for (Sibling &sibling : siblings) {
        MPI_Comm_dup(part.comm, &sibling.comm);
        sibling.seed = part.common.next();
        sibling.rank = part.rank;
        part.pause();
    }
    Turns turns(static_cast<int>(siblings.size()));
    std::vector<std::thread> threads;
    for (size_t i = 0; i < siblings.size(); ++i) {
        threads.emplace_back(
            [&, i] { run(siblings[i], static_cast<int>(i), part.state.domain, turns); });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    for (Sibling &sibling : siblings) {
        part.received.in_any_order = mix(part.received.in_any_order, sibling.outcome.hash);
        part.received.in_this_order = mix(part.received.in_this_order, sibling.outcome.order);
        part.pause();
        MPI_Comm_free(&sibling.comm);
    }
}
