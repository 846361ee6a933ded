// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "file_store/changes.h"

#include <algorithm>
#include <climits>
#include <iterator>
#include <utility>

namespace cd {

using format::Change;
using format::NameKind;

// ---- Writing ------------------------------------------------------------------------------------

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

ChangeWriter::Data ChangeWriter::run(uint64_t offset, uint64_t length,
                                     const std::vector<uint32_t> &checksums) {
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
    bytes_.fixed8(static_cast<uint8_t>(static_cast<int>(labels.access) |
                                       static_cast<int>(labels.scope) << 1 |
                                       static_cast<int>(labels.restoration) << 2));
    bytes_.number(key.name);
    bytes_.number(key.ordinal);
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
    begin(Change::files, cd);
    bytes_.number(files.size());
    for (const FilePosition &file : files) {
        bytes_.number(static_cast<uint64_t>(file.descriptor));
        bytes_.number(file.device);
        bytes_.number(file.inode);
        bytes_.number(static_cast<uint64_t>(file.position));
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
        for (const auto &[number, name] : state.names) {
            into_.name(number, name);
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
            into_.hold(cd, {place.begin, entry.end}, {entry.access, entry.scope, entry.restoration},
                       entry.key, data);
        }
        into_.files(cd, files);
        into_.epoch(cd, epoch);
    }

    uint64_t number_of(const std::shared_ptr<const StoredRun> &run) {
        const auto [at, added] = runs_.try_emplace(run.get(), 0);
        if (added) {
            at->second = into_.run(run->offset, run->length, run->checksums).run;
        }
        return at->second;
    }

    ChangeWriter &into_;
    std::unordered_map<const StoredRun *, uint64_t> runs_;
    uint64_t space_ = UINT64_MAX;
};

// ---- Reading ------------------------------------------------------------------------------------

class Reading {
public:
    Reading(std::span<const std::byte> bytes, State &state) : reader_(bytes), state_(state) {}

    const char *apply() {
        while (reader_.left() > 0 && wrong_ == nullptr) {
            const auto kind = static_cast<Change>(reader_.fixed8());
            const uint64_t first = reader_.number();
            apply(kind, first);
            if (reader_.bad() && wrong_ == nullptr) {
                wrong_ = "a change is cut short";
            }
        }
        return wrong_;
    }

private:
    void apply(Change kind, uint64_t first) {
        switch (kind) {
        case Change::space:
            state_.space = first;
            return;
        case Change::name:
            return read_name(first);
        case Change::cd:
            return read_cd(first);
        case Change::run:
            return read_run(first);
        case Change::retain:
            return retain(first);
        case Change::hold:
        case Change::data:
        case Change::relabel:
        case Change::promote:
        case Change::erase:
        case Change::give:
        case Change::bind:
            return apply_to_range(kind, first);
        case Change::demote:
        case Change::files:
        case Change::epoch:
        case Change::drop:
        case Change::clear:
            return apply_to_cd(kind, first);
        }
        wrong_ = "there is a change of an unknown kind";
    }

    void read_name(uint64_t number) {
        StoredName name;
        const uint8_t kind = reader_.fixed8();
        name.kind = static_cast<NameKind>(kind);
        name.text = reader_.text();
        if (reader_.bad() || kind > static_cast<uint8_t>(NameKind::region)) {
            wrong_ = "a name makes no sense";
            return;
        }
        state_.names[number] = std::move(name);
    }

    void read_cd(uint64_t number) {
        StoredCd cd;
        cd.number = number;
        cd.parent = reader_.number();
        const uint64_t depth = reader_.number();
        const uint64_t sibling = reader_.number();
        cd.path = reader_.number();
        const bool root = number == State::root;
        if (reader_.bad() || depth > INT_MAX || sibling > INT_MAX || state_.cds.contains(number) ||
            !state_.names.contains(cd.path) || (root != (depth == 0)) ||
            (!root && (cd.parent >= number || !state_.cds.contains(cd.parent) ||
                       state_.cds[cd.parent].depth + 1 != static_cast<int>(depth)))) {
            wrong_ = "a CD does not fit into the family";
            return;
        }
        cd.depth = static_cast<int>(depth);
        cd.sibling = static_cast<int>(sibling);
        state_.cds.emplace(number, std::move(cd));
    }

