// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "stored.h"

#include "arena.h"
#include "disk_system.h"
#include "file_store/stored_data.h"

#include <algorithm>
#include <map>

namespace crash {
namespace {

bool holds_something(const StoredContents &contents) {
    return !contents.files.empty() || std::ranges::any_of(contents.bytes, &StoredByte::held);
}

Stored::Place place_of(const model::Cd &cd) {
    Stored::Place place;
    for (const model::Cd *at = &cd; at->parent != nullptr; at = at->parent) {
        place.insert(place.begin(), at->sibling);
    }
    return place;
}

std::string text_of(const Stored::Place &place) {
    std::string text = "root";
    for (const int sibling : place) {
        text += "." + std::to_string(sibling);
    }
    return text;
}

std::string text_of(const StoredByte &byte) {
    if (!byte.held) {
        return "nothing";
    }
    return std::string(byte.read_write ? "READ_WRITE" : "READ_ONLY") +
           (byte.constrained ? " CONSTRAINED" : "") + " restoration " +
           std::to_string(byte.restoration) + " data " + std::to_string(byte.data);
}

// Reads the data of a store's entries; those that share a run read it once.
class Reading {
public:
    Reading(const cd::File &file, cd_error &code) : file_(file), code_(code) {}

    std::string read(const cd::StoredEntries &entries, StoredContents &contents) {
        for (const auto &[place, entry] : entries) {
            if (std::string wrong = read(place, entry, contents); !wrong.empty()) {
                return wrong;
            }
        }
        return "";
    }

private:
    std::string read(const cd::StoredPlace &place, const cd::StoredEntry &entry,
                     StoredContents &contents) {
        if (!arena.is_of_blocks(place.begin, entry.end)) {
            return "an entry is not of whole blocks";
        }
        const std::vector<std::byte> *data = nullptr;
        if (entry.run != nullptr) {
            data = &data_of(*entry.run);
            if (!error_.empty()) {
                return error_;
            }
        }
        for (uint64_t at = place.begin; at < entry.end; at += arena.block()) {
            StoredByte &byte = contents.bytes[arena.index_of(at)];
            if (byte.held) {
                return "two entries hold the same bytes";
            }
            byte = {true, entry.access == CD_READ_WRITE, entry.scope == CD_CONSTRAINED,
                    static_cast<int>(entry.restoration), 0};
            if (data != nullptr) {
                const std::byte *block = data->data() + entry.run_offset + (at - place.begin);
                if (!arena.read_block(block, byte.data)) {
                    return "the data of block " + std::to_string(arena.index_of(at)) +
                           " are not of one write";
                }
            }
        }
        return "";
    }

    const std::vector<std::byte> &data_of(const cd::StoredRun &run) {
        std::vector<std::byte> &data = data_[&run];
        if (data.empty()) {
            data.resize(run.length);
            if (cd::Status status = cd::read_run(file_, run, 0, data.data(), data.size());
                !status) {
                code_ = status.code();
                error_ = cd::message();
            }
        }
        return data;
    }

