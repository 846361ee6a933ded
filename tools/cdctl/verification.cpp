// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "verification.h"

#include "text.h"

#include "base/counted.h"
#include "file_store/format.h"
#include "file_store/run.h"
#include "runtime/identity.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace cdctl {
namespace {

// What tells the data of one place from those that were there before.
struct SameRun {
    bool operator()(const cd::StoredRun *a, const cd::StoredRun *b) const {
        return std::tie(a->offset, a->length, a->checksums) <
               std::tie(b->offset, b->length, b->checksums);
    }
};

struct Use {
    std::string holder;
    const cd::StoredPlace *place;
    const cd::StoredEntry *entry;
    int version; // newest is -1
};

using Uses = std::map<const cd::StoredRun *, std::vector<Use>, SameRun>;

struct Part {
    const cd::StoredRun *run;
    uint64_t offset; // in the run
    uint64_t length;
    std::string reason;
};

void add_uses(const cd::StoredEntries &entries, const std::string &holder, int version,
              Uses &uses) {
    for (const auto &[place, entry] : entries) {
        if (entry.run != nullptr) {
            uses[entry.run].push_back({holder, &place, &entry, version});
        }
    }
}

Uses uses_of(const cd::Loaded &loaded) {
    Uses uses;
    for (const auto &[number, stored] : loaded.state.cds) {
        add_uses(stored.entries,
                 "CD " + cd::make_identity(loaded.header.rank, loaded.header.name, stored.depth,
                                           stored.sibling),
                 -1, uses);
    }
    int version = 0;
    for (const cd::StoredVersion &older : loaded.state.versions) {
        add_uses(older.entries, "older epoch " + std::to_string(older.epoch), version++, uses);
    }
    return uses;
}

bool is_same_state(const cd::Loaded &a, const cd::Loaded &b) {
    return a.header.id == b.header.id && a.header.generation == b.header.generation &&
           a.records == b.records;
}

std::string what_lies_there(const Use &use, const Part &part) {
    const cd::StoredEntry &entry = *use.entry;
    const uint64_t length = entry.end - use.place->begin;
    const uint64_t first = std::max(part.offset, entry.run_offset);
    const uint64_t last = std::min(part.offset + part.length, entry.run_offset + length);
    if (first >= last) {
        return {};
    }
    return use.holder + ": " + cd::counted(last - first, "byte") + " at " +
           hexadecimal(use.place->begin + (first - entry.run_offset));
}

class Verifying {
public:
    Verifying(Inspection &store, const std::function<void(uint64_t, uint64_t)> &done)
        : store_(store), done_(done), uses_(uses_of(store.loaded())) {}

    Verification run() {
        check_all();
        if (!bad_.empty() && !is_unchanged() && !settle()) {
            found_.problem = store_.path() + ": the process that has the store open changes it "
                                             "faster than its data can be read again";
            found_.outcome = Outcome::unreadable;
            return std::move(found_);
        }
        check_overlaps();
        describe();
        return std::move(found_);
    }

private:
    void check_all() {
        uint64_t all = 0;
        for (const auto &[run, uses] : uses_) {
            all += run->length;
        }
        uint64_t read = 0;
        for (const auto &[run, uses] : uses_) {
            (run->checksums.empty() ? found_.unchecked : found_.checked) += run->length;
            for (uint64_t at = 0; at < run->length; at += cd::format::checked_part) {
                const uint64_t length =
                    std::min<uint64_t>(cd::format::checked_part, run->length - at);
                check({run, at, length, {}});
                read += length;
                done_(read, all);
            }
        }
    }

    void check(Part part) {
        bytes_.resize(cd::format::checked_part);
        if (!cd::read_run(store_.file(), *part.run, part.offset, bytes_.data(), part.length)) {
            part.reason = cd::message();
            bad_.push_back(std::move(part));
        }
    }

    // Nobody has made another state of it since it was loaded, not even a process that came later.
    bool is_unchanged() const {
        cd::Loaded now;
        return cd::load(store_.file(), now).is_ok() && is_same_state(now, store_.loaded());
    }