    void read_run(uint64_t offset) {
        auto run = std::make_shared<StoredRun>();
        run->offset = offset;
        run->length = reader_.number();
        const bool checked = reader_.fixed8() != 0;
        const uint64_t parts =
            run->length / format::checked_part + (run->length % format::checked_part != 0 ? 1 : 0);
        if (offset > INT64_MAX || run->length > INT64_MAX - offset ||
            (checked && parts > reader_.left() / 4)) {
            wrong_ = "the place of data makes no sense";
            return;
        }
        run->checksums.reserve(checked ? parts : 0);
        for (uint64_t i = 0; checked && i < parts; ++i) {
            run->checksums.push_back(reader_.fixed32());
        }
        runs_.push_back(std::move(run));
    }

    void retain(uint64_t count) {
        StoredCd *root = find(State::root);
        if (root == nullptr) {
            return;
        }
        state_.versions.push_back({root->epoch, root->entries, root->files});
        while (state_.versions.size() > count) {
            state_.versions.pop_front();
        }
    }

    StoredCd *find(uint64_t number) {
        const auto at = state_.cds.find(number);
        if (at == state_.cds.end()) {
            wrong_ = "a change concerns a CD that is not there";
            return nullptr;
        }
        return &at->second;
    }

    void apply_to_cd(Change kind, uint64_t number) {
        StoredCd *cd = find(number);
        if (cd == nullptr) {
            return;
        }
        switch (kind) {
        case Change::demote:
            for (auto &[place, entry] : cd->entries) {
                entry.access = CD_READ_ONLY;
            }
            break;
        case Change::files:
            read_files(*cd);
            break;
        case Change::epoch:
            cd->epoch = reader_.number();
            break;
        case Change::clear:
            cd->entries.clear();
            cd->files.clear();
            break;
        default: // drop
            if (number == State::root) {
                wrong_ = "the root is dropped";
                return;
            }
            state_.cds.erase(number);
        }
    }

    void read_files(StoredCd &cd) {
        cd.files.clear();
        const uint64_t count = reader_.number();
        for (uint64_t i = 0; i < count && !reader_.bad(); ++i) {
            FilePosition file;
            file.descriptor = static_cast<int>(reader_.number());
            file.device = reader_.number();
            file.inode = reader_.number();
            file.position = static_cast<off_t>(reader_.number());
            cd.files.push_back(file);
        }
    }

    void apply_to_range(Change kind, uint64_t number) {
        StoredCd *cd = find(number);
        const uint64_t begin = reader_.number();
        const uint64_t length = reader_.number();
        if (cd == nullptr || length == 0 || length > UINT64_MAX - begin) {
            wrong_ = wrong_ != nullptr ? wrong_ : "a range makes no sense";
            return;
        }
        const Range range = {begin, begin + length};
        switch (kind) {
        case Change::hold:
            return hold(*cd, range);
        case Change::data:
            return data(*cd, range);
        case Change::relabel:
            return relabel(*cd, range);
        case Change::promote:
            return for_each(*cd, state_.space, range, [](StoredEntry &entry) {
                if (entry.restoration != Restoration::regen) {
                    entry.access = CD_READ_WRITE;
                }
            });
        case Change::erase:
            erase(*cd, state_.space, range);
            return;
        case Change::give:
            return give(*cd, range);
        default:
            return bind(*cd, range);
        }
    }

    void hold(StoredCd &cd, Range range) {
        StoredEntry entry;
        const uint8_t labels = reader_.fixed8();
        entry.end = range.end;
        entry.access = static_cast<addr_type>(labels & 1U);
        entry.scope = static_cast<addr_scope>(labels >> 1U & 1U);
        entry.restoration = static_cast<Restoration>(labels >> 2U);
        entry.key = {reader_.number(), reader_.number(), reader_.number(), reader_.number()};
        if (labels >> 2U > static_cast<uint8_t>(Restoration::regen) ||
            !state_.names.contains(entry.key.name)) {
            wrong_ = "an entry has labels that make no sense";
            return;
        }
        if (entry.restoration == Restoration::copy && !read_data(range.length(), entry)) {
            return;
        }
        erase(cd, state_.space, range);
        cd.entries.emplace(StoredPlace{state_.space, range.begin}, std::move(entry));
    }

    bool read_data(uint64_t length, StoredEntry &entry) {
        const uint64_t run = reader_.number();
        const uint64_t offset = reader_.number();
        if (run >= runs_.size() || offset > runs_[run]->length ||
            length > runs_[run]->length - offset) {
            wrong_ = "an entry's data are not where it says";
            return false;
        }
        entry.run = runs_[run];
        entry.run_offset = offset;
        return true;
    }

