// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "describe.h"
#include "main.h"
#include "output.h"
#include "path_args.h"

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

void print_store(const StoreReader &store) {
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

Json describe_entry(const cd::Loaded &loaded, const cd::StoredPlace &place,
                    const cd::StoredEntry &entry) {
    const cd::StoredName &name = loaded.state.names.at(entry.key.name);
    Json belongs;
    switch (name.kind) {
    case cd::format::NameKind::object:
    case cd::format::NameKind::program:
        belongs["object"] = name.text;
        break;
    case cd::format::NameKind::region:
        belongs["region"] = name.text;
        break;
    case cd::format::NameKind::path:
        belongs = {{"cd_path", name.text},
                   {"range", entry.key.add_index},
                   {"range_bytes", entry.key.length}};
    }
    belongs["offset"] = entry.key.offset;
    Json data;
    if (entry.run != nullptr) {
        data = {{"offset", entry.run->offset + entry.run_offset},
                {"checksum", text_or_null(entry.run->checksums.empty() ? "" : "crc32c")}};
    }
    return {{"address", hexadecimal(place.begin)},
            {"process", place.space},
            {"bytes", entry.end - place.begin},
            {"access", access_text(entry.access)},
            {"scope", scope_text(entry.scope)},
            {"via", restoration_text(entry.restoration)},
            {"belongs_to", belongs},
            {"data", data}};
}

void add_holding(const cd::Loaded &loaded, uint64_t epoch, const cd::StoredEntries &entries,
                 const std::vector<cd::FilePosition> &files, Json &json) {
    json["epoch"] = epoch;
    json["bytes"] = bytes_of(entries);
    json["entries"] = Json::array();
    for (const auto &[place, entry] : entries) {
        json["entries"].push_back(describe_entry(loaded, place, entry));
    }
    json["files"] = Json::array();
    for (const cd::FilePosition &file : files) {
        json["files"].push_back({{"descriptor", file.descriptor},
                                 {"device", file.device},
                                 {"inode", file.inode},
                                 {"position", file.position},
                                 {"born", file.born == 0 ? Json() : Json(file.born)}});
    }
}

Json describe_all(const StoreReader &store) {
    Json json = describe(store);
    if (!store.has_state()) {
        return json;
    }
    const cd::Loaded &loaded = store.loaded();
    const cd::Superblock &header = loaded.header;
    json["format"] = cd::format::version;
    json["id"] = id_text(header);
    json["generation"] = header.generation;
    json["owner"] = store.owner();
    json["mode"] = store.mode();
    json["snapshot"] = {{"offset", header.snapshot.offset},
                        {"room", header.snapshot.length},
                        {"used", header.snapshot_length}};
    json["journal"] = {{"offset", header.journal.offset},
                       {"room", header.journal.length},
                       {"used", loaded.journal_used},
                       {"records", loaded.records}};
    json["domains"] = Json::array();
    for (const auto &[number, stored] : loaded.state.cds) {
        Json &domain =
            json["domains"].emplace_back(Json{{"identity", identity_of(header, stored)},
                                              {"path", loaded.state.names.at(stored.path).text},
                                              {"depth", stored.depth},
                                              {"sibling", stored.sibling}});
        add_holding(loaded, stored.epoch, stored.entries, stored.files, domain);
    }
    json["older"] = Json::array();
    for (const cd::StoredVersion &version : loaded.state.versions) {
        add_holding(loaded, version.epoch, version.entries, version.files,
                    json["older"].emplace_back());
    }
    return json;
}

} // namespace

Outcome show(const Arguments &arguments) {
    Json stores = Json::array();
    const Outcome outcome = StorePaths(arguments.paths).visit([&](StoreReader &store) {
        arguments.json ? stores.push_back(describe_all(store)) : print_store(store);
        return Outcome::good;
    });
    if (arguments.json) {
        print_json({{"stores", stores}});
    }
    return outcome;
}

} // namespace cdctl
