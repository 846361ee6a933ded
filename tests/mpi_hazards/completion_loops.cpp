// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Loops over requests that a failure breaks off somewhere: the first part is answered by the log,
// the rest is live.
#include "hazard.h"

#include <functional>

namespace completion_loops {

namespace {

constexpr int messages = 8;

// Rank 1 sends message i when it is told to go on for the i-th time.
void send_one_by_one() {
    for (int i = 0; i < messages; ++i) {
        await(0);
        send(numbers(i, i % 3 == 0 ? rendezvous : eager), 0, i);
    }
}

// A loop that stops after as many completions as it is told.
class Loop {
public:
    using Step = std::function<std::vector<int>(std::vector<MPI_Request> &)>;

    Loop() {
        for (int i = 0; i < messages; ++i) {
            buffers_.push_back(numbers(99, i % 3 == 0 ? rendezvous : eager));
        }
    }

    void keep(Domain &domain) {
        for (Numbers &buffer : buffers_) {
            domain.keep(buffer);
        }
    }

    // Each completion lets rank 1 send the next, so that it is known which message comes.
    void run(int last, const Step &step) {
        std::vector<MPI_Request> requests(messages);
        for (int i = 0; i < messages; ++i) {
            MPI_Irecv(buffers_[i].data(), static_cast<int>(buffers_[i].size()), MPI_INT, 1, i,
                      MPI_COMM_WORLD, &requests[i]);
        }
        int done = 0;
        while (done < last) {
            signal(1);
            std::vector<int> indices;
            while (indices.empty()) {
                indices = step(requests);
            }
            CHECK(indices == std::vector<int>{done});
            CHECK(requests[done] == MPI_REQUEST_NULL);
            CHECK(buffers_[done] == numbers(done, buffers_[done].size()));
            ++done;
        }
        if (last == messages) {
            step_after_the_last(requests);
        }
    }

private:
    static void step_after_the_last(std::vector<MPI_Request> &requests) {
        int count = 0;
        std::vector<int> indices(messages);
        MPI_Waitsome(messages, requests.data(), &count, indices.data(), MPI_STATUSES_IGNORE);
        CHECK(count == MPI_UNDEFINED);
    }

    std::vector<Numbers> buffers_;
};

void breaks_off_everywhere(const Loop::Step &step) {
    if (world_rank() == 1) {
        send_one_by_one();
        return;
    }
    Loop loop;
    Domain domain;
    loop.keep(domain);
    for (int last = 0; last < messages; ++last) {
        loop.run(last, step);
        domain.restore();
    }
    loop.run(messages, step);
    domain.restore();
    loop.run(messages, step);
}

} // namespace

HAZARD(log_ends_in_a_waitsome_loop) {
    breaks_off_everywhere([](std::vector<MPI_Request> &requests) {
        int count = 0;
        std::vector<int> indices(messages);
        std::vector<MPI_Status> statuses(messages);
        MPI_Waitsome(messages, requests.data(), &count, indices.data(), statuses.data());
        for (int k = 0; k < count; ++k) {
            CHECK(statuses[k].MPI_TAG == indices[k]);
        }
        indices.resize(count);
        return indices;
    });
}

HAZARD(log_ends_in_a_testsome_loop) {
    breaks_off_everywhere([](std::vector<MPI_Request> &requests) {
        int count = 0;
        std::vector<int> indices(messages);
        MPI_Testsome(messages, requests.data(), &count, indices.data(), MPI_STATUSES_IGNORE);
        indices.resize(count);
        return indices;
    });
}

HAZARD(log_ends_in_a_waitany_loop) {
    breaks_off_everywhere([](std::vector<MPI_Request> &requests) {
        int index = 0;
        MPI_Status status;
        MPI_Waitany(messages, requests.data(), &index, &status);
        CHECK(status.MPI_TAG == index);
        return std::vector<int>{index};
    });
}

HAZARD(log_ends_in_a_testany_loop) {
    breaks_off_everywhere([](std::vector<MPI_Request> &requests) {
        int index = 0;
        int flag = 0;
        MPI_Testany(messages, requests.data(), &index, &flag, MPI_STATUS_IGNORE);
        return flag != 0 ? std::vector<int>{index} : std::vector<int>{};
    });
}

HAZARD(log_ends_in_a_test_loop) {
    breaks_off_everywhere([](std::vector<MPI_Request> &requests) {
        for (int i = 0; i < messages; ++i) {
            int flag = 0;
            if (requests[i] != MPI_REQUEST_NULL) {
                MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE);
            }
            if (flag != 0) {
                return std::vector<int>{i};
            }
        }
        return std::vector<int>{};
    });
}

} // namespace completion_loops
