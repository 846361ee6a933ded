// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "steps.h"

#include <sched.h>

void complete(Part &part, std::vector<MPI_Request> &requests, std::vector<MPI_Status> &statuses) {
    Random &random = part.own;
    uint64_t &order = part.received.in_this_order;
    const auto count = static_cast<int>(requests.size());
    statuses.resize(requests.size());
    const auto all_at_once = [&] { order = mix(order, 1); };
    const auto one = [&](int index, const MPI_Status &status) {
        statuses[static_cast<size_t>(index)] = status;
        order = mix(order, static_cast<uint64_t>(index));
    };
    MPI_Status status = {};
    switch (random.below(8)) {
    case 0:
        MPI_Waitall(count, requests.data(), statuses.data());
        all_at_once();
        break;
    case 1:
        for (int i = count - 1; i >= 0; --i) {
            MPI_Wait(&requests[static_cast<size_t>(i)], &statuses[static_cast<size_t>(i)]);
            part.pause();
        }
        break;
    case 2:
        for (int index = 0; index != MPI_UNDEFINED;) {
            MPI_Waitany(count, requests.data(), &index, &status);
            if (index != MPI_UNDEFINED) {
                one(index, status);
                part.pause();
            }
        }
        break;
    case 3:
    case 4: {
        const bool test = random.percent(50);
        std::vector<int> indices(requests.size() + 1);
        std::vector<MPI_Status> some(requests.size() + 1);
        for (int found = 0; found != MPI_UNDEFINED;) {
            test ? MPI_Testsome(count, requests.data(), &found, indices.data(), some.data())
                 : MPI_Waitsome(count, requests.data(), &found, indices.data(), some.data());
            for (int i = 0; found != MPI_UNDEFINED && i < found; ++i) {
                one(indices[static_cast<size_t>(i)], some[static_cast<size_t>(i)]);
            }
            if (found == 0) {
                sched_yield();
            } else {
                part.pause();
            }
        }
        break;
    }
    case 5:
        for (int flag = 0; !flag;) {
            MPI_Testall(count, requests.data(), &flag, statuses.data());
            if (!flag) {
                sched_yield();
            }
        }
        break;
    case 6:
        for (int index = 0; index != MPI_UNDEFINED;) {
            int flag = 0;
            MPI_Testany(count, requests.data(), &index, &flag, &status);
            if (flag && index != MPI_UNDEFINED) {
                one(index, status);
                part.pause();
            } else if (!flag) {
                index = 0;
                sched_yield();
            }
        }
        break;
    default:
        for (int i = 0; i < count; ++i) {
            for (int flag = 0; !flag;) {
                MPI_Test(&requests[static_cast<size_t>(i)], &flag,
                         &statuses[static_cast<size_t>(i)]);
                if (!flag) {
                    sched_yield();
                }
            }
            part.pause();
        }
        break;
    }
}
