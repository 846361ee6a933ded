// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "snapshot.h"

#include "file_store/load.h"
#include "file_store/stored_data.h"
#include "runtime/observer.h"
#include "runtime/registry.h"

#include <fcntl.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>

namespace faults {
namespace {

std::string data_of(const cd::Piece &piece, size_t length) {
    if (cd::Backing *backing = piece.block().backing()) {
        std::string data(length, '?');
        return backing->read(piece.offset(), data.data(), length) ? data : "BROKEN: no data";
    }
    return {reinterpret_cast<const char *>(piece.at()), length};
}

// Writes the ranges that the store holds and no add has bound.
void describe_pending(const cd::Domain &domain, std::ostream &out) {
    for (const auto &[name, range] : domain.pending) {
        out << "pending " << range.space << ' ' << range.old.begin << ' ' << range.access
            << range.scope << ' ' << static_cast<int>(range.restoration) << ' ' << *name.text << ' '
            << name.add_index << ' ' << range.owed << ' ' << data_of(range.data, range.old.length())
            << '\n';
    }
    out << "skips pending " << domain.skips_pending << '\n';
    for (const cd::FilePosition &file : domain.pending_files) {
        out << "pending file " << file.descriptor << " at " << file.position << '\n';
    }
}

// Labels once for each run of bytes that share them, then the data.
void describe_bytes(const cd::Domain &domain, std::ostream &out) {
    std::string labels_before;
    uintptr_t end_before = 0;
    for (const auto &held : domain.entries) {
        const cd::Entry &entry = *held.second;
        uint32_t element = entry.origin.element;
        entry.for_each_element([&](cd::Range part) {
            std::ostringstream labels;
            labels << static_cast<int>(entry.restoration) << entry.access << entry.scope << ' '
                   << reinterpret_cast<void *>(entry.regen) << ' ' << element++ << ' ';
            if (part.begin != end_before || labels.str() != labels_before) {
                out << '\n' << part.begin << ' ' << labels.str();
            }
            if (entry.restoration == cd::Restoration::copy) {
                out << data_of(entry.data.share(part.begin - entry.range.begin), part.length());
            } else {
                out << std::string(part.length(), '.');
            }
            labels_before = labels.str();
            end_before = part.end;
        });
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

// The logs of its descendants, also of ended ones, but for those that never had an entry.
void describe_nested_logs(cd::Domain &domain, std::ostream &out) {
    if (!domain.log.enabled()) {
        return;
    }
    using cd::Log;
    domain.log.log().for_each_nested(domain.depth, [&](Log::Sibling sibling, const Log &nested) {
        const Log::Places at = nested.places();
        if (at.end.entries > 0) {
            out << "log of " << sibling.depth << ' ' << sibling.index << sibling.other_thread
                << ": " << at.begin.entries << ' ' << at.cursor.entries << ' ' << at.end.entries
                << '\n';
        }
    });
}

void describe_domain(cd::Domain &domain, std::ostream &out) {
    const cd::LogView::Extent log = domain.log.extent();
    out << domain.name() << " epoch " << domain.epoch << " log " << log.entries << ' ' << log.bytes
        << ' ' << log.remaining << '\n';
    describe_nested_logs(domain, out);
    for (const cd::Domain *child : domain.children) {
        out << "child " << child->name() << '\n';
    }
    for (const cd::FilePosition &file : domain.files) {
        out << "file " << file.descriptor << " at " << file.position << '\n';
    }
    check_lists(domain, out);
    describe_bytes(domain, out);
    describe_pending(domain, out);
}

void describe_store(const cd::File &file, std::ostream &out) {
    cd::Loaded loaded;
    if (!cd::load(file, loaded)) {
        out << "BROKEN: " << cd::message() << '\n';
        return;
    }
    const cd::State &state = loaded.state;
    out << file.path() << ' ' << loaded.doubt << '\n';
    for (const auto &[number, cd] : state.cds) {
        out << state.names.at(cd.path).text << ' ' << cd.depth << ' ' << cd.sibling << " epoch "
            << cd.epoch;
        uint64_t end = 0;
        std::string labels;
        for (const auto &[place, entry] : cd.entries) {
            std::ostringstream now;
            now << place.space << ' ' << entry.access << entry.scope
                << static_cast<int>(entry.restoration) << ' ' << state.names.at(entry.key.name).text
                << ' ' << entry.key.add_index << ' ';
            if (place.begin != end || now.str() != labels) {
                labels = now.str();
                out << '\n' << place.begin << ' ' << labels;
            }
            end = entry.end;
            std::string data(end - place.begin, '.');
            if (entry.run != nullptr &&
                !cd::read_run(file, *entry.run, entry.run_offset, data.data(), data.size())) {
                data = std::string("BROKEN: ") + cd::message();
            }
            out << data;
        }
        for (const cd::FilePosition &position : cd.files) {
            out << "\nfile " << position.descriptor << " at " << position.position;
        }
        out << '\n';
    }
}

} // namespace

std::string snapshot() {
    std::ostringstream out;
    cd::Registry &registry = cd::Registry::instance();
    registry.lock_everything();
    std::map<uint64_t, cd::Resident *> oldest_first;
    registry.for_each([&](cd::Resident &resident) { oldest_first[resident.creation] = &resident; });
    registry.unlock_everything();
    // Logs are paused while everything is locked; no other thread works while a test describes.
    for (const auto &[creation, resident] : oldest_first) {
        describe_domain(*resident, out);
    }
    const cd::Observer *observer = cd::observer;
    out << "observer "
        << (observer != nullptr ? reinterpret_cast<void *>(observer->notify) : nullptr);
    return out.str();
}

std::string stores_in(const std::string &folder) {
    std::set<std::string> paths;
    for (const auto &found : std::filesystem::directory_iterator(folder)) {
        // Hidden files are unfinished; the next open removes them.
        if (!found.path().filename().string().starts_with('.')) {
            paths.insert(found.path());
        }
    }
    std::ostringstream out;
    for (const std::string &path : paths) {
        describe_store(cd::File(::open(path.c_str(), O_RDONLY | O_CLOEXEC), path), out);
    }
    return out.str();
}

} // namespace faults
