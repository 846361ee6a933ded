// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "restart/reload.h"

#include "restart/memory_names.h"
#include "restart/placing.h"

#include <algorithm>
#include <map>
#include <utility>

namespace cd {
namespace {

class Filling {
public:
    Filling(Domain &domain, OpenedStore &opened, Transaction &binds)
        : domain_(domain), opened_(opened), binds_(binds) {}

    // What belongs to an object comes before what only may, since it has the object's build-id but
    // not its name: of a library that was copied, both are in places of their own; of two copies in
    // one process, the one that is loaded has its own data.
    Status add_all(const StoredEntries &entries) {
        size_t left = entries.size();
        for (bool only_of_build = false; left > 0; only_of_build = true) {
            for (const auto &[place, entry] : entries) {
                if (name_of(entry.key.name).is_only_of_build != only_of_build) {
                    end_stretch(); // which would take this one along
                    continue;
                }
                if (Status status = add(place, entry); !status) {
                    return status;
                }
                --left;
            }
            end_stretch();
        }
        return Status::ok();
    }

private:
    Status add(const StoredPlace &place, const StoredEntry &entry) {
        Name &name = name_of(entry.key.name);
        Unbound found = unbound_from(place, entry, name);
        if (!name.instead.empty()) {
            return other_object(domain_, found, name.instead);
        }
        // A function of the other process means nothing here: the program has to give it again.
        // What was left is given to who left it.
        if (found.known == Unbound::Known::by_order || found.left ||
            found.restoration == Restoration::regen) {
            return wait(std::move(found));
        }
        if (name.region_length > 0) {
            if (Status status = check_region(domain_, found, name.region_length); !status) {
                return status;
            }
        }
        const MemoryNames::Place here = find(name, found.offset);
        if (here.room < found.old.length() && name.is_here) {
            return in_no_writable_part(domain_, found);
        }
        if (here.room >= found.old.length() && is_free(domain_, here.address, found.old.length())) {
            write_down(found, here.address);
            place_arriving(domain_, found, here.address);
            return Status::ok();
        }
        return wait(std::move(found));
    }

    // What was added and is not written down yet.
    void end_stretch() {
        if (stretch_.old.begin < stretch_.old.end) {
            binds_.bind(domain_.number, stretch_.space, stretch_.old, stretch_.address,
                        stretch_.entries);
        }
        stretch_ = {};
    }

    // Entries that follow each other and are as far apart here as they were.
    struct Stretch {
        uint64_t space = 0;
        Range old;
        uintptr_t address = 0;
        size_t entries = 0;
    };

    void write_down(const Unbound &found, uintptr_t address) {
        const bool goes_on = stretch_.old.begin < stretch_.old.end &&
                             stretch_.space == found.space &&
                             address - stretch_.address == found.old.begin - stretch_.old.begin;
        if (!goes_on) {
            end_stretch();
            stretch_ = {found.space, found.old, address, 0};
        }
        stretch_.old.end = found.old.end;
        ++stretch_.entries;
    }

    // What is asked again and again of a name.
    struct Name {
        format::NameKind kind = format::NameKind::path;
        std::shared_ptr<const std::string> text;
        uint64_t region_length = 0;    // in this process, as far as it has named it
        std::string instead;           // what this process has in the place of an object
        bool is_only_of_build = false; // an object of which none has this name here
        bool is_here = false;          // the program that runs, or an object of this name
        MemoryNames::Place found;      // of the byte at offset
        uint64_t offset = 0;
    };

    Name &name_of(uint64_t number) {
        if (last_name_ == nullptr || number != last_number_) {
            Name &name = names_[number];
            if (name.text == nullptr) {
                const StoredName &stored = opened_.loaded.state.names.at(number);
                name.kind = stored.kind;
                name.text = std::make_shared<const std::string>(stored.text);
                MemoryNames &book = MemoryNames::instance();
                if (name.kind == format::NameKind::region) {
                    name.region_length = book.region(stored.text).length();
                } else if (name.kind != format::NameKind::path) {
                    name.instead = book.instead_of(stored.kind, stored.text);
                    name.is_only_of_build = !book.has(stored.text);
                    name.is_here = stored.kind == format::NameKind::program
                                       ? book.has_build(stored.text)
                                       : !name.is_only_of_build;
                }
                // Libraries of one file name may be several, of which each is loaded in its time.
                if (name.kind == format::NameKind::object &&
                    opened_.store->knows_object(name.instead)) {
                    name.instead.clear();
                }
            }
            last_name_ = &name;
            last_number_ = number;
        }
        return *last_name_;
    }

