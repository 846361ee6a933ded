// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "model.h"

#include "cd/cd.h"

#include <vector>

// The memory of a program that is killed. The model's bytes are cells here, of so many bytes that
// writing them takes a while; a cell whose bytes are not alike is torn.
namespace killed {

constexpr int cells = model::arena_size;
constexpr int half = cells / 2; // lies in the program's data, the rest where chance has it
constexpr size_t cell_size = 700;
constexpr uint8_t poison = 0xEE;

// Gives the half that is not in the data a place and its name. Once in a process.
void map_memory();

uint8_t *cell(int index);

void write_cell(int index, uint8_t value);
void write_memory(const model::Memory &memory);
void poison_memory();

// -1: torn
int read_cell(int index);

// Writes what the model says, whichever function it takes this for.
int regenerate(cd_addrspec *list, int count);

// The descriptor of a slot of the model. Who calls this first opens them all, and whoever is forked
// then has the same files, which it moves for all.
int file_of(int slot);

// Ranges of a step; none crosses the border of the halves.
std::vector<cd_addrspec> ranges(const model::Step &step);

} // namespace killed
