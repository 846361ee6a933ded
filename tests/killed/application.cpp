// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "application.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

namespace killed {
namespace {

uint8_t in_data[half * cell_size];
uint8_t *elsewhere = nullptr;

} // namespace

void map_memory() {
    constexpr size_t length = (cells - half) * cell_size;
    unsigned pages = 0;
    if (::getrandom(&pages, sizeof(pages), 0) != sizeof(pages)) {
        std::abort();
    }
    const uintptr_t hint = uintptr_t{0x200000000000} + uintptr_t{pages % 0x1000000U} * 4096;
    void *at = ::mmap(reinterpret_cast<void *>(hint), length, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) {
        std::abort();
    }
    elsewhere = static_cast<uint8_t *>(at);
    if (cd_name_region("elsewhere", elsewhere, length) != CD_SUCCESS) {
        std::fprintf(stderr, "%s\n", cd_last_error_message());
        std::abort();
    }
}

uint8_t *cell(int index) {
    return index < half ? in_data + static_cast<size_t>(index) * cell_size
                        : elsewhere + static_cast<size_t>(index - half) * cell_size;
}

void write_cell(int index, uint8_t value) { std::memset(cell(index), value, cell_size); }

void write_memory(const model::Memory &memory) {
    for (int i = 0; i < cells; ++i) {
        write_cell(i, memory[static_cast<size_t>(i)]);
    }
}

void poison_memory() {
    for (int i = 0; i < cells; ++i) {
        write_cell(i, poison);
    }
}

int read_cell(int index) {
    const uint8_t *bytes = cell(index);
    const bool alike =
        std::all_of(bytes, bytes + cell_size, [&](uint8_t byte) { return byte == bytes[0]; });
    return alike ? bytes[0] : -1;
}

int file_of(int slot) {
    static const std::array<int, model::slot_count> files = [] {
        std::array<int, model::slot_count> opened = {};
        for (int &file : opened) {
            std::string path = std::filesystem::temp_directory_path() / "cd-killed-file-XXXXXX";
            file = ::mkostemp(path.data(), O_CLOEXEC);
            if (file < 0) {
                std::abort();
            }
            ::unlink(path.c_str());
        }
        return opened;
    }();
    return files[static_cast<size_t>(slot)];
}

int regenerate(cd_addrspec *list, int count) {
    for (int i = 0; i < count; ++i) {
        const auto *at = static_cast<const uint8_t *>(list[i].address);
        const bool is_in_data = in_data <= at && at < in_data + sizeof in_data;
        const auto first =
            is_in_data ? (at - in_data) / cell_size : half + (at - elsewhere) / cell_size;
        for (size_t cell = 0; cell < list[i].length / cell_size; ++cell) {
            const int index = static_cast<int>(first + cell);
            write_cell(index, model::regenerated(0, index, 0));
        }
    }
    return 0;
}

std::vector<cd_addrspec> ranges(const model::Step &step) {
    std::vector<cd_addrspec> list;
    for (const model::Element &element : step.list) {
        list.push_back({cell(element.offset), static_cast<size_t>(element.length) * cell_size,
                        static_cast<addr_type>(element.access),
                        static_cast<addr_scope>(element.scope)});
    }
    return list;
}

} // namespace killed
