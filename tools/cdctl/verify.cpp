// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "base/text.h"
#include "describe.h"
#include "file_store/format.h"
#include "file_store/stored_data.h"
#include "main.h"
#include "output.h"
#include "path_args.h"
#include "runtime/identity.h"
#include "store_reader.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace cdctl {
namespace {

// The result of reading all data of a store.
struct Verification {
    struct BadData {
        uint64_t offset = 0; // in the file
        uint64_t length = 0;
        std::string reason;             // names file and offset
        std::vector<std::string> holds; // what of which CD or point in time lies there
    };

    Outcome outcome = Outcome::good;
    uint64_t checked = 0;   // bytes that were read and compared
    uint64_t unchecked = 0; // bytes that have no checksum
    std::vector<BadData> bad;
    std::vector<uint64_t> good_epochs; // of the root, newest first
    std::vector<uint64_t> bad_epochs;
    std::string problem; // "" if it could be verified
};

// Compares runs by place and checksums.
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

class Verify {
public:
    explicit Verify(StoreReader &store)
        : store_(store), progress_(store.path()), uses_(uses_of(store.loaded())) {}

    Verification run() {
        check_all();
        if (!bad_.empty() && !is_unchanged() && !settle()) {
            found_.problem = store_.path() + ": the process that has the store open changes it "
                                             "faster than its data can be read again";
            found_.outcome = Outcome::unreadable;
            return std::move(found_);
        }
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
                progress_.show(read, all);
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

    // True if the store has the same state as when it was loaded.
    bool is_unchanged() const {
        cd::Loaded now;
        return cd::load(store_.file(), now).is_ok() && is_same_state(now, store_.loaded());
    }

    // Only data that the newest state does not refer to are overwritten. So data that one state
    // refers to before and after they are read, and that do not match, are bad. False if the state
    // always changes.
    bool settle() {
        for (int attempt = 0; attempt < most_attempts; ++attempt) {
            kept_.push_back(store_.loaded()); // the parts point into it
            if (!store_.load_again()) {
                wait_shortly();
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
            wait_shortly();
        }
        return false;
    }

    void describe() {
        const cd::State &state = store_.loaded().state;
        std::vector<bool> version_bad(state.versions.size());
        bool newest_bad = false;
        for (const Part &part : bad_) {
            Verification::BadData &bad = found_.bad.emplace_back(Verification::BadData{
                part.run->offset + part.offset, part.length, part.reason, {}});
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

    StoreReader &store_;
    ProgressLine progress_;
    Uses uses_;
    std::vector<Part> bad_;
    std::vector<cd::Loaded> kept_;
    std::vector<std::byte> bytes_;
    Verification found_;
};

std::string epochs_text(const std::vector<uint64_t> &epochs) {
    std::string text;
    for (const uint64_t epoch : epochs) {
        text += (text.empty() ? "" : ", ") + std::to_string(epoch);
    }
    return text;
}

// Combines the states of metadata and data.
const char *verdict_text(Outcome outcome) {
    constexpr const char *texts[] = {"good", "older", "unreadable", "renamed", "damaged"};
    return texts[static_cast<size_t>(outcome)];
}

void print(const StoreReader &store, const Verification &found, Outcome outcome) {
    std::string line = printable(store.path()) + ": " +
                       (outcome == Outcome::damaged   ? "DAMAGED"
                        : outcome == Outcome::renamed ? "RENAMED"
                                                      : verdict_text(outcome)) +
                       use_text(store);
    if (store.has_state() && found.problem.empty()) {
        line += "; epoch " + epochs_text(found.good_epochs) +
                (found.good_epochs.empty() ? "none" : "") + " whole";
        line += found.bad_epochs.empty() ? "" : ", " + epochs_text(found.bad_epochs) + " damaged";
        line += "; data of " + size_text(found.checked) + " checked";
        line += found.unchecked == 0 ? "" : ", " + size_text(found.unchecked) + " has no checksums";
    }
    std::puts(line.c_str());
    for (const std::string &problem : {store.problem(), found.problem}) {
        if (!problem.empty()) {
            std::puts(("  " + printable(problem)).c_str());
        }
    }
    for (const Verification::BadData &bad : found.bad) {
        std::puts(("  " + printable(bad.reason)).c_str());
        for (const std::string &what : bad.holds) {
            std::puts(("    " + printable(what)).c_str());
        }
    }
}

Json describe(const StoreReader &store, const Verification &found, Outcome outcome) {
    Json json = describe(store);
    json["verdict"] = verdict_text(outcome);
    json["exit_status"] = exit_status(outcome);
    if (!store.has_state()) {
        return json;
    }
    json["good_epochs"] = found.good_epochs;
    json["damaged_epochs"] = found.bad_epochs;
    json["checked_bytes"] = found.checked;
    json["unchecked_bytes"] = found.unchecked;
    json["not_verified"] = text_or_null(found.problem);
    json["damaged_data"] = Json::array();
    for (const Verification::BadData &bad : found.bad) {
        json["damaged_data"].push_back({{"offset", bad.offset},
                                        {"bytes", bad.length},
                                        {"reason", bad.reason},
                                        {"holds", bad.holds}});
    }
    return json;
}

} // namespace

Outcome verify(const Arguments &arguments) {
    Json stores = Json::array();
    const Outcome outcome = StorePaths(arguments.paths).visit([&](StoreReader &store) {
        const Verification found = store.has_state() ? Verify(store).run() : Verification();
        const Outcome both = std::max(store.outcome(), found.outcome);
        arguments.json ? stores.push_back(describe(store, found, both)) : print(store, found, both);
        return both;
    });
    if (arguments.json) {
        print_json({{"stores", stores}});
    }
    return outcome;
}

} // namespace cdctl
