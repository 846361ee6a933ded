// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "recording.h"

#include "arena.h"
#include "disk_system.h"
#include "file_store/open_store.h"
#include "restart/memory_names.h"

#include <memory>

namespace crash {

std::string StoreKind::storage() const {
    return "store=file,dir=/stores/of/us,keep=" + std::to_string(keep) +
           (forced ? ",sync=full" : ",sync=none") +
           (checksummed ? ",checksum=crc32c" : ",checksum=none");
}

namespace {

// While it lives, the library works on the system.
class Installed {
public:
    explicit Installed(cd::os::System &system) { cd::os::replace_system(&system); }
    ~Installed() { cd::os::replace_system(nullptr); }
    Installed(const Installed &) = delete;
    Installed &operator=(const Installed &) = delete;
};

void open(const StoreKind &kind, Opened &found) {
    cd::OpenRequest request;
    request.name = model::names()[1].text;
    cd::Status status = cd::parse_storage_info(kind.storage(), "the test", request.storage);
    cd::OpenedStore opened;
    if (status.is_ok()) {
        status = cd::open_store(request, cd::MemoryNames::instance(), opened);
    }
    if (status.is_ok() && opened.newer_are_damaged) {
        status = opened.store->rewrite(); // as who attaches to it does
    }
    if (!status) {
        found.error = status.code();
        found.wrong = std::string("the store cannot be opened: ") + cd::message();
    } else if (opened.restarted) {
        found.wrong = read_stored(opened.store->volume().file(), opened.loaded.state, found.stored,
                                  found.error);
    }
}

} // namespace

Opened open_store_on(const Disk &disk, const StoreKind &kind) {
    Disk copy = disk;
    DiskSystem system(copy);
    const Installed installed(system);
    Opened found;
    found.stored = nothing_stored();
    open(kind, found);
    found.warnings = system.warnings();
    return found;
}

Disk disk_that_was_opened(const Disk &disk, const StoreKind &kind) {
    Disk opened = disk;
    DiskSystem system(opened);
    const Installed installed(system);
    Opened found;
    open(kind, found);
    return opened;
}

std::string judge(const Disk &disk, const StoreKind &kind, const std::vector<Stored> &allowed,
                  size_t &match) {
    const Opened found = open_store_on(disk, kind);
    if (!found.wrong.empty()) {
        return found.wrong;
    }
    // What a crash leaves is never taken for damage. But it is told when the new store has been put
    // in the place of an old one, and has no point in time yet.
    for (const std::string &warning : found.warnings) {
        if (warning.find("which an earlier start has put aside") == std::string::npos) {
            return "a warning that a crash is no reason for: " + warning;
        }
    }
    std::string differs;
    for (match = 0; match < allowed.size(); ++match) {
        if (found.stored == allowed[match]) {
            return "";
        }
        differs +=
            "\n  not " + std::to_string(match) + ": " + difference(found.stored, allowed[match]);
    }
    return differs;
}

} // namespace crash
