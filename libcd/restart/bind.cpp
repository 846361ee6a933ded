// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "restart/bind.h"

#include "base/no_throw.h"
#include "base/reserve_one.h"
#include "domains/add.h"
#include "domains/ancestors.h"
#include "os/system.h"
#include "ranges/range_set.h"
#include "restart/memory_names.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace cd {
namespace {

using Kind = PendingName::Kind;

// One add call. Without keep() the destructor makes the bound ranges pending again.
class Binding {
public:
    Binding(Domain &domain, const AddRequest &request)
        : domain_(domain), request_(request), add_index_(domain.store->add_index(domain.number)) {}
    Binding(const Binding &) = delete;
    Binding &operator=(const Binding &) = delete;
    ~Binding() {
        if (!kept_) {
            take_back();
        }
    }

    // In the order of the list, by which unnamed ranges are known.
    Status bind_all() {
        std::vector<Range> unbound;
        for (int i = 0; i < request_.count; ++i) {
            find_unbound_parts(range_of(request_.list[i]), unbound);
            for (Range rest : unbound) {
                while (!rest.empty()) {
                    Range part = rest;
                    if (Status status = bind_first(part); !status) {
                        return status;
                    }
                    if (!refused_) {
                        return refused_;
                    }
                    rest.begin = part.end;
                }
            }
        }
        return Status::ok();
    }

    // Writes memory as the restore would have done. to_regenerate: gets what the regen function of
    // the call has to write.
    Status write_owed(std::vector<cd_addrspec> &to_regenerate) {
        std::vector<Bound> owed;
        std::ranges::copy_if(bound_, std::back_inserter(owed),
                             [](const Bound &bound) { return bound.pending->second.owed; });
        if (Status status = owed.empty() ? Status::ok() : domain_.store->check_readable();
            !status) {
            return status;
        }
        std::ranges::stable_sort(owed, std::ranges::greater(),
                                 [](const Bound &bound) { return bound.holder->depth; });
        for (const Bound &bound : owed) {
            if (Status status = write_owed(bound, to_regenerate); !status) {
                return status;
            }
        }
        return Status::ok();
    }

    // Makes the bound ranges entries of their CDs, and proposes the change to the store.
    void publish() {
        std::unique_ptr<Transaction> binds = domain_.store->begin();
        for (const auto &[holder, pending, entry, here] : bound_) {
            binds->bind(holder->number, pending->second.space, pending->second.old, here.begin);
        }
        domain_.store->propose(std::move(binds), domain_.number, std::move(ordered_));
        for (const Bound &bound : bound_) {
            bound.holder->entries.accept_arriving();
        }
        published_ = true;
    }

    void keep() noexcept {
        for (const Bound &bound : bound_) {
            bound.holder->pending.erase(bound.pending);
        }
        domain_.store->pending -= bound_.size();
        domain_.skips_pending |= skips_pending_;
        domain_.store->accept_proposed();
        kept_ = true;
    }

private:
    struct Bound {
        Domain *holder;
        PendingRanges::Position pending;
        Entry *entry; // while it arrives; the add may split it
        Range here;
    };

    // Finds the parts of range that neither the CD nor earlier elements of the call hold.
    void find_unbound_parts(Range range, std::vector<Range> &parts) const {
        parts.clear();
        const auto add_part = [&](Range part) {
            if (!part.empty()) {
                added_.for_each_gap(part, [&](Range rest) { parts.push_back(rest); });
            }
        };
        uintptr_t done = range.begin;
        for (auto at = domain_.entries.find(done);
             at != domain_.entries.end() && at->second->range.begin < range.end; ++at) {
            add_part({done, std::max(done, at->second->range.begin)});
            done = std::min(range.end, at->second->range.end);
        }
        add_part({done, range.end});
    }

    // Shortens part to its first bytes that have one name, or none, and binds these.
    Status bind_first(Range &part) {
        StoredName name;
        StoredKey key;
        if (Status status = MemoryNames::instance().describe(part, name, key); !status) {
            return status;
        }
        return name.kind == format::NameKind::path ? bind_by_add_order(part)
                                                   : bind_by_name(name, key, part);
    }

    // Binds the whole range that the CD added at this place of its order, also where ancestors
    // got it from a CD of the same path that was committed.
    Status bind_by_add_order(Range part) {
        const uint64_t index = add_index_++;
        const bool later_are_pending =
            domain_.pending.added_after(domain_.path, index) != domain_.pending.end();
        ordered_[part.begin] = {part.end, index, domain_.restarted && later_are_pending};
        added_.add(part);
        std::optional<std::pair<uint64_t, uint64_t>> base;
        size_t bound_here = 0;
        for (Domain *holder = &domain_; holder != nullptr; holder = holder->parent) {
            const bool found_below = base.has_value();
            const auto [first, last] = holder->pending.added_as(domain_.path, index);
            for (auto at = first; at != last; ++at) {
                const PendingRange &range = at->second;
                if (range.length != part.length()) {
                    if (holder == &domain_) {
                        return other_length(range, index, part);
                    }
                } else if (!base || *base == range.base()) {
                    base = range.base();
                    bind(*holder, at, part.begin + range.offset, part);
                    bound_here += holder == &domain_ ? range.old.length() : 0;
                } else if (!found_below) {
                    return several_ranges(*holder, part);
                }
            }
        }
        skips_pending_ |= later_are_pending && bound_here < part.length();
        return Status::ok();
    }

