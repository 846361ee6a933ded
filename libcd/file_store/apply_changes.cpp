// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "file_store/change_encoder.h"

#include "file_store/journal.h"

#include <algorithm>
#include <climits>
#include <iterator>
#include <utility>
#include <vector>

namespace cd {
namespace {

// True if the two entries can be one; results of comparisons do not matter.
bool continues(const StoredEntries::value_type &left, const StoredEntries::value_type &right) {
    StoredEntry expected = left.second;
    const uint64_t length = expected.end - left.first.begin;
    expected.key.offset += length;
    expected.run_offset = expected.run != nullptr ? expected.run_offset + length
                                                  : right.second.run_offset; // means nothing
    expected.end = right.second.end;
    return left.first.space == right.first.space && left.second.end == right.first.begin &&
           expected == right.second;
}

} // namespace

StoredEntries::iterator join_before(StoredEntries &entries, StoredEntries::iterator at) {
    if (at == entries.begin() || !continues(*std::prev(at), *at)) {
        return at;
    }
    StoredEntry &before = std::prev(at)->second;
    before.end = at->second.end;
    return std::prev(entries.erase(at));
}

using format::Change;
using format::NameKind;

namespace {

class Reading {
public:
    Reading(std::span<const std::byte> bytes, State &state)
        : reader_(bytes), state_(state), runs_before_(state.runs->size()) {}

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
        if (first > format::greatest_number) {
            wrong_ = "a number is greater than any that is given";
            return;
        }
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
        case Change::leave:
        case Change::bind:
            return apply_to_range(kind, first);
        case Change::demote:
        case Change::positions:
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
        if (reader_.bad() || kind > static_cast<uint8_t>(NameKind::program)) {
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
        constexpr uint64_t most_cds = 1U << 20; // that a process can have
        if (reader_.bad() || depth > INT_MAX || sibling >= most_cds ||
            state_.cds.contains(number) || !state_.names.contains(cd.path) ||
            (root != (depth == 0)) ||
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
        const uint64_t length = reader_.number();
        const bool checked = reader_.fixed8() != 0;
        const uint64_t parts =
            length / format::checked_part + (length % format::checked_part != 0 ? 1 : 0);
        if (offset > INT64_MAX || length > INT64_MAX - offset ||
            (checked && parts > reader_.left() / 4)) {
            wrong_ = "the place of data makes no sense";
            return;
        }
        StoredRun &run = state_.runs->emplace_back();
        run.offset = offset;
        run.length = length;
        run.number = state_.runs->size() - 1;
        run.checksums.reserve(checked ? parts : 0);
        for (uint64_t i = 0; checked && i < parts; ++i) {
            run.checksums.push_back(reader_.fixed32());
        }
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
        if (state_.versions.size() >= format::most_points_in_time) {
            wrong_ = "there are more points in time than a store keeps";
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
            demote(*cd);
            break;
        case Change::positions:
            read_files(*cd);
            break;
        case Change::epoch:
            cd->epoch = reader_.number();
            if (cd->epoch > format::greatest_number) {
                wrong_ = "an epoch is greater than any that is given";
            }
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

    // Joins entries without data of their own with their neighbours, as the process does.
    static void demote(StoredCd &cd) {
        for (auto at = cd.entries.begin(); at != cd.entries.end(); ++at) {
            StoredEntry &entry = at->second;
            entry.access = CD_READ_ONLY;
            entry.recent = false;
            entry.added_anew = false;
            if (entry.restoration == Restoration::parent) {
                at = join_before(cd.entries, at);
            }
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
            file.born = static_cast<int64_t>(reader_.number());
            wrong_ =
                reader_.fixed8() != 0 ? "a file position has labels that make no sense" : wrong_;
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
            return for_each_at(*cd, state_.space, range, [](uint64_t, StoredEntry &entry) {
                if (entry.restoration != Restoration::regen) {
                    entry.access = CD_READ_WRITE;
                }
            });
        case Change::erase:
            return erase(*cd, state_.space, range);
        case Change::give:
            return give(*cd, range);
        case Change::leave:
            return leave(*cd, range);
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
        const uint8_t restoration = labels >> 2U & 3U;
        entry.restoration = restoration == format::compared_copy
                                ? Restoration::copy
                                : static_cast<Restoration>(restoration);
        entry.added_anew = (labels & format::label_added_anew) != 0;
        entry.recent = (labels & format::label_recent) != 0;
        entry.key = {reader_.number(), reader_.number(), reader_.number(), reader_.number()};
        if (!state_.names.contains(entry.key.name)) {
            wrong_ = "an entry has labels that make no sense";
            return;
        }
        if (entry.restoration == Restoration::copy && !read_data(range.length(), entry)) {
            return;
        }
        if ((labels & format::label_left) != 0) { // of an older version; nobody binds it
            reader_.number();
            reader_.fixed64();
            return;
        }
        // Most entries lie behind all others.
        const StoredPlace place = {state_.space, range.begin};
        const auto last = cd.entries.rbegin();
        if (last != cd.entries.rend() && place < StoredPlace{last->first.space, last->second.end}) {
            erase(cd, state_.space, range);
        }
        cd.entries.emplace_hint(cd.entries.end(), place, entry);
    }

    bool read_data(uint64_t length, StoredEntry &entry) {
        const uint64_t run = reader_.number();
        const uint64_t offset = reader_.number();
        const size_t known = state_.runs->size() - runs_before_;
        const StoredRun *named = run < known ? &(*state_.runs)[runs_before_ + run] : nullptr;
        if (named == nullptr || offset > named->length || length > named->length - offset) {
            wrong_ = "an entry's data are not where it says";
            return false;
        }
        entry.run = named;
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
        join(cd.entries, range);
    }

    void relabel(StoredCd &cd, Range range) {
        const uint8_t labels = reader_.fixed8();
        if (labels >> 2U > static_cast<uint8_t>(Restoration::regen)) {
            wrong_ = "an entry has labels that make no sense";
            return;
        }
        const auto restoration = static_cast<Restoration>(labels >> 2U);
        for_each_at(cd, state_.space, range, [&](uint64_t, StoredEntry &entry) {
            entry.access = static_cast<addr_type>(labels & 1U);
            entry.restoration = restoration;
            if (restoration != Restoration::copy) {
                entry.run = nullptr;
            } else if (entry.run == nullptr) {
                wrong_ = "an entry has no data";
            }
        });
        if (restoration != Restoration::copy) {
            join(cd.entries, range);
        }
    }

    // Older versions gave a parent what a child had when the parent was restored.
    void leave(StoredCd &from, Range range) {
        reader_.number();
        reader_.fixed64();
        erase(from, state_.space, range);
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
            to->entries.emplace(StoredPlace{state_.space, begin}, entry).first->second.recent =
                true;
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
        entries.emplace(StoredPlace{space, address}, second);
    }

    // Joins neighbours in the range that are alike, also in the place of their data.
    void join(StoredEntries &entries, Range range) {
        auto at = entries.find({state_.space, range.begin});
        while (at != entries.end() && at->second.end < range.end) {
            if (++at == entries.end() || at->first >= StoredPlace{state_.space, range.end}) {
                break;
            }
            at = join_before(entries, at);
        }
    }

    template <typename Visit>
    void for_each_at(StoredCd &cd, uint64_t space, Range range, const Visit &visit) {
        if (const auto whole = cd.entries.find({space, range.begin});
            whole != cd.entries.end() && whole->second.end == range.end) {
            return visit(range.begin, whole->second); // the usual case
        }
        split(cd.entries, space, range.begin);
        split(cd.entries, space, range.end);
        for (auto at = cd.entries.lower_bound({space, range.begin});
             at != cd.entries.end() && at->first < StoredPlace{space, range.end}; ++at) {
            visit(at->first.begin, at->second);
        }
    }

    void erase(StoredCd &cd, uint64_t space, Range range) {
        split(cd.entries, space, range.begin);
        split(cd.entries, space, range.end);
        cd.entries.erase(cd.entries.lower_bound({space, range.begin}),
                         cd.entries.lower_bound({space, range.end}));
    }

    ByteReader reader_;
    State &state_;
    size_t runs_before_; // those that the changes name follow these
    const char *wrong_ = nullptr;
};

} // namespace

const char *apply_changes(std::span<const std::byte> bytes, State &state) {
    return Reading(bytes, state).apply();
}

} // namespace cd