    // What does not match may have been written over meanwhile; but only what the newest state has
    // nothing to do with is written over. So what one state refers to, before it is read and after,
    // and does not match, is bad. False: the state is never the same.
    bool settle() {
        for (int attempt = 0; attempt < attempts; ++attempt) {
            kept_.push_back(store_.loaded()); // the parts point into it
            if (!store_.load_again()) {
                wait_a_moment();
                continue;
            }
            Uses uses = uses_of(store_.loaded());
            std::vector<Part> suspects;
            std::swap(suspects, bad_);
            for (const Part &part : suspects) {
                const auto now = uses.find(part.run);
                if (now != uses.end()) {
                    check({now->first, part.offset, part.length, {}});
                }
            }
            uses_ = std::move(uses);
            if (bad_.empty()) {
                return true;
            }
            kept_.push_back(store_.loaded());
            if (store_.load_again() && is_same_state(kept_.back(), store_.loaded())) {
                uses_ = uses_of(store_.loaded());
                for (Part &part : bad_) {
                    part.run = uses_.find(part.run)->first;
                }
                return true;
            }
            wait_a_moment();
        }
        return false;
    }

    // Two things in one place: one of them is lost.
    void check_overlaps() {
        struct Taken {
            uint64_t offset;
            uint64_t length;
            const char *what;
            const cd::StoredRun *run;
        };
        const cd::Superblock &header = store_.loaded().header;
        std::vector<Taken> taken = {{0, cd::format::first_extent, "the headers", nullptr}};
        for (const uint64_t distance : header.distances()) {
            taken.push_back({header.snapshot.offset + distance, header.snapshot.length,
                             "the snapshot", nullptr});
            taken.push_back(
                {header.journal.offset + distance, header.journal.length, "the journal", nullptr});
        }
        for (const auto &[run, uses] : uses_) {
            if (run->length > 0) {
                taken.push_back({run->offset, run->length, "data", run});
            }
        }
        std::ranges::sort(taken, {}, &Taken::offset);
        for (size_t i = 1; i < taken.size(); ++i) {
            const Taken &first = taken[i - 1];
            const Taken &second = taken[i];
            if (second.offset >= first.offset + first.length) {
                continue;
            }
            const Taken &data = second.run != nullptr ? second : first;
            const Taken &other = &data == &second ? first : second;
            bad_.push_back({data.run, 0, data.length,
                            store_.path() + ": the data at offset " + std::to_string(data.offset) +
                                " overlap " + other.what + " at offset " +
                                std::to_string(other.offset)});
        }
    }

    void describe() {
        const cd::State &state = store_.loaded().state;
        std::vector<bool> version_bad(state.versions.size());
        bool newest_bad = false;
        for (const Part &part : bad_) {
            const uint64_t at = part.run != nullptr ? part.run->offset + part.offset : 0;
            Verification::BadData &bad =
                found_.bad.emplace_back(Verification::BadData{at, part.length, part.reason, {}});
            if (part.run == nullptr) {
                newest_bad = true;
                continue;
            }
            for (const Use &use : uses_.at(part.run)) {
                std::string text = what_lies_there(use, part);
                if (text.empty()) {
                    continue;
                }
                bad.holds.push_back(std::move(text));
                if (use.version < 0) {
                    newest_bad = true;
                } else {
                    version_bad[static_cast<size_t>(use.version)] = true;
                }
            }
        }
        const auto sort_in = [&](uint64_t epoch, bool bad) {
            (bad ? found_.bad_epochs : found_.good_epochs).push_back(epoch);
        };
        sort_in(state.cds.at(cd::State::root).epoch, newest_bad);
        for (size_t i = state.versions.size(); i-- > 0;) {
            sort_in(state.versions[i].epoch, version_bad[i]);
        }
        if (!found_.bad_epochs.empty()) {
            found_.outcome = found_.good_epochs.empty() ? Outcome::damaged : Outcome::older;
        }
    }

    Inspection &store_;
    const std::function<void(uint64_t, uint64_t)> &done_;
    Uses uses_;
    std::vector<Part> bad_;
    std::vector<cd::Loaded> kept_;
    std::vector<std::byte> bytes_;
    Verification found_;
};

} // namespace

Verification verify_data(Inspection &store,
                         const std::function<void(uint64_t done, uint64_t all)> &done) {
    return Verifying(store, done).run();
}

} // namespace cdctl
