// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "file_store/change_encoder.h"

#include <set>

namespace cd {

using format::Change;

void ChangeWriter::begin(Change kind, uint64_t cd) {
    bytes_.fixed8(static_cast<uint8_t>(kind));
    bytes_.number(cd);
}

void ChangeWriter::begin(Change kind, uint64_t cd, Range range) {
    begin(kind, cd);
    bytes_.number(range.begin);
    bytes_.number(range.length());
}

void ChangeWriter::space(uint64_t space) { begin(Change::space, space); }

void ChangeWriter::name(uint64_t number, const StoredName &name) {
    begin(Change::name, number);
    bytes_.fixed8(static_cast<uint8_t>(name.kind));
    bytes_.text(name.text);
}

void ChangeWriter::cd(const StoredCd &cd) {
    begin(Change::cd, cd.number);
    bytes_.number(cd.parent);
    bytes_.number(static_cast<uint64_t>(cd.depth));
    bytes_.number(static_cast<uint64_t>(cd.sibling));
    bytes_.number(cd.path);
}

ChangeWriter::Data ChangeWriter::run(uint64_t offset, uint64_t length, const Checksums &checksums) {
    begin(Change::run, offset);
    bytes_.number(length);
    bytes_.fixed8(checksums.empty() ? 0 : 1);
    for (const uint32_t checksum : checksums) {
        bytes_.fixed32(checksum);
    }
    return {runs_++, 0};
}

void ChangeWriter::hold(uint64_t cd, Range range, Labels labels, const StoredKey &key, Data data) {
    begin(Change::hold, cd, range);
    bytes_.fixed8(static_cast<uint8_t>(static_cast<unsigned>(labels.access) |
                                       static_cast<unsigned>(labels.scope) << 1U |
                                       static_cast<unsigned>(labels.restoration) << 2U |
                                       (labels.recent ? format::label_recent : 0U) |
                                       (labels.added_anew ? format::label_added_anew : 0U)));
    bytes_.number(key.name);
    bytes_.number(key.add_index);
    bytes_.number(key.offset);
    bytes_.number(key.length);
    if (labels.restoration == Restoration::copy) {
        bytes_.number(data.run);
        bytes_.number(data.offset);
    }
}

void ChangeWriter::data(uint64_t cd, Range range, Data data) {
    begin(Change::data, cd, range);
    bytes_.number(data.run);
    bytes_.number(data.offset);
}

void ChangeWriter::relabel(uint64_t cd, Range range, addr_type access, Restoration restoration) {
    begin(Change::relabel, cd, range);
    bytes_.fixed8(
        static_cast<uint8_t>(static_cast<int>(access) | static_cast<int>(restoration) << 2));
}

void ChangeWriter::promote(uint64_t cd, Range range) { begin(Change::promote, cd, range); }

void ChangeWriter::demote(uint64_t cd) { begin(Change::demote, cd); }

void ChangeWriter::erase(uint64_t cd, Range range) { begin(Change::erase, cd, range); }

void ChangeWriter::give(uint64_t from, uint64_t to, Range range, bool keeps) {
    begin(Change::give, from, range);
    bytes_.number(to);
    bytes_.fixed8(keeps ? 1 : 0);
}

void ChangeWriter::files(uint64_t cd, const std::vector<FilePosition> &files) {
    begin(Change::positions, cd);
    bytes_.number(files.size());
    for (const FilePosition &file : files) {
        bytes_.number(static_cast<uint64_t>(file.descriptor));
        bytes_.number(file.device);
        bytes_.number(file.inode);
        bytes_.number(static_cast<uint64_t>(file.position));
        bytes_.number(static_cast<uint64_t>(file.born));
        bytes_.fixed8(0); // labels: there are none yet
    }
}

void ChangeWriter::epoch(uint64_t cd, uint64_t epoch) {
    begin(Change::epoch, cd);
    bytes_.number(epoch);
}

void ChangeWriter::retain(uint64_t count) { begin(Change::retain, count); }

void ChangeWriter::drop(uint64_t cd) { begin(Change::drop, cd); }

void ChangeWriter::bind(uint64_t cd, uint64_t space, Range range, uint64_t begin_at) {
    begin(Change::bind, cd, range);
    bytes_.number(space);
    bytes_.number(begin_at);
}

void ChangeWriter::clear(uint64_t cd) { begin(Change::clear, cd); }

namespace {

class SnapshotWriter {
public:
    explicit SnapshotWriter(ChangeWriter &into) : into_(into) {}

    void write(const State &state) {
        for (const uint64_t number : names_of(state)) {
            into_.name(number, state.names.at(number));
        }
        for (const auto &[number, cd] : state.cds) {
            into_.cd(cd);
        }
        for (const StoredVersion &version : state.versions) {
            write(State::root, version.entries, version.files, version.epoch);
            into_.retain(UINT32_MAX);
            into_.clear(State::root);
        }
        for (const auto &[number, cd] : state.cds) {
            write(number, cd.entries, cd.files, cd.epoch);
        }
        into_.space(state.space);
    }

private:
    static std::set<uint64_t> names_of(const State &state) {
        std::set<uint64_t> names;
        const auto add = [&](const StoredEntries &entries) {
            uint64_t last = UINT64_MAX;
            for (const auto &[place, entry] : entries) {
                if (entry.key.name != last) {
                    names.insert(last = entry.key.name);
                }
            }
        };
        for (const auto &[number, cd] : state.cds) {
            names.insert(cd.path);
            add(cd.entries);
        }
        for (const StoredVersion &version : state.versions) {
            add(version.entries);
        }
        return names;
    }

    void write(uint64_t cd, const StoredEntries &entries, const std::vector<FilePosition> &files,
               uint64_t epoch) {
        for (const auto &[place, entry] : entries) {
            if (place.space != space_) {
                into_.space(place.space);
                space_ = place.space;
            }
            ChangeWriter::Data data;
            if (entry.run != nullptr) {
                data = {number_of(entry.run), entry.run_offset};
            }
            into_.hold(
                cd, {place.begin, entry.end},
                {entry.access, entry.scope, entry.restoration, entry.recent, entry.added_anew},
                entry.key, data);
        }
        into_.files(cd, files);
        into_.epoch(cd, epoch);
    }

    uint64_t number_of(const StoredRun *run) {
        const auto [at, added] = runs_.try_emplace(run, 0);
        if (added) {
            at->second = into_.run(run->offset, run->length, run->checksums).run;
        }
        return at->second;
    }

    ChangeWriter &into_;
    std::unordered_map<const StoredRun *, uint64_t> runs_;
    uint64_t space_ = UINT64_MAX;
};

} // namespace

void write_snapshot(const State &state, ChangeWriter &into) { SnapshotWriter(into).write(state); }

} // namespace cd
