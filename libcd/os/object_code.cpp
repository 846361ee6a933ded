// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "os/object_code.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <vector>

namespace cd::os {
namespace {

using Segment = ElfW(Phdr);
using Visit = std::function<void(const void *, size_t)>;

bool is_loaded(const Segment &segment) {
    return segment.p_type == PT_LOAD && (segment.p_flags & PF_R) != 0;
}
bool is_constant(const Segment &segment) {
    return is_loaded(segment) && (segment.p_flags & PF_W) == 0;
}

// From glibc 2.36 on elf.h has it.
constexpr ElfW(Sxword) relative_in_place = 36; // DT_RELR

// Whether the loader writes into the code; or where addresses lead that the object's data begin
// with is only said by these data, which a library's program may have changed.
bool is_not_told_by_code(const dl_phdr_info &info) {
    for (size_t i = 0; i < info.dlpi_phnum; ++i) {
        const Segment &segment = info.dlpi_phdr[i];
        if (segment.p_type != PT_DYNAMIC) {
            continue;
        }
        const uintptr_t at = info.dlpi_addr + segment.p_vaddr;
        // NOLINTNEXTLINE(performance-no-int-to-ptr)
        for (const auto *entry = reinterpret_cast<const ElfW(Dyn) *>(at); entry->d_tag != DT_NULL;
             ++entry) {
            const bool is_flag = entry->d_tag == DT_FLAGS && (entry->d_un.d_val & DF_TEXTREL) != 0;
            const bool is_in_data = entry->d_tag == DT_REL || entry->d_tag == relative_in_place;
            if (entry->d_tag == DT_TEXTREL || is_flag || (!is_program(info) && is_in_data)) {
                return true;
            }
        }
    }
    return false;
}

// Without the ELF header, which is another one once the file was stripped.
size_t skipped_of(const Segment &segment) {
    return segment.p_offset == 0 ? std::min<size_t>(sizeof(ElfW(Ehdr)), segment.p_filesz) : 0;
}

// A debugger writes into the memory of a program, not into its file. false: that cannot be read.
bool visit_in_file(int file, const Segment &segment, const Visit &visit) {
    std::vector<char> buffer(size_t{256} << 10);
    for (size_t done = skipped_of(segment); done < segment.p_filesz;) {
        const size_t part = std::min<size_t>(buffer.size(), segment.p_filesz - done);
        const ssize_t got =
            ::pread(file, buffer.data(), part, static_cast<off_t>(segment.p_offset + done));
        if (got <= 0) {
            return false;
        }
        visit(buffer.data(), static_cast<size_t>(got));
        done += static_cast<size_t>(got);
    }
    return true;
}

void visit_in_memory(const dl_phdr_info &info, const Segment &segment, const Visit &visit) {
    const size_t skipped = skipped_of(segment);
    const uintptr_t at = info.dlpi_addr + segment.p_vaddr + skipped;
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    visit(reinterpret_cast<const void *>(at), segment.p_filesz - skipped);
}

// The file that runs, whatever has its name by now. -1, with errno: it cannot be opened.
int open_program() { return ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC); }

// Not if the loader was started with the program as its argument.
bool is_file_of(int file, const dl_phdr_info &info) {
    ElfW(Ehdr) header = {};
    std::vector<Segment> segments(info.dlpi_phnum);
    const size_t size = segments.size() * sizeof(Segment);
    return ::pread(file, &header, sizeof header, 0) == sizeof header &&
           header.e_phnum == info.dlpi_phnum &&
           ::pread(file, segments.data(), size, static_cast<off_t>(header.e_phoff)) ==
               static_cast<ssize_t>(size) &&
           std::memcmp(segments.data(), info.dlpi_phdr, size) == 0;
}

// Whether the program's file is there. It is, too, if only nothing can be opened now.
bool has_file(const dl_phdr_info &program) {
    const int file = open_program();
    if (file < 0) {
        return errno == EMFILE || errno == ENFILE || errno == ENOMEM;
    }
    const bool is_its = is_file_of(file, program);
    ::close(file);
    return is_its;
}

bool visit_program(const dl_phdr_info &info, const Visit &visit) {
    const int file = open_program();
    if (file < 0) {
        return false;
    }
    bool is_read = true;
    for (size_t i = 0; i < info.dlpi_phnum && is_read; ++i) {
        is_read = !is_loaded(info.dlpi_phdr[i]) || visit_in_file(file, info.dlpi_phdr[i], visit);
    }
    ::close(file);
    return is_read;
}

// Which file a library is of cannot be told.
bool visit_library(const dl_phdr_info &info, const Visit &visit) {
    for (size_t i = 0; i < info.dlpi_phnum; ++i) {
        if (is_constant(info.dlpi_phdr[i])) {
            visit_in_memory(info, info.dlpi_phdr[i], visit);
        }
    }
    return true;
}

struct Search {
    const DataSegment &object;
    const Visit &visit;
    bool is_read = false;
};

int visit_if_it_is(dl_phdr_info *info, size_t /*size*/, void *context) {
    auto &search = *static_cast<Search *>(context);
    if (info->dlpi_addr != search.object.base || info->dlpi_phdr != search.object.headers) {
        return 0;
    }
    search.is_read = search.object.program ? visit_program(*info, search.visit)
                                           : visit_library(*info, search.visit);
    return 1;
}

} // namespace

bool has_fixed_code(const dl_phdr_info &info) {
    const auto is_code = [](const Segment &segment) {
        return is_constant(segment) && (segment.p_flags & PF_X) != 0;
    };
    return std::any_of(info.dlpi_phdr, info.dlpi_phdr + info.dlpi_phnum, is_code) &&
           !is_not_told_by_code(info) && (!is_program(info) || has_file(info));
}

bool for_each_part_of_code(const DataSegment &object, const Visit &visit) {
    Search search = {object, visit};
    ::dl_iterate_phdr(visit_if_it_is, &search);
    return search.is_read;
}

} // namespace cd::os
