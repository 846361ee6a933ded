// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "os/loaded_objects.h"

#include <elf.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstddef>
#include <cstring>

namespace cd::os {
namespace {

// The loader knows the program itself as "".
bool is_program(const dl_phdr_info &info) {
    return info.dlpi_name == nullptr || *info.dlpi_name == '\0';
}

std::string without_directory(const std::string &path) {
    return path.substr(path.find_last_of('/') + 1);
}

std::string name_of(const dl_phdr_info &info) {
    if (!is_program(info)) {
        return without_directory(info.dlpi_name);
    }
    std::array<char, PATH_MAX> path = {};
    const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
    return length > 0 ? without_directory({path.data(), static_cast<size_t>(length)}) : "";
}

std::string hexadecimal(const unsigned char *bytes, size_t count) {
    constexpr char digits[] = "0123456789abcdef";
    std::string text;
    for (size_t i = 0; i < count; ++i) {
        text += digits[bytes[i] >> 4U];
        text += digits[bytes[i] & 15U];
    }
    return text;
}

// Notes are a header, a name and a description each, the latter two padded to four bytes.
std::string build_id_in(const std::byte *at, size_t size) {
    constexpr auto padded = [](size_t length) { return (length + 3) / 4 * 4; };
    while (size >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) note = {};
        std::memcpy(&note, at, sizeof note);
        const size_t name = padded(note.n_namesz);
        const size_t whole = sizeof note + name + padded(note.n_descsz);
        if (whole > size) {
            break;
        }
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof ELF_NOTE_GNU &&
            std::memcmp(at + sizeof note, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0) {
            const auto *id = reinterpret_cast<const unsigned char *>(at + sizeof note + name);
            return hexadecimal(id, note.n_descsz);
        }
        at += whole;
        size -= whole;
    }
    return "";
}

std::string build_id_of(const dl_phdr_info &info) {
    for (size_t i = 0; i < info.dlpi_phnum; ++i) {
        const auto &header = info.dlpi_phdr[i];
        if (header.p_type == PT_NOTE) {
            const uintptr_t at = info.dlpi_addr + header.p_vaddr;
            // NOLINTNEXTLINE(performance-no-int-to-ptr)
            std::string id = build_id_in(reinterpret_cast<const std::byte *>(at), header.p_memsz);
            if (!id.empty()) {
                return id;
            }
        }
    }
    return "";
}

struct Stretch {
    uintptr_t begin = 0;
    uintptr_t end = 0;
};

// Returns the pages of the writable part that the loader has made read-only.
Stretch read_only_part_of(const dl_phdr_info &info) {
    const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
    for (size_t i = 0; i < info.dlpi_phnum; ++i) {
        const auto &header = info.dlpi_phdr[i];
        if (header.p_type == PT_GNU_RELRO) {
            const uintptr_t begin = info.dlpi_addr + header.p_vaddr;
            return {begin / page * page, (begin + header.p_memsz) / page * page};
        }
    }
    return {};
}

int add_segments(dl_phdr_info *info, size_t /*size*/, void *into) {
    const std::string build_id = build_id_of(*info);
    const Stretch read_only = read_only_part_of(*info);
    const auto add = [&](uintptr_t begin, uintptr_t end) {
        if (begin < end) {
            static_cast<std::vector<DataSegment> *>(into)->push_back(
                {begin, end, info->dlpi_addr, name_of(*info), build_id, is_program(*info)});
        }
    };
    for (size_t i = 0; i < info->dlpi_phnum; ++i) {
        const auto &header = info->dlpi_phdr[i];
        if (header.p_type == PT_LOAD && (header.p_flags & PF_W) != 0) {
            const uintptr_t begin = info->dlpi_addr + header.p_vaddr;
            const uintptr_t end = begin + header.p_memsz;
            add(begin, std::min(end, std::max(begin, read_only.begin)));
            add(std::max(begin, read_only.end), end);
        }
    }
    return 0;
}

int take_count(dl_phdr_info *info, size_t /*size*/, void *into) {
    *static_cast<uint64_t *>(into) = info->dlpi_adds + info->dlpi_subs;
    return 1; // the first object knows the counts already
}

} // namespace

std::vector<DataSegment> data_segments() {
    std::vector<DataSegment> segments;
    ::dl_iterate_phdr(add_segments, &segments);
    std::ranges::sort(segments, {}, &DataSegment::begin);
    return segments;
}

uint64_t loading_count() {
    uint64_t count = 0;
    ::dl_iterate_phdr(take_count, &count);
    return count;
}

} // namespace cd::os
