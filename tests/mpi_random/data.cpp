// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "data.h"

void fill(int *data, int count, uint64_t seed, const State &state) {
    const auto base = static_cast<unsigned>(mix(seed, state.hash));
    for (int i = 0; i < count; ++i) {
        data[i] = static_cast<int>(base + static_cast<unsigned>(i) * 2654435761U);
    }
}

uint64_t hash_of(const int *data, int count) {
    uint64_t hash = 0xCBF29CE484222325U;
    for (int i = 0; i < count; ++i) {
        hash = (hash ^ static_cast<unsigned>(data[i])) * 0x100000001B3U;
    }
    return hash;
}

int some_count(Random &random) {
    const int choice = random.below(20);
    return choice == 0 ? 0 : choice < 14 ? 1 + random.below(20) : choice < 18 ? 1200 : longest;
}

Layout some_layout(Random &random, int count) {
    Layout layout = {MPI_INT, count, 1};
    switch (random.below(8)) {
    case 0:
        layout.elements = 1;
        layout.stride = 2;
        MPI_Type_vector(count, 1, 2, MPI_INT, &layout.type);
        break;
    case 1:
        layout.elements = 1;
        MPI_Type_contiguous(count, MPI_INT, &layout.type);
        break;
    case 2:
        layout.stride = 3;
        MPI_Type_create_resized(MPI_INT, 0, 3 * sizeof(int), &layout.type);
        break;
    case 3: {
        std::vector<int> places;
        for (int i = 0; i < count; ++i) {
            places.push_back(2 * i);
        }
        layout.elements = 1;
        layout.stride = 2;
        MPI_Type_create_indexed_block(count, 1, places.data(), MPI_INT, &layout.type);
        break;
    }
    case 4: {
        const int lengths[] = {count / 2, count - count / 2};
        const MPI_Aint places[] = {0, static_cast<MPI_Aint>(sizeof(int)) * lengths[0]};
        const MPI_Datatype types[] = {MPI_INT, MPI_INT};
        layout.elements = 1;
        MPI_Type_create_struct(2, lengths, places, types, &layout.type);
        break;
    }
    default:
        MPI_Type_dup(MPI_INT, &layout.type);
        break;
    }
    MPI_Type_commit(&layout.type);
    return layout;
}

std::vector<int> spread(const Layout &layout, const std::vector<int> &numbers) {
    const auto count = static_cast<int>(numbers.size());
    std::vector<int> memory(static_cast<size_t>(layout.span(count)), -1);
    for (int i = 0; i < count; ++i) {
        memory[static_cast<size_t>(i * layout.stride)] = numbers[static_cast<size_t>(i)];
    }
    return memory;
}

std::vector<int> gather(const Layout &layout, const std::vector<int> &memory, int count) {
    std::vector<int> numbers;
    for (int i = 0; i < count; ++i) {
        numbers.push_back(memory[static_cast<size_t>(i * layout.stride)]);
    }
    return numbers;
}

uint64_t hash_of(const MPI_Status &status, MPI_Datatype type) {
    int count = 0;
    MPI_Get_count(&status, type, &count);
    return mix(mix(static_cast<unsigned>(status.MPI_SOURCE), static_cast<unsigned>(status.MPI_TAG)),
               static_cast<unsigned>(count));
}