    const cd::File &file_;
    cd_error &code_;
    std::map<const cd::StoredRun *, std::vector<std::byte>> data_;
    std::string error_;
};

std::map<int, long> positions_of(const std::vector<cd::FilePosition> &files) {
    std::map<int, long> positions;
    for (const cd::FilePosition &file : files) {
        positions[static_cast<int>(file.inode - DiskSystem::inode_of(0))] = file.position;
    }
    return positions;
}

std::string text_of(const std::map<int, long> &positions) {
    std::string text = std::to_string(positions.size()) + " files";
    for (const auto &[slot, position] : positions) {
        text += ", " + std::to_string(slot) + " at " + std::to_string(position);
    }
    return text;
}

Stored::Place place_of(const cd::State &state, const cd::StoredCd &cd) {
    Stored::Place place;
    for (const cd::StoredCd *at = &cd; at->number != cd::State::root;
         at = &state.cds.at(at->parent)) {
        place.insert(place.begin(), at->sibling);
    }
    return place;
}

std::string difference(const std::string &whose, const StoredContents &found,
                       const StoredContents &expected) {
    if (found.epoch != expected.epoch) {
        return whose + " has epoch " + std::to_string(found.epoch) + " instead of " +
               std::to_string(expected.epoch);
    }
    if (found.files != expected.files) {
        return whose + " has " + text_of(found.files) + " instead of " + text_of(expected.files);
    }
    for (size_t i = 0; i < expected.bytes.size(); ++i) {
        if (!(found.bytes[i] == expected.bytes[i])) {
            return whose + " has at block " + std::to_string(i) + " " + text_of(found.bytes[i]) +
                   " instead of " + text_of(expected.bytes[i]);
        }
    }
    return "";
}

} // namespace

Stored nothing_stored() {
    Stored stored;
    stored.cds[{}] = {};
    return stored;
}

Stored stored_in(const model::Model &model) {
    Stored stored = nothing_stored();
    for (const auto &cd : model.live()) {
        StoredContents contents;
        contents.epoch = cd->epoch;
        for (size_t i = 0; i < contents.bytes.size(); ++i) {
            const model::Byte &byte = cd->bytes[i];
            if (byte.held) {
                const bool copy = byte.restoration == model::Restoration::copy;
                contents.bytes[i] = {true, byte.read_write, byte.constrained,
                                     static_cast<int>(byte.restoration),
                                     copy ? byte.data : uint8_t{0}};
            }
        }
        for (const auto &[slot, record] : cd->files) {
            contents.files[slot] = record.position;
        }
        if (cd->parent == nullptr || holds_something(contents)) {
            stored.cds[place_of(*cd)] = contents;
        }
    }
    return stored;
}

Stored after_an_advance(Stored stored, int keep) {
    StoredContents &root = stored.cds[{}];
    stored.versions.push_back(root);
    if (stored.versions.size() >= static_cast<size_t>(keep)) {
        stored.versions.pop_front();
    }
    ++root.epoch;
    for (StoredByte &byte : root.bytes) {
        byte.read_write = false;
    }
    return stored;
}

std::string read_stored(const cd::File &file, const cd::State &state, Stored &stored,
                        cd_error &error) {
    stored = nothing_stored();
    Reading reading(file, error);
    for (const auto &[number, cd] : state.cds) {
        StoredContents contents;
        contents.epoch = cd.epoch;
        contents.files = positions_of(cd.files);
        if (std::string wrong = reading.read(cd.entries, contents); !wrong.empty()) {
            return text_of(place_of(state, cd)) + ": " + wrong;
        }
        if (number == cd::State::root || holds_something(contents)) {
            stored.cds[place_of(state, cd)] = contents;
        }
    }
    for (const cd::StoredVersion &version : state.versions) {
        StoredContents &contents = stored.versions.emplace_back();
        contents.epoch = version.epoch;
        contents.files = positions_of(version.files);
        if (std::string wrong = reading.read(version.entries, contents); !wrong.empty()) {
            return "epoch " + std::to_string(version.epoch) + ": " + wrong;
        }
    }
    return "";
}

std::string difference(const Stored &found, const Stored &expected) {
    for (const auto &[place, contents] : expected.cds) {
        const auto at = found.cds.find(place);
        if (at == found.cds.end()) {
            return text_of(place) + " is not there";
        }
        if (std::string differs = difference(text_of(place), at->second, contents);
            !differs.empty()) {
            return differs;
        }
    }
    for (const auto &[place, contents] : found.cds) {
        if (!expected.cds.contains(place)) {
            return text_of(place) + " is there";
        }
    }
    if (found.versions.size() != expected.versions.size()) {
        return "there are " + std::to_string(found.versions.size()) +
               " older points in time instead of " + std::to_string(expected.versions.size());
    }
    for (size_t i = 0; i < expected.versions.size(); ++i) {
        if (std::string differs =
                difference("version " + std::to_string(i), found.versions[i], expected.versions[i]);
            !differs.empty()) {
            return differs;
        }
    }
    return "";
}

} // namespace crash
