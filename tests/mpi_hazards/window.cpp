// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "window.h"

MPI_Win window_over(Numbers &memory) {
    MPI_Win window = MPI_WIN_NULL;
    MPI_Win_create(memory.data(), static_cast<MPI_Aint>(memory.size() * sizeof(int)), sizeof(int),
                   MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    return window;
}

void put(const Numbers &data, int to, size_t at, MPI_Win window) {
    const int count = static_cast<int>(data.size());
    MPI_Put(data.data(), count, MPI_INT, to, static_cast<MPI_Aint>(at), count, MPI_INT, window);
}

void get(Numbers &data, int from, size_t at, MPI_Win window) {
    const int count = static_cast<int>(data.size());
    MPI_Get(data.data(), count, MPI_INT, from, static_cast<MPI_Aint>(at), count, MPI_INT, window);
}

Numbers part(const Numbers &memory, size_t first, size_t count) {
    return {memory.begin() + static_cast<std::ptrdiff_t>(first),
            memory.begin() + static_cast<std::ptrdiff_t>(first + count)};
}
