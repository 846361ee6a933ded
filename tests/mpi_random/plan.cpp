// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "plan.h"

#include "random.h"

#include <array>

namespace {

enum class Slot { empty, pending, persistent_idle, persistent_pending };

class Planner {
public:
    Planner(uint64_t seed, Plan plan) : random_(seed), plan_(plan) { alive_[0] = true; }

    std::vector<Step> plan() {
        const int count =
            plan_ == Plan::of_a_sibling ? 1 + random_.below(8) : 8 + random_.below(25);
        while (static_cast<int>(steps_.size()) < count) {
            add_one();
        }
        finish(all_pending());
        for (int slot = 0; slot < slots; ++slot) {
            if (slots_[slot] == Slot::persistent_idle) {
                add(Step::Kind::free_persistent, 0, slot, 0);
            }
        }
        if (window_) {
            add(Step::Kind::free_window, 0, 0, 0);
        }
        for (int comm = 1; comm < comms; ++comm) {
            if (alive_[comm]) {
                add(Step::Kind::free_comm, comm, 0, 0);
            }
        }
        return steps_;
    }

private:
    void add(Step::Kind kind, int comm, int slot, unsigned mask) {
        steps_.push_back({kind, random_.next(), comm, slot, mask});
    }

    unsigned all_pending() const {
        unsigned mask = 0;
        for (int slot = 0; slot < slots; ++slot) {
            if (slots_[slot] == Slot::pending || slots_[slot] == Slot::persistent_pending) {
                mask |= 1U << slot;
            }
        }
        return mask;
    }

    void finish(unsigned mask) {
        if (mask == 0) {
            return;
        }
        add(Step::Kind::finish, 0, 0, mask);
        for (int slot = 0; slot < slots; ++slot) {
            if ((mask >> slot & 1) != 0) {
                slots_[slot] = slots_[slot] == Slot::pending ? Slot::empty : Slot::persistent_idle;
            }
        }
    }

    int some_comm() {
        const int comm = random_.below(comms);
        return alive_[comm] ? comm : 0;
    }

    void add_one() {
        const int slot = random_.below(slots);
        const int comm = some_comm();
        const int choice = random_.below(100);
        // What else a sibling may not do. NOLINTNEXTLINE(bugprone-branch-clone)
        if (plan_ == Plan::of_a_sibling && choice < 18) {
            add(Step::Kind::exchange, comm, 0, 0);
        } else if (plan_ == Plan::with_siblings && random_.percent(15)) {
            add(Step::Kind::run_siblings, comm, 0, 0);
        } else if (choice < 8) {
            add(Step::Kind::use_objects, 0, 0, 0);
        } else if (choice < 13) {
            add(Step::Kind::change_attribute, comm, 0, 0);
        } else if (choice < 18) {
            make_use_or_free_window();
        } else if (choice < 35) {
            add(Step::Kind::batch, comm, 0, 0);
        } else if (choice < 42) {
            add(Step::Kind::any_source, comm, 0, 0);
        } else if (choice < 52) {
            add(Step::Kind::collective, comm, 0, 0);
        } else if (choice < 57) {
            add(Step::Kind::exchange, comm, 0, 0);
        } else if (choice < 80) {
            use_slot(slot);
        } else if (choice < 88) {
            finish(all_pending() & static_cast<unsigned>(random_.next()));
        } else if (choice < 97) {
            make_or_free_comm(1 + random_.below(comms - 1));
        } else {
            add(Step::Kind::look_at_clock, 0, 0, 0);
        }
    }

    void make_use_or_free_window() {
        const bool ends = window_ && random_.percent(30);
        const auto in_use = ends ? Step::Kind::free_window : Step::Kind::use_window;
        add(window_ ? in_use : Step::Kind::make_window, 0, 0, 0);
        window_ = !ends;
    }

    // Messages in slots are the world's, so that a communicator can go while they are under way.
    void use_slot(int slot) {
        if (slots_[slot] == Slot::empty) {
            const int choice = random_.below(10);
            if (choice < 5) {
                add(Step::Kind::start, 0, slot, 0);
                slots_[slot] = Slot::pending;
                comm_in_slot_[slot] = 0;
            } else if (choice < 7) {
                const int comm = some_comm();
                add(Step::Kind::start_collective, comm, slot, 0);
                slots_[slot] = Slot::pending;
                comm_in_slot_[slot] = comm;
            } else {
                add(Step::Kind::init, 0, slot, 0);
                slots_[slot] = Slot::persistent_idle;
            }
        } else if (slots_[slot] == Slot::persistent_idle) {
            if (random_.percent(20)) {
                add(Step::Kind::free_persistent, 0, slot, 0);
                slots_[slot] = Slot::empty;
            } else {
                add(Step::Kind::start_again, 0, slot, 0);
                slots_[slot] = Slot::persistent_pending;
            }
        }
    }

    // Open MPI 4.1 crashes when a communicator is freed while a collective is under way on it.
    bool is_busy(int comm) const {
        for (int slot = 0; slot < slots; ++slot) {
            if (slots_[slot] == Slot::pending && comm_in_slot_[slot] == comm) {
                return true;
            }
        }
        return false;
    }

    void make_or_free_comm(int comm) {
        if (is_busy(comm)) {
            return;
        }
        add(alive_[comm] ? Step::Kind::free_comm : Step::Kind::make_comm, comm, 0, 0);
        alive_[comm] = !alive_[comm];
    }

    Random random_;
    Plan plan_;
    std::vector<Step> steps_;
    std::array<Slot, slots> slots_ = {};
    std::array<int, slots> comm_in_slot_ = {};
    std::array<bool, comms> alive_ = {};
    bool window_ = false;
};

} // namespace

std::vector<Step> plan_of(uint64_t seed, Plan plan) { return Planner(seed, plan).plan(); }

std::vector<Operation> operations_of(uint64_t seed, int rank, int step_count, int outer) {
    Random random(mix(seed, static_cast<uint64_t>(rank) + 1));
    std::vector<Operation> operations;
    int depth = outer;
    int failures = random.below(7);
    const auto add = [&](Operation::Kind kind, int step = 0) {
        operations.push_back({kind, step, 0, 0, 0});
    };
    // The last operation, or in the midst of it.
    const auto fails = [&](int point) {
        Operation &failing = operations.back();
        failing.level = random.below(depth);
        failing.visit = random.percent(70) ? 1 : 2 + random.below(2);
        failing.point = point;
        --failures;
    };
    const auto maybe_fail = [&](int chance) {
        if (depth > 0 && failures > 0 && random.percent(chance)) {
            add(Operation::Kind::fail);
            fails(0);
        }
    };
    for (int step = 0; step < step_count; ++step) {
        if (depth > outer && random.percent(12)) {
            maybe_fail(30);
            --depth;
            add(Operation::Kind::close);
        }
        while (depth < 3 && random.percent(depth == 0 ? 50 : 12)) {
            ++depth;
            add(Operation::Kind::open);
        }
        if (depth > 0 && random.percent(5)) {
            add(Operation::Kind::advance);
        }
        add(Operation::Kind::step, step);
        if (depth > 0 && failures > 0 && random.percent(20)) {
            fails(1 + random.below(random.percent(50) ? 3 : 15));
        }
        maybe_fail(15);
    }
    while (depth > outer) {
        maybe_fail(60);
        --depth;
        add(Operation::Kind::close);
    }
    return operations;
}
