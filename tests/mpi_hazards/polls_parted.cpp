// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// A CD begins, or is advanced, in a replay between polls in vain that the log has as one entry,
// since in the first execution nothing came between them.
#include "hazard.h"

#include <optional>

namespace polls_parted {

namespace {

constexpr int tag = 1;

// Rank 0 with itself.
class Waiting {
public:
    void keep_in(const Domain &domain) {
        const cd_addrspec own = {this, sizeof *this, READ_WRITE, GLOBAL};
        CHECK(add_to_cd_via_copy(domain.handle(), &own, 1) == SUCCESS);
    }
    void begin() { MPI_Irecv(&number_, 1, MPI_INT, 0, tag, MPI_COMM_SELF, &request_); }
    void test(int times) {
        for (int i = 0; i < times; ++i) {
            CHECK(!tells_of_it());
        }
    }
    void end() {
        const int sent = 5;
        MPI_Send(&sent, 1, MPI_INT, 0, tag, MPI_COMM_SELF);
        MPI_Wait(&request_, MPI_STATUS_IGNORE);
        CHECK(number_ == sent);
    }

private:
    bool tells_of_it() {
        int flag = 0;
        MPI_Test(&request_, &flag, MPI_STATUS_IGNORE);
        return flag != 0;
    }
    int number_ = 0;
    MPI_Request request_ = MPI_REQUEST_NULL;
};

// first, second: polls before the first advance in a replay, and from there to the second one.
void advance_between(int polls, int first, int second) {
    if (world_rank() != 0) {
        return;
    }
    Waiting waiting;
    Domain domain;
    waiting.keep_in(domain);
    waiting.begin();
    waiting.test(polls);
    waiting.end();
    domain.restore();
    waiting.begin();
    waiting.test(first);
    domain.advance();
    waiting.test(polls - first);
    waiting.end();
    domain.restore();
    waiting.test(second);
    domain.advance();
    for (int times = 0; times < 3; ++times) {
        waiting.test(polls - first - second);
        waiting.end();
        domain.restore();
    }
}

} // namespace

HAZARD(advance_between_tests_in_vain_that_the_log_counts) { advance_between(6, 1, 2); }

HAZARD(child_between_tests_in_vain_that_the_log_counts) {
    if (world_rank() != 0) {
        return;
    }
    constexpr int polls = 6;
    Waiting waiting;
    Domain domain;
    waiting.keep_in(domain);
    waiting.begin();
    waiting.test(polls);
    waiting.end();
    domain.restore();
    waiting.begin();
    waiting.test(1);
    std::optional<Domain> child(std::in_place, domain.handle());
    waiting.keep_in(*child);
    waiting.test(2);
    child->advance();
    waiting.test(polls - 3);
    waiting.end();
    for (int times = 0; times < 2; ++times) {
        child->restore();
        waiting.test(polls - 3);
        waiting.end();
    }
    child.reset();
    domain.restore();
    waiting.begin();
    waiting.test(polls);
    waiting.end();
}

} // namespace polls_parted
