// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "receives.h"

// What rank 0 does with rank 1, and its re-execution does otherwise.

// Rank 1 sends two messages and receives one.
inline void be_the_other() {
    send(numbers(1, eager), 0, 1);
    send(numbers(2, eager), 0, 2);
    receive(eager, 0, 3);
}

inline int receive_first(Numbers &buffer) {
    return MPI_Recv(buffer.data(), eager, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

inline int receive_second(Numbers &buffer) {
    return MPI_Recv(buffer.data(), eager, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

inline int send_third(const Numbers &data) {
    return MPI_Send(data.data(), static_cast<int>(data.size()), MPI_INT, 1, 3, MPI_COMM_WORLD);
}
