// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "restart/reload.h"

#include "restart/bind.h"
#include "restart/memory_names.h"

#include <algorithm>
#include <map>
#include <utility>

namespace cd {
namespace {

class Reload {
public:
    Reload(Domain &domain, OpenedStore &opened, Transaction &binds)
        : domain_(domain), opened_(opened), binds_(binds) {}

    Status add_all(const StoredEntries &entries) {
        for (const auto &[place, entry] : entries) {
            if (Status status = add(place, entry); !status) {
                return status;
            }
        }
        end_stretch();
        return Status::ok();
    }

private:
    // A name of the store, and the memory that has it in this process.
    struct Name {
        format::NameKind kind = format::NameKind::path;
        PendingName pending;
        uint64_t region_length = 0; // 0: it has not named the region
        MemoryNames::Loaded loaded; // of an object
    };

    Status add(const StoredPlace &place, const StoredEntry &entry) {
        const Name &name = name_of(entry.key.name);
        PendingName pending = name.pending;
        pending.add_index = entry.key.add_index;
        PendingRange range = range_from(place, entry);
        if (!name.loaded.instead.empty()) {
            return other_object(domain_, *pending.text, range, name.loaded.instead);
        }
        // A regen function of the other process means nothing here: an add has to give it again.
        if (name.kind == format::NameKind::path || range.restoration == Restoration::regen) {
            return wait(std::move(pending), std::move(range));
        }
        if (name.region_length > 0 && name.region_length != range.length) {
            return other_region_length(domain_, *pending.text, range, name.region_length);
        }
        const MemoryNames::Place here =
            MemoryNames::instance().find(name.kind, *pending.text, range.offset);
        const size_t length = range.old.length();
        if (here.room < length && name.loaded.is_here) {
            return not_writable(*pending.text, range);
        }
        if (here.room >= length && is_free(domain_, {here.address, here.address + length})) {
            record(range, here.address);
            place_arriving(domain_, range, here.address);
            return Status::ok();
        }
        return wait(std::move(pending), std::move(range));
    }

    Status not_writable(const std::string &name, const PendingRange &range) const {
        return fail(CD_ERROR_RESTART_MISMATCH,
                    "CD %s: the store %s holds %zu bytes at offset %llu of \"%s\" (object and "
                    "build-id), which are not writable in this process; start with CD_RESTART=no",
                    domain_.name(), domain_.store->path(), range.old.length(),
                    static_cast<unsigned long long>(range.offset), name.c_str());
    }

    // Entries that follow each other and are as far apart here as in the other process. One change
    // of the store binds all of them.
    struct Stretch {
        uint64_t space = 0;
        Range old;
        uintptr_t address = 0;
    };

    void record(const PendingRange &range, uintptr_t address) {
        const bool continues = !stretch_.old.empty() && stretch_.space == range.space &&
                               address - stretch_.address == range.old.begin - stretch_.old.begin;
        if (!continues) {
            end_stretch();
            stretch_ = {range.space, range.old, address};
        }
        stretch_.old.end = range.old.end;
    }

    void end_stretch() {
        if (!stretch_.old.empty()) {
            binds_.bind(domain_.number, stretch_.space, stretch_.old, stretch_.address);
        }
        stretch_ = {};
    }

    const Name &name_of(uint64_t number) {
        Name &name = names_[number];
        if (name.pending.text == nullptr) {
            look_up(opened_.loaded.state.names.at(number), name);
        }
        return name;
    }

    void look_up(const StoredName &stored, Name &name) const {
        name.kind = stored.kind;
        name.pending.text = std::make_shared<const std::string>(stored.text);
        MemoryNames &names = MemoryNames::instance();
        if (name.kind == format::NameKind::path) {
            name.pending.kind = PendingName::Kind::add_index;
        } else if (name.kind == format::NameKind::region) {
            name.pending.kind = PendingName::Kind::region;
            name.region_length = names.region(stored.text).length();
        } else {
            name.pending.kind = PendingName::Kind::object;
            name.loaded = names.look_up(stored.kind, stored.text);
            // Several libraries may have one file name, each loaded in its time.
            if (stored.kind == format::NameKind::object &&
                opened_.store->knows_object(name.loaded.instead)) {
                name.loaded.instead.clear();
            }
        }
    }

    PendingRange range_from(const StoredPlace &place, const StoredEntry &entry) {
        PendingRange range;
        range.space = place.space;
        range.old = {place.begin, entry.end};
        range.access = entry.access;
        range.scope = entry.scope;
        range.restoration = entry.restoration;
        range.added_anew = entry.added_anew;
        range.offset = entry.key.offset;
        range.length = entry.key.length;
        if (entry.run != nullptr) {
            range.data = opened_.pieces[entry.run->number].share(entry.run_offset);
        }
        return range;
    }

    Status wait(PendingName name, PendingRange range) {
        end_stretch();
        domain_.pending.insert(std::move(name), std::move(range));
        ++opened_.store->pending;
        return Status::ok();
    }

    Domain &domain_;
    OpenedStore &opened_;
    Transaction &binds_;
    Stretch stretch_;
    std::map<uint64_t, Name> names_;
};

} // namespace

Status reload(Domain &domain, const StoredCd &stored, OpenedStore &opened, Transaction &binds) {
    domain.restarted = true;
    domain.number = stored.number;
    domain.path = opened.loaded.state.names.at(stored.path).text;
    domain.epoch = stored.epoch;
    domain.pending_files = stored.files;
    Reload reload(domain, opened, binds);
    if (Status status = reload.add_all(stored.entries); !status) {
        return status;
    }
    domain.entries.accept_arriving();
    return Status::ok();
}

} // namespace cd