    void data(StoredCd &cd, Range range) {
        StoredEntry like;
        if (!read_data(range.length(), like)) {
            return;
        }
        for_each_at(cd, state_.space, range, [&](uint64_t begin, StoredEntry &entry) {
            entry.restoration = Restoration::copy;
            entry.run = like.run;
            entry.run_offset = like.run_offset + (begin - range.begin);
        });
    }

    void relabel(StoredCd &cd, Range range) {
        const uint8_t labels = reader_.fixed8();
        if (labels >> 2U > static_cast<uint8_t>(Restoration::regen)) {
            wrong_ = "an entry has labels that make no sense";
            return;
        }
        const auto restoration = static_cast<Restoration>(labels >> 2U);
        for_each(cd, state_.space, range, [&](StoredEntry &entry) {
            entry.access = static_cast<addr_type>(labels & 1U);
            entry.restoration = restoration;
            if (restoration != Restoration::copy) {
                entry.run = nullptr;
            } else if (entry.run == nullptr) {
                wrong_ = "an entry has no data";
            }
        });
    }

    void give(StoredCd &from, Range range) {
        StoredCd *to = find(reader_.number());
        const bool keeps = reader_.fixed8() != 0;
        if (to == nullptr || to == &from) {
            wrong_ = "a CD gives something to nobody";
            return;
        }
        for_each_at(from, state_.space, range, [&](uint64_t begin, const StoredEntry &entry) {
            erase(*to, state_.space, {begin, entry.end});
            to->entries.emplace(StoredPlace{state_.space, begin}, entry);
        });
        if (!keeps) {
            erase(from, state_.space, range);
        }
    }

    void bind(StoredCd &cd, Range range) {
        const uint64_t space = reader_.number();
        const uint64_t begin = reader_.number();
        if (begin > UINT64_MAX - range.length()) {
            wrong_ = "a range makes no sense";
            return;
        }
        std::vector<std::pair<uint64_t, StoredEntry>> moved;
        for_each_at(cd, space, range,
                    [&](uint64_t at, const StoredEntry &entry) { moved.emplace_back(at, entry); });
        erase(cd, space, range);
        for (auto &[at, entry] : moved) {
            entry.end = entry.end - range.begin + begin;
            cd.entries.insert_or_assign({state_.space, at - range.begin + begin}, entry);
        }
    }

    // ---- What a CD holds of a range ----

    void split(StoredEntries &entries, uint64_t space, uint64_t address) {
        auto at = entries.upper_bound({space, address});
        if (at == entries.begin()) {
            return;
        }
        --at;
        const uint64_t begin = at->first.begin;
        if (at->first.space != space || begin >= address || at->second.end <= address) {
            return;
        }
        StoredEntry second = at->second;
        second.run_offset += address - begin;
        second.key.offset += address - begin;
        at->second.end = address;
        entries.emplace(StoredPlace{space, address}, std::move(second));
    }

    template <typename Visit>
    void for_each_at(StoredCd &cd, uint64_t space, Range range, const Visit &visit) {
        split(cd.entries, space, range.begin);
        split(cd.entries, space, range.end);
        for (auto at = cd.entries.lower_bound({space, range.begin});
             at != cd.entries.end() && at->first < StoredPlace{space, range.end}; ++at) {
            visit(at->first.begin, at->second);
        }
    }

    template <typename Visit>
    void for_each(StoredCd &cd, uint64_t space, Range range, const Visit &visit) {
        for_each_at(cd, space, range, [&](uint64_t, StoredEntry &entry) { visit(entry); });
    }

    void erase(StoredCd &cd, uint64_t space, Range range) {
        split(cd.entries, space, range.begin);
        split(cd.entries, space, range.end);
        cd.entries.erase(cd.entries.lower_bound({space, range.begin}),
                         cd.entries.lower_bound({space, range.end}));
    }

    ByteReader reader_;
    State &state_;
    std::vector<std::shared_ptr<const StoredRun>> runs_;
    const char *wrong_ = nullptr;
};

} // namespace

void write_snapshot(const State &state, ChangeWriter &into) { SnapshotWriter(into).write(state); }

const char *apply_changes(std::span<const std::byte> bytes, State &state) {
    return Reading(bytes, state).apply();
}

} // namespace cd