    static MemoryNames::Place find(Name &name, uint64_t offset) {
        if (offset < name.offset || offset - name.offset >= name.found.room) {
            name.found = MemoryNames::instance().find(name.kind, *name.text, offset);
            name.offset = offset;
        }
        const uint64_t further = offset - name.offset;
        return {name.found.address + further, name.found.room - further};
    }

    Unbound unbound_from(const StoredPlace &place, const StoredEntry &entry, const Name &name) {
        Unbound found;
        found.space = place.space;
        found.old = {place.begin, entry.end};
        found.access = entry.access;
        found.scope = entry.scope;
        found.restoration = entry.restoration;
        found.recent = entry.recent;
        if (entry.left.is) {
            found.left = true;
            found.left_by = std::make_shared<const std::string>(
                opened_.loaded.state.names.at(entry.left.path).text);
            found.left_in = entry.left.interval;
        }
        found.added_anew = entry.added_anew;
        found.filled_anew = entry.filled_anew;
        found.compared = entry.compared && !entry.run->checksums.empty();
        if (entry.run != nullptr) {
            found.data = opened_.pieces[entry.run->number].share(entry.run_offset);
        }
        found.known = name.kind == format::NameKind::path     ? Unbound::Known::by_order
                      : name.kind == format::NameKind::region ? Unbound::Known::in_region
                                                              : Unbound::Known::in_object;
        found.name = name.text;
        found.ordinal = entry.key.ordinal;
        found.offset = entry.key.offset;
        found.length = entry.key.length;
        return found;
    }

    Status wait(Unbound found) {
        end_stretch();
        domain_.unbound.push_back(std::move(found));
        ++opened_.store->unbound;
        return Status::ok();
    }

    Domain &domain_;
    OpenedStore &opened_;
    Transaction &binds_;
    Stretch stretch_;
    std::map<uint64_t, Name> names_;
    Name *last_name_ = nullptr;
    uint64_t last_number_ = 0;
};

} // namespace

void agree_on_lengths_of_regions(State &state) {
    std::map<uint64_t, uint64_t> lengths; // by the number of the name
    for (const auto &[number, name] : state.names) {
        if (name.kind == format::NameKind::region) {
            lengths[number] = 0;
        }
    }
    if (lengths.empty()) {
        return;
    }
    const auto each = [&](const auto &visit) {
        auto region = lengths.end();
        for (auto &[number, cd] : state.cds) {
            for (auto &[place, entry] : cd.entries) {
                if (region == lengths.end() || region->first != entry.key.name) {
                    region = lengths.find(entry.key.name);
                }
                if (region != lengths.end()) {
                    visit(region->second, entry.key);
                }
            }
        }
    };
    bool agree = true;
    each([&agree](uint64_t &longest, const StoredKey &key) {
        agree = agree && (longest == 0 || longest == key.length);
        longest = std::max(longest, key.length);
    });
    if (!agree) {
        each([](uint64_t longest, StoredKey &key) { key.length = longest; });
    }
}

void agree_on_first_values(State &state) {
    const auto is_filled_anew = [](const auto &held) { return held.second.filled_anew; };
    for (auto &[number, cd] : state.cds) {
        if (std::ranges::none_of(cd.entries, is_filled_anew)) {
            continue;
        }
        std::map<std::pair<uint64_t, uint64_t>, bool> all_are; // by name and ordinal
        const auto range_of = [](const StoredEntry &entry) {
            return std::pair(entry.key.name, entry.key.ordinal);
        };
        for (const auto &[place, entry] : cd.entries) {
            all_are.try_emplace(range_of(entry), true).first->second &= entry.filled_anew;
        }
        for (auto &[place, entry] : cd.entries) {
            entry.filled_anew = all_are.at(range_of(entry));
        }
    }
}

Status fill_from_store(Domain &domain, const StoredCd &stored, OpenedStore &opened,
                       Transaction &binds) {
    domain.restarted = true;
    domain.number = stored.number;
    domain.path = opened.loaded.state.names.at(stored.path).text;
    domain.epoch = stored.epoch;
    domain.unbound_files = stored.files;
    domain.unbound.reserve(stored.entries.size());
    domain.entries.expect(stored.entries.size());
    Filling filling(domain, opened, binds);
    if (Status status = filling.add_all(stored.entries); !status) {
        return status;
    }
    domain.entries.accept_arriving();
    domain.entries.expect(0);
    return Status::ok();
}

} // namespace cd
