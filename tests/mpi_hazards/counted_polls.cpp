// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "counted_polls.h"

namespace {

constexpr int count_tag = 2;

int polls_until_found(const Polling &polling) {
    int in_vain = 0;
    polling.begin();
    while (!polling.poll()) {
        ++in_vain;
    }
    polling.take();
    send({in_vain}, 1, count_tag);
    return in_vain;
}

} // namespace

void let_rank_1_go_on() {
    cd_handle unlogged = create_cd(nullptr, nullptr, MPI_LOGGING_DISABLED, "unlogged", nullptr);
    CHECK(unlogged != nullptr);
    signal(1);
    await(1);
    CHECK(commit_cd(unlogged) == SUCCESS);
}

void finds_nothing_as_often(Domain &domain, const Polling &polling, int in_log) {
    polling.begin();
    for (int i = 0; i < in_log; ++i) {
        CHECK(!polling.poll());
    }
    domain.restore();
    let_rank_1_go_on();
    const int in_vain = polls_until_found(polling);
    CHECK(in_vain >= in_log);
    domain.restore();
    CHECK(polls_until_found(polling) == in_vain);
}

void go_on_when_told(const std::function<void()> &part) {
    await(0);
    part();
    signal(0);
    CHECK(receive(1, 0, count_tag).front() >= polls_in_log);
}