    Status other_length(const PendingRange &range, uint64_t index, Range part) const {
        return fail(
            CD_ERROR_RESTART_MISMATCH,
            "CD %s: range %llu in add order has %llu bytes in store %s, but %zu bytes at %p are "
            "added; keep the add order, use cd_name_region, or start with CD_RESTART=no",
            domain_.name(), static_cast<unsigned long long>(index),
            static_cast<unsigned long long>(range.length), domain_.store->path(), part.length(),
            part.address());
    }

    Status several_ranges(const Domain &holder, Range part) const {
        return fail(CD_ERROR_RESTART_MISMATCH,
                    "CD %s: the %zu bytes added at %p could be several ranges of that length of CD "
                    "%s in its store %s; name them with cd_name_region",
                    domain_.name(), part.length(), part.address(), holder.name(),
                    domain_.store->path());
    }

    // Binds everything that the family holds of the object or the region that part lies in.
    Status bind_by_name(const StoredName &name, const StoredKey &key, Range part) {
        if (family_.empty()) {
            Domain *root = &domain_;
            while (!root->is_root()) {
                root = root->parent;
            }
            family_ = subtree_of(*root);
        }
        if (name.kind == format::NameKind::region) {
            return bind_region(name.text, key, part);
        }
        const size_t bound_before = bound_.size();
        Status status;
        for (Domain *holder : family_) {
            holder->pending.for_each_object([&](const std::string &object) {
                const auto replaced = [&] {
                    return MemoryNames::instance()
                        .look_up(format::NameKind::object, object)
                        .instead;
                };
                if (MemoryNames::are_of_one_build(object, name.text)) {
                    bind_object(*holder, object, part);
                } else if (status.is_ok() && !domain_.store->knows_object(name.text) &&
                           replaced() == name.text) {
                    status = other_object(*holder, object,
                                          holder->pending.in(Kind::object, object).first->second,
                                          name.text);
                }
            });
        }
        return bound_.size() == bound_before ? status : Status::ok();
    }

    Status bind_region(const std::string &region, const StoredKey &key, Range part) {
        for (Domain *holder : family_) {
            const auto [first, last] = holder->pending.in(Kind::region, region);
            for (auto at = first; at != last; ++at) {
                const PendingRange &range = at->second;
                if (range.length != key.length) {
                    return other_region_length(*holder, region, range, key.length);
                }
                bind(*holder, at, part.begin - key.offset + range.offset, part);
            }
        }
        return Status::ok();
    }

    void bind_object(Domain &holder, const std::string &object, Range part) {
        const auto [first, last] = holder.pending.in(Kind::object, object);
        for (auto at = first; at != last; ++at) {
            const PendingRange &range = at->second;
            const MemoryNames::Place here =
                MemoryNames::instance().find(format::NameKind::object, object, range.offset);
            if (here.room >= range.old.length()) {
                bind(holder, at, here.address, part);
            }
        }
    }

    // Leaves the range pending where the CD holds bytes at address already, and where it needs a
    // regen function that this call does not give. The function of a part is that of the range.
    void bind(Domain &holder, PendingRanges::Position pending, uintptr_t address, Range part) {
        const PendingRange &range = pending->second;
        const Range here = {address, address + range.old.length()};
        const bool is_regenerated = range.restoration == Restoration::regen;
        const bool gives_function = request_.restoration == Restoration::regen;
        const bool is_added = here.begin < part.end && part.begin < here.end;
        if (!is_free(holder, here) ||
            (is_regenerated && !(is_added && (gives_function || &holder == &domain_)))) {
            return;
        }
        if (is_regenerated && !gives_function && (here.begin < part.begin || part.end < here.end)) {
            refused_ = only_a_part(here, part);
            return;
        }
        reserve_one(bound_);
        Entry &entry = place_arriving(holder, range, address);
        if (is_regenerated) {
            entry.regen = request_.regen;
            entry.origin.call = request_.call;
        }
        bound_.push_back({&holder, pending, &entry, here});
        skips_pending_ |= &holder == &domain_ && range.added_anew;
    }

    Status only_a_part(Range here, Range part) const {
        return fail(CD_ERROR_RESTART_MISMATCH,
                    "CD %s: the store %s holds %zu bytes at %p via regen, and this program adds "
                    "%zu bytes at %p otherwise; add all of them via regen first",
                    domain_.name(), domain_.store->path(), here.length(), here.address(),
                    part.length(), part.address());
    }

