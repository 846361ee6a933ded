// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "describe.h"
#include "main.h"
#include "path_args.h"
#include "text.h"

#include "base/text.h"
#include "file_store/format.h"

#include <cstdio>

namespace cdctl {
namespace {

void print(const std::string &text) { std::puts(printable(text).c_str()); }

// ---- For people ----

void print_entries(const cd::Loaded &loaded, const cd::StoredEntries &entries) {
    using enum Table::Align;
    Table table({{"ADDRESS", left},
                 {"BYTES", right},
                 {"ACCESS", left},
                 {"SCOPE", left},
                 {"VIA", left},
                 {"BELONGS TO", left},
                 {"DATA AT", right},
                 {"CHECKSUM", left}});
    for (const auto &[place, entry] : entries) {
        const bool copy = entry.run != nullptr;
        table.add({hexadecimal(place.begin), std::to_string(entry.end - place.begin),
                   access_text(entry.access), scope_text(entry.scope),
                   restoration_text(entry.restoration), printable(place_of(loaded, entry.key)),
                   copy ? std::to_string(entry.run->offset + entry.run_offset) : "-",
                   !copy                          ? "-"
                   : entry.run->checksums.empty() ? "none"
                                                  : "crc32c"});
    }
    if (!table.empty()) {
        table.print(4);
    }
}

void print_files(const std::vector<cd::FilePosition> &files) {
    for (const cd::FilePosition &file : files) {
        std::printf("    descriptor %d: device %llu, inode %llu, position %lld\n", file.descriptor,
                    static_cast<unsigned long long>(file.device),
                    static_cast<unsigned long long>(file.inode),
                    static_cast<long long>(file.position));
    }
}

void print_holding(const cd::Loaded &loaded, const std::string &title, uint64_t epoch,
                   const cd::StoredEntries &entries, const std::vector<cd::FilePosition> &files) {
    print("  " + title + ": epoch " + std::to_string(epoch) + ", " +
          cd::counted(entries.size(), "entry", "entries") + ", " + size_text(bytes_of(entries)));
    print_entries(loaded, entries);
    print_files(files);
}

void print_store(const Inspection &store) {
    print(store.path() + ": " + condition_text(store.condition()) + use_text(store));
    if (!store.problem().empty()) {
        print("  " + store.problem());
    }
    if (!store.has_state()) {
        return;
    }
    const cd::Loaded &loaded = store.loaded();
    const cd::Superblock &header = loaded.header;
    std::printf("  format %u, id %s, generation %llu\n", cd::format::version,
                id_text(header).c_str(), static_cast<unsigned long long>(header.generation));
    std::printf("  file of %s, mode %04o, user %ld; snapshot of %s at %llu; journal at %llu, %s, "
                "%s of %s\n",
                size_text(store.size()).c_str(), static_cast<unsigned>(store.mode()),
                static_cast<long>(store.owner()), size_text(header.snapshot_length).c_str(),
                static_cast<unsigned long long>(header.snapshot.offset),
                static_cast<unsigned long long>(header.journal.offset),
                cd::counted(loaded.records, "record").c_str(),
                size_text(loaded.journal_used).c_str(), size_text(header.journal.length).c_str());
    for (const auto &[number, stored] : loaded.state.cds) {
        print_holding(loaded, identity_of(header, stored), stored.epoch, stored.entries,
                      stored.files);
    }
    for (auto at = loaded.state.versions.rbegin(); at != loaded.state.versions.rend(); ++at) {
        print_holding(loaded, "older point in time of the root", at->epoch, at->entries, at->files);
    }
}

// ---- For programs ----

void describe_entry(const cd::Loaded &loaded, const cd::StoredPlace &place,
                    const cd::StoredEntry &entry, Json &json) {
    const cd::StoredName &name = loaded.state.names.at(entry.key.name);
    json.begin_object();
    json.member("address", hexadecimal(place.begin)).member("process", place.space);
    json.member("bytes", entry.end - place.begin);
    json.member("access", access_text(entry.access)).member("scope", scope_text(entry.scope));
    json.member("via", restoration_text(entry.restoration));
    json.key("belongs_to").begin_object();
    switch (name.kind) {
    case cd::format::NameKind::object:
    case cd::format::NameKind::program:
        json.member("object", name.text);
        break;
    case cd::format::NameKind::region:
        json.member("region", name.text);
        break;
    case cd::format::NameKind::path:
        json.member("cd_path", name.text).member("range", entry.key.add_index);
        json.member("range_bytes", entry.key.length);
    }
    json.member("offset", entry.key.offset).end_object();
    json.key("data");
    if (entry.run == nullptr) {
        json.null();
    } else {
        json.begin_object().member("offset", entry.run->offset + entry.run_offset);
        json.key("checksum");
        entry.run->checksums.empty() ? json.null() : json.value("crc32c");
        json.end_object();
    }
    json.end_object();
}

void describe_holding(const cd::Loaded &loaded, uint64_t epoch, const cd::StoredEntries &entries,
                      const std::vector<cd::FilePosition> &files, Json &json) {
    json.member("epoch", epoch).member("bytes", bytes_of(entries));
    json.key("entries").begin_array();
    for (const auto &[place, entry] : entries) {
        describe_entry(loaded, place, entry, json);
    }
    json.end_array().key("files").begin_array();
    for (const cd::FilePosition &file : files) {
        json.begin_object().member("descriptor", file.descriptor).member("device", file.device);
        json.member("inode", file.inode).member("position", file.position);
        json.key("born");
        file.born == 0 ? json.null() : json.value(file.born);
        json.end_object();
    }
    json.end_array();
}

void describe_store(const Inspection &store, Json &json) {
    json.begin_object();
    describe_file(store, json);
    if (!store.has_state()) {
        json.end_object();
        return;
    }
    const cd::Loaded &loaded = store.loaded();
    const cd::Superblock &header = loaded.header;
    describe_summary(store, json);
    json.member("format", cd::format::version).member("id", id_text(header));
    json.member("generation", header.generation);
    json.member("owner", store.owner()).member("mode", store.mode());
    json.key("snapshot").begin_object().member("offset", header.snapshot.offset);
    json.member("room", header.snapshot.length).member("used", header.snapshot_length);
    json.end_object().key("journal").begin_object().member("offset", header.journal.offset);
    json.member("room", header.journal.length).member("used", loaded.journal_used);
    json.member("records", loaded.records).end_object();
    json.key("domains").begin_array();
    for (const auto &[number, stored] : loaded.state.cds) {
        json.begin_object().member("identity", identity_of(header, stored));
        json.member("path", loaded.state.names.at(stored.path).text);
        json.member("depth", stored.depth).member("sibling", stored.sibling);
        describe_holding(loaded, stored.epoch, stored.entries, stored.files, json);
        json.end_object();
    }
    json.end_array().key("older").begin_array();
    for (const cd::StoredVersion &version : loaded.state.versions) {
        json.begin_object();
        describe_holding(loaded, version.epoch, version.entries, version.files, json);
        json.end_object();
    }
    json.end_array().end_object();
}

} // namespace

Outcome show(const Arguments &arguments) {
    Json json;
    json.begin_object().key("stores").begin_array();
    const Outcome outcome = Places(arguments.paths).visit([&](Inspection &store) {
        arguments.json ? describe_store(store, json) : print_store(store);
        return Outcome::good;
    });
    if (arguments.json) {
        json.end_array().end_object();
        std::puts(json.text().c_str());
    }
    return outcome;
}

} // namespace cdctl
