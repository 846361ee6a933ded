// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "recording.h"

#include "arena.h"
#include "disk_system.h"
#include "file_store/opening.h"
#include "restart/address_book.h"

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

std::string open(const StoreKind &kind, Stored &stored) {
    cd::OpenRequest request;
    request.name = model::names()[1].text;
    if (!cd::parse_storage_info(kind.storage(), "the test", request.storage)) {
        return cd::message();
    }
    cd::OpenedStore opened;
    if (!cd::open_store(request, cd::AddressBook::instance(), opened)) {
        return std::string("the store cannot be opened: ") + cd::message();
    }
    if (!opened.restarted) {
        stored = nothing_stored();
        return "";
    }
    return read_stored(opened.store->volume().file(), opened.loaded.state, stored);
}

} // namespace

std::string judge(const Disk &found, const StoreKind &kind, const std::vector<Stored> &allowed,
                  size_t &match) {
    Disk disk = found;
    DiskSystem system(disk);
    const Installed installed(system);
    Stored stored;
    if (std::string wrong = open(kind, stored); !wrong.empty()) {
        return wrong;
    }
    std::string differs;
    for (match = 0; match < allowed.size(); ++match) {
        if (stored == allowed[match]) {
            return "";
        }
        differs += "\n  not " + std::to_string(match) + ": " + difference(stored, allowed[match]);
    }
    for (const std::string &warning : system.warnings()) {
        differs += "\n  warned: " + warning;
    }
    return differs;
}

} // namespace crash
