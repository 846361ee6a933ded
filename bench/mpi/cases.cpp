// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "mpi/cases.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace {

int own_rank() {
    static const int rank = [] {
        int found = 0;
        past_logger().comm_rank(MPI_COMM_WORLD, &found);
        return found;
    }();
    return rank;
}

} // namespace

void CommRank::sample(const Calls &measured, const Calls &, bool) {
    int rank = 0;
    for (int i = 0; i < units; ++i) {
        measured.comm_rank(MPI_COMM_WORLD, &rank);
    }
}

void PingPong::sample(const Calls &measured, const Calls &, bool) {
    const auto size = static_cast<int>(message_.size());
    const int other = 1 - own_rank();
    for (int i = 0; i < units / 2; ++i) {
        if (own_rank() == 0) {
            measured.send(message_.data(), size, MPI_BYTE, other, 0, MPI_COMM_WORLD);
        }
        measured.recv(message_.data(), size, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (own_rank() == 1) {
            measured.send(message_.data(), size, MPI_BYTE, other, 0, MPI_COMM_WORLD);
        }
    }
}

// Rank 0, whose clock counts, is the one that receives.
void Receive::sample(const Calls &measured, const Calls &others, bool replaying) {
    const auto size = static_cast<int>(message_.size());
    char empty = 0;
    for (int i = 0; i < units; ++i) {
        if (own_rank() == 0) {
            measured.recv(message_.data(), size, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (!replaying) {
                others.send(&empty, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
            }
        } else if (!replaying) {
            others.send(message_.data(), size, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
            others.recv(&empty, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
}

void Exchange::sample(const Calls &measured, const Calls &, bool) {
    const int other = 1 - own_rank();
    const double mine = own_rank();
    double others_number = 0;
    for (int i = 0; i < units; ++i) {
        std::array<MPI_Request, 2> requests;
        std::array<MPI_Status, 2> statuses;
        measured.irecv(&others_number, 1, MPI_DOUBLE, other, 0, MPI_COMM_WORLD, &requests[0]);
        measured.isend(&mine, 1, MPI_DOUBLE, other, 0, MPI_COMM_WORLD, &requests[1]);
        measured.waitall(2, requests.data(), statuses.data());
    }
}

void Allreduce::sample(const Calls &measured, const Calls &, bool) {
    const double mine = own_rank();
    double sum = 0;
    for (int i = 0; i < units; ++i) {
        measured.allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
}

void Stencil::sample(const Calls &measured, const Calls &, bool) {
    const auto width = static_cast<int>(columns);
    const int other = 1 - own_rank();
    double *const cells = cells_.data();
    double *const sent = cells + (own_rank() == 0 ? rows - 2 : 1) * pitch;
    double *const halo = cells + (own_rank() == 0 ? rows - 1 : 0) * pitch;
    static std::array<double, columns> above;
    static std::array<double, columns> here;
    for (int step = 0; step < units; ++step) {
        std::array<MPI_Request, 2> requests;
        std::array<MPI_Status, 2> statuses;
        measured.irecv(halo, width, MPI_DOUBLE, other, 0, MPI_COMM_WORLD, &requests[0]);
        measured.isend(sent, width, MPI_DOUBLE, other, 0, MPI_COMM_WORLD, &requests[1]);
        measured.waitall(2, requests.data(), statuses.data());
        double change = 0;
        std::copy_n(cells, columns, above.data());
        for (size_t i = 1; i + 1 < rows; ++i) {
            double *const row = cells + i * pitch;
            std::copy_n(row, columns, here.data());
            for (size_t j = 1; j + 1 < columns; ++j) {
                row[j] = 0.25 * (above[j] + row[j + pitch] + here[j - 1] + here[j + 1]) + 1.0;
                change = std::max(change, std::abs(row[j] - here[j]));
            }
            above = here;
        }
        double largest = 0;
        measured.allreduce(&change, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    }
}
