// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// cd_run and injected failures: the rank that is named runs again, the other one goes on and
// answers each message once.
#include "cd/control.h"
#include "hazard.h"

#include <string>

namespace running_again {

namespace {

constexpr int steps = 5;

// Twice what was sent, once for each message.
void serve(int messages) {
    for (int i = 0; i < messages; ++i) {
        Numbers values = receive(eager, 0, i);
        for (int &value : values) {
            value *= 2;
        }
        send(values, 0, i);
    }
}

// What rank 0 does in its CDs: each step adds the answer to the state.
struct Work {
    Numbers state = numbers(1, eager);
    int step = 0;
    int runs = 0;
    int runs_around = 0;
};

int take_step(cd_handle cd, void *context) {
    auto &work = *static_cast<Work *>(context);
    const cd_addrspec keep = {work.state.data(), work.state.size() * sizeof(int), READ_WRITE,
                              GLOBAL};
    CHECK(add_to_cd_via_copy(cd, &keep, 1) == SUCCESS);
    ++work.runs;
    send(work.state, 1, work.step);
    const Numbers answer = receive(eager, 1, work.step);
    for (size_t i = 0; i < eager; ++i) {
        work.state[i] += answer[i] % 1000;
    }
    return 0;
}

int take_all_steps(cd_handle cd, void *context) {
    auto &work = *static_cast<Work *>(context);
    ++work.runs_around;
    for (work.step = 0; work.step < steps; ++work.step) {
        if (cd_run(cd, nullptr, take_step, context) != SUCCESS) {
            return -1;
        }
    }
    return 0;
}

Numbers expected() {
    Numbers state = numbers(1, eager);
    for (int step = 0; step < steps; ++step) {
        for (int &value : state) {
            value += 2 * value % 1000;
        }
    }
    return state;
}

// Runs the steps with these failures at rank 0, and returns what came of it.
Work run_with(const std::string &injections) {
    Work work;
    const Domain root;
    CHECK(cd_inject(injections.c_str()) == SUCCESS);
    CHECK(cd_run(root.handle(), nullptr, take_all_steps, &work) == SUCCESS);
    CHECK(work.state == expected());
    return work;
}

} // namespace

HAZARD(injected_failures_run_single_steps_again) {
    if (world_rank() == 1) {
        serve(steps);
        return;
    }
    // The third run of a step, and two in a row; what is meant for another rank hits nobody.
    const Work work = run_with("cd=0/*/2/0,at=3;cd=0/hazard/2/0,at=5,times=2;cd=1/*/*/*,times=all");
    CHECK(work.runs == steps + 3);
    CHECK(work.runs_around == 1);
}

HAZARD(a_step_that_fails_for_good_runs_all_steps_again) {
    if (world_rank() == 1) {
        serve(steps);
        return;
    }
    // The third step fails as often as it may be tried. Then all three are replayed.
    const Work work = run_with("cd=0/hazard/2/0,at=3,times=3");
    CHECK(work.runs == 2 + CD_RUN_TRIES + steps);
    CHECK(work.runs_around == 2);
}

} // namespace running_again
