// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "rma/window_policy.h"

#include "record_all/record_all.h"
#include "settings/settings.h"

#include "cd/mpi_log.h"

#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <optional>

namespace cd::logger {
namespace {

struct Search {
    ElfW(Addr) logger; // which needs libcd, too
    bool found = false;
};

bool needs_libcd(const dl_phdr_info &object) {
    const ElfW(Dyn) *dynamic = nullptr;
    for (int i = 0; i < object.dlpi_phnum; ++i) {
        if (object.dlpi_phdr[i].p_type == PT_DYNAMIC) {
            dynamic =
                reinterpret_cast<const ElfW(Dyn) *>(object.dlpi_addr + object.dlpi_phdr[i].p_vaddr);
        }
    }
    if (dynamic == nullptr) {
        return false;
    }
    ElfW(Addr) names = 0;
    for (const ElfW(Dyn) *entry = dynamic; entry->d_tag != DT_NULL; ++entry) {
        names = entry->d_tag == DT_STRTAB ? entry->d_un.d_ptr : names;
    }
    // The loader has made it an address, except in the vDSO, which needs nothing.
    if (names < object.dlpi_addr) {
        return false;
    }
    constexpr char wanted[] = "libcd.so";
    for (const ElfW(Dyn) *entry = dynamic; entry->d_tag != DT_NULL; ++entry) {
        if (entry->d_tag == DT_NEEDED &&
            std::strncmp(reinterpret_cast<const char *>(names + entry->d_un.d_val), wanted,
                         std::strlen(wanted)) == 0) {
            return true;
        }
    }
    return false;
}

int look_at(dl_phdr_info *object, size_t, void *context) {
    auto &search = *static_cast<Search *>(context);
    search.found = object->dlpi_addr != search.logger && needs_libcd(*object);
    return search.found ? 1 : 0;
}

bool program_is_linked_with_libcd() {
    Dl_info own = {};
    dladdr(reinterpret_cast<const void *>(&look_at), &own);
    Search search = {reinterpret_cast<ElfW(Addr)>(own.dli_fbase)};
    dl_iterate_phdr(look_at, &search);
    return search.found;
}

} // namespace

bool separate_memory_wanted() {
    static const std::optional<size_t> wanted = choice_in("CD_WINDOWS", {"separate", "direct"});
    if (wanted) {
        return *wanted == 0;
    }
    static const bool linked = program_is_linked_with_libcd();
    return !RecordAll::records() && (linked || cd_log_mode() != CD_LOG_OFF);
}

} // namespace cd::logger
