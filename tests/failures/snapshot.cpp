// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "snapshot.h"

#include "runtime/registry.h"

#include <cstdint>
#include <set>
#include <sstream>
#include <string>

namespace faults {
namespace {

// Labels once for each run of bytes that share them, then the data.
void describe_bytes(const cd::Domain &domain, std::ostream &out) {
    const cd::Entry *previous = nullptr;
    for (const auto &[address, entry] : domain.entries) {
        const bool continues = previous != nullptr && previous->range.end == address &&
                               previous->restoration == entry->restoration &&
                               previous->access == entry->access &&
                               previous->scope == entry->scope && previous->regen == entry->regen &&
                               previous->origin.element == entry->origin.element;
        if (!continues) {
            out << '\n'
                << address << ' ' << static_cast<int>(entry->restoration) << entry->access
                << entry->scope << ' ' << reinterpret_cast<void *>(entry->regen) << ' '
                << entry->origin.element << ' ';
        }
        if (entry->restoration == cd::Restoration::copy) {
            out.write(reinterpret_cast<const char *>(entry->data.at()),
                      static_cast<std::streamsize>(entry->range.length()));
        } else {
            out << std::string(entry->range.length(), '.');
        }
        previous = entry;
    }
}

void check_lists(cd::Domain &domain, std::ostream &out) {
    std::set<const cd::Entry *> listed;
    for (const cd::Entry *entry = domain.entries.read_write().first(); entry != nullptr;
         entry = entry->next) {
        listed.insert(entry);
    }
    if (!domain.entries.arriving().empty()) {
        out << "BROKEN: entries are arriving\n";
    }
    for (const auto &[address, entry] : domain.entries) {
        const bool should_be = entry->read_write();
        if (entry->listed != should_be || listed.contains(entry) != should_be) {
            out << "BROKEN: list of READ_WRITE entries at " << address << '\n';
        }
        if (entry->stage != cd::Stage::held || entry->range.begin != address) {
            out << "BROKEN: stage or key of the entry at " << address << '\n';
        }
        if ((entry->restoration == cd::Restoration::copy) != static_cast<bool>(entry->data)) {
            out << "BROKEN: data of the entry at " << address << '\n';
        }
    }
}

void describe_domain(cd::Domain &domain, std::ostream &out) {
    const cd::LogShare::Extent log = domain.log.extent();
    out << domain.name() << " epoch " << domain.epoch << " log " << log.entries << ' ' << log.bytes
        << ' ' << log.remaining << '\n';
    for (const cd::Domain *child : domain.children) {
        out << "child " << child->name() << '\n';
    }
    for (const cd::FilePosition &file : domain.files) {
        out << "file " << file.descriptor << " at " << file.position << '\n';
    }
    check_lists(domain, out);
    describe_bytes(domain, out);
}

} // namespace

std::string snapshot() {
    std::ostringstream out;
    cd::Registry &registry = cd::Registry::instance();
    registry.lock_everything();
    registry.for_each([&](cd::Resident &resident) { describe_domain(resident, out); });
    registry.unlock_everything();
    return out.str();
}

} // namespace faults