    Status write_owed(const Bound &bound, std::vector<cd_addrspec> &to_regenerate) const {
        const PendingRange &range = bound.pending->second;
        const auto read = [](const Piece &data, size_t offset, Range here) {
            return data.block().backing()->read(data.offset() + offset, here.address(),
                                                here.length());
        };
        Status status;
        switch (range.restoration) {
        case Restoration::copy:
            return read(range.data, 0, bound.here);
        case Restoration::parent:
            for_each_source(
                bound.holder->parent, bound.here,
                [&](const Entry &source, Range part) {
                    if (status.is_ok()) {
                        status = read(source.data, part.begin - source.range.begin, part);
                    }
                },
                [](Range) {});
            return status;
        case Restoration::regen:
            if (request_.restoration == Restoration::regen) {
                to_regenerate.push_back(
                    {bound.here.address(), bound.here.length(), CD_READ_ONLY, range.scope});
            }
            return status;
        }
        return status;
    }

    void take_back() noexcept {
        for (const Bound &bound : bound_) {
            RangeIndex &entries = bound.holder->entries;
            if (!published_) {
                entries.reject_arriving();
                continue;
            }
            auto at = entries.find(bound.here.begin);
            while (at != entries.end() && at->second->range.begin < bound.here.end) {
                at = entries.erase(at);
            }
        }
        if (published_) {
            domain_.store->reject_proposed();
        }
    }

    Domain &domain_;
    const AddRequest &request_;
    uint64_t add_index_; // of the next unnamed range
    OrderedRanges ordered_;
    RangeSet added_;               // unnamed ranges of earlier elements
    std::vector<Domain *> family_; // once a name is bound
    std::vector<Bound> bound_;
    Status refused_; // why a range cannot be bound
    bool skips_pending_ = false;
    bool published_ = false;
    bool kept_ = false;
};

} // namespace

Status bind_and_add(Domain &domain, const AddRequest &request, size_t &copied,
                    const Regenerate &regenerate) {
    Binding binding(domain, request);
    if (Status status = binding.bind_all(); !status) {
        return status;
    }
    std::vector<cd_addrspec> to_regenerate;
    if (Status status = binding.write_owed(to_regenerate); !status) {
        return status;
    }
    if (Status status = to_regenerate.empty() ? Status::ok() : regenerate(to_regenerate); !status) {
        return status;
    }
    binding.publish();
    Status status = add(domain, request, copied);
    if (status.is_ok()) {
        binding.keep();
    }
    return status;
}

Status check_add_order(Domain &domain) {
    if (!domain.restarted || !domain.skips_pending) {
        return Status::ok();
    }
    const auto [first, last] = domain.pending.in(Kind::add_index, domain.path);
    if (first == last) {
        return Status::ok();
    }
    return fail(CD_ERROR_RESTART_MISMATCH,
                "CD %s cannot be restored: store %s lacks a range that was added, and holds range "
                "%llu (%llu bytes), not added yet; add all in order, or use cd_name_region",
                domain.name(), domain.store->path(),
                static_cast<unsigned long long>(first->first.add_index),
                static_cast<unsigned long long>(first->second.length));
}

void warn_of_pending_files(const Domain &domain) noexcept {
    if (domain.pending_files.empty() || domain.store->warned_of_files.exchange(true)) {
        return;
    }
    best_effort([&] {
        const FilePosition &first = domain.pending_files.front();
        const std::string line =
            std::string("CD ") + domain.name() + " has advanced, and its store " +
            domain.store->path() + " holds " + std::to_string(domain.pending_files.size()) +
            " file positions that no add has taken, the first of inode " +
            std::to_string(first.inode) + " of device " + std::to_string(first.device) +
            " at position " + std::to_string(first.position) +
            "; add the same files first, or set positions with lseek";
        os::system().warn(line.c_str());
    });
}

bool is_free(const Domain &domain, Range range) {
    const auto at = domain.entries.find(range.begin);
    return at == domain.entries.end() || at->second->range.begin >= range.end;
}

Entry &place_arriving(Domain &domain, const PendingRange &range, uintptr_t address) {
    domain.restore_may_fail = true;
    auto entry = domain.entries.make_entry();
    entry->range = {address, address + range.old.length()};
    entry->access = range.access;
    entry->scope = range.scope;
    entry->restoration = range.restoration;
    entry->data = range.data.share_use(range.old.length());
    domain.entries.insert_arriving(domain.entries.find(address), entry.get());
    return *entry.release();
}

Status other_region_length(const Domain &domain, const std::string &name, const PendingRange &range,
                           uint64_t length) {
    return fail(CD_ERROR_RESTART_MISMATCH,
                "CD %s: a region has %llu bytes in this program and %llu in the store: \"%s\" in "
                "%s; name the "
                "same bytes with cd_name_region, or start with CD_RESTART=no",
                domain.name(), static_cast<unsigned long long>(length),
                static_cast<unsigned long long>(range.length), name.c_str(), domain.store->path());
}

Status other_object(const Domain &domain, const std::string &name, const PendingRange &range,
                    const std::string &instead) {
    return fail(CD_ERROR_RESTART_MISMATCH,
                "CD %s: the store %s holds %zu bytes of \"%s\" (object and build-id), but this "
                "process has \"%s\"; run the program that wrote the store, or start with "
                "CD_RESTART=no",
                domain.name(), domain.store->path(), range.old.length(), name.c_str(),
                instead.c_str());
}

} // namespace cd
