// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "restart/bind.h"

#include "base/make_room.h"
#include "domains/add.h"
#include "domains/ancestry.h"
#include "restart/address_book.h"
#include "restart/gaps.h"
#include "restart/placing.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cd {
namespace {

Domain &root_of(Domain &domain) {
    Domain *at = &domain;
    while (!at->is_root()) {
        at = at->parent;
    }
    return *at;
}

// Those of the CD's family that hold anything unbound.
std::vector<Domain *> waiting_in_family_of(Domain &domain) {
    std::vector<Domain *> family = subtree_of(root_of(domain));
    std::erase_if(family, [](const Domain *each) { return each->unbound.empty(); });
    return family;
}

// prepare() finds what is to be bound and puts it into the CDs as arriving, where sources of PARENT
// bytes are found too; publish() makes it theirs for the add call. Without keep() the destructor
// takes everything back, but for memory that was written: it is owed as before.
class Binding {
public:
    Binding(Domain &domain, const AddRequest &request)
        : domain_(domain), request_(request), waiting_(waiting_in_family_of(domain)),
          gaps_(domain) {}
    Binding(const Binding &) = delete;
    Binding &operator=(const Binding &) = delete;

    ~Binding() {
        if (kept_) {
            return;
        }
        if (published_) {
            unpublish();
        }
        for (const Bound &bound : bound_) {
            bound.domain->entries.reject_arriving();
        }
        for (const Leaving &leaving : leaving_) {
            leaving.domain->unbound[leaving.number].leaving = false;
        }
    }

    // In the order of the list, as the entries were written down when they were added first.
    Status prepare() {
        for (int i = 0; i < request_.count; ++i) {
            const Range range = range_of(request_.list[i]);
            for (Range gap = gaps_.first_in(range); !gap.empty();
                 gap = gaps_.first_in({gap.end, range.end})) {
                for (Range rest = gap; !rest.empty();) {
                    Range part = rest;
                    if (Status status = find_for_first(part); !status) {
                        return status;
                    }
                    rest.begin = part.end;
                }
            }
        }
        return Status::ok();
    }

    // The add call finds what it names, and what it writes down counts on that.
    void publish() {
        std::unique_ptr<Transaction> binds = domain_.ledger->begin();
        for (const Bound &bound : bound_) {
            binds->bind(bound.domain->number, bound.space, bound.old, bound.entry->range.begin, 1);
        }
        for (const auto &[domain, space, old] : superseded_) {
            binds->erase_unbound(domain->number, space, old);
        }
        for (const auto &[domain, number] : leaving_) {
            gone_[domain].push_back(number);
        }
        for (auto &[domain, numbers] : gone_) {
            std::ranges::sort(numbers);
        }
        domain_.ledger->propose(std::move(binds), domain_.number, gaps_.take_counted());
        for (const Bound &bound : bound_) {
            bound.domain->entries.accept_arriving();
        }
        published_ = true;
    }

    void keep() noexcept {
        for (const auto &[domain, numbers] : gone_) {
            domain->unbound.remove(numbers);
            domain_.ledger->unbound -= numbers.size();
        }
        for (const Range &range : reached_) {
            domain_.bound_ahead.erase(range);
        }
        for (OrderedParts::Node &part : early_) {
            domain_.bound_early.add(std::move(part));
        }
        for (auto &[domain, part] : ahead_) {
            domain->bound_ahead.add(std::move(part));
        }
        for (auto &[domain, part] : anew_) {
            domain->added_anew.add(std::move(part));
        }
        domain_.goes_on |= goes_on_;
        domain_.ledger->accept_proposed();
        kept_ = true;
    }

    // What a restore would have written: the oldest CD's bytes last, as there.
    Status pay_what_is_owed() {
        std::ranges::stable_sort(bound_, std::ranges::greater(),
                                 [](const Bound &bound) { return bound.domain->depth; });
        for (const Bound &bound : bound_) {
            if (Status status = bound.owed ? write_memory(bound) : Status::ok(); !status) {
                return status;
            }
        }
        return Status::ok();
    }

private:
    struct Bound {
        Domain *domain;
        uint64_t space;
        Range old;
        Entry *entry; // as it arrives; later calls may split it
        Range here;
        bool owed;
    };

    // The call may have split entries, which it does not take back.
    void unpublish() noexcept {
        for (const Bound &bound : bound_) {
            RangeIndex &entries = bound.domain->entries;
            auto at = entries.find(bound.here.begin);
            while (at != entries.end() && at->second->range.begin < bound.here.end) {
                at = entries.erase(at);
            }
        }
        domain_.ledger->reject_proposed();
    }

    // gap: bytes of the call that the CD's own calls have not added. Becomes the first of these,
    // that belong together.
    Status find_for_first(Range &gap) {
        StoredName name;
        StoredKey key;
        if (AddressBook::instance().describe(gap, name, key)) {
            return bind_known(name, key, gap);
        }
        const auto [end, ordinal, added_anew] = gaps_.count(gap);
        std::optional<Unbound *> first;
        if (Status status = find_by_order(domain_, ordinal, gap, true, first); !status) {
            return status;
        }
        const auto ahead = domain_.bound_ahead.find(gap.begin);
        if (ahead != domain_.bound_ahead.end() && ahead->first < gap.end) {
            return reach(gap, ordinal, ahead, first);
        }
        for (Domain *above = domain_.parent; above != nullptr && !first; above = above->parent) {
            if (Status status = find_by_order(*above, ordinal, gap, false, first); !status) {
                return status;
            }
        }
        if (first) {
            bind_old(**first, gap);
        } else {
            supersede(ordinal);
            goes_on_ |= domain_.unbound.has_later(domain_.path, ordinal);
        }
        if (added_anew) {
            note_what_is_new(ordinal, gap);
        }
        return Status::ok();
    }

    void note_what_is_new(uint64_t ordinal, Range gap) {
        const auto note = [&](uintptr_t begin, uintptr_t end) {
            if (begin < end) {
                const OrderedParts::Part part = {end, 0, 0, ordinal, begin - gap.begin};
                anew_.push_back({&domain_, OrderedParts::make(begin, part)});
            }
        };
        uintptr_t begin = gap.begin;
        const RangeIndex &entries = domain_.entries;
        for (auto at = entries.find(begin); at != entries.end(); ++at) {
            const Range arrived = at->second->range;
            if (arrived.begin >= gap.end) {
                break;
            }
            note(begin, arrived.begin);
            begin = arrived.end;
        }
        note(begin, gap.end);
    }

    // ahead: what is in gap already, or in its first bytes that are. first: what the CD has for it
    // that is not bound yet, which can only be the rest.
    Status reach(Range gap, uint64_t ordinal, OrderedParts::Position ahead,
                 const std::optional<Unbound *> &first) {
        // Modulo 2^64, since it may begin behind gap.
        const OrderedParts::Part begin = ahead->second.from(gap.begin - ahead->first);
        const auto is_of = [&](const Unbound &rest) {
            return (begin.space == rest.space && begin.old == rest.old.begin - rest.offset) ||
                   (begin.ordinal == rest.ordinal && begin.offset == 0);
        };
        if (first && !is_of(**first)) {
            return fail(CD_ERROR_RESTART_MISMATCH,
                        "CD %s: this program adds %zu bytes at %p, of which the CD has other data "
                        "from its store %s than those of the range that is next in its order; add "
                        "the same ranges in the same order as the program that wrote the store, "
                        "give them names with cd_name_region, or start with CD_RESTART=no",
                        domain_.name(), gap.length(), gap.address(), domain_.ledger->path());
        }
        domain_.bound_ahead.make_border(gap.begin);
        domain_.bound_ahead.make_border(gap.end);
        reached_.push_back(gap);
        note_what_is_early(gap, ordinal);
        if (first) {
            bind_old(**first, gap);
        }
        return Status::ok();
    }

    // gap: with borders in what is bound ahead.
    void note_what_is_early(Range gap, uint64_t ordinal) {
        const OrderedParts &ahead = domain_.bound_ahead;
        for (auto at = ahead.find(gap.begin); at != ahead.end() && at->first < gap.end; ++at) {
            if (domain_.restarted && at->second.ordinal > ordinal) {
                early_.push_back(OrderedParts::make(at->first, at->second));
            }
        }
    }

    // What was this range of the CD in a process that was killed had another length. It came to the
    // ancestor since its point in time, so that it was what this process does again now, and that
    // has no such range.
    void supersede(uint64_t ordinal) {
        for (Domain *above = domain_.parent; above != nullptr; above = above->parent) {
            for (const size_t number : above->unbound.of_order(domain_.path, ordinal)) {
                const Unbound &other = above->unbound[number];
                if (!other.leaving && other.recent) {
                    superseded_.push_back({above, other.space, other.old});
                    leave(*above, number);
                }
            }
        }
    }

    Status bind_known(const StoredName &name, const StoredKey &key, Range gap) {
        const auto known = name.kind == format::NameKind::region ? Unbound::Known::in_region
                                                                 : Unbound::Known::in_object;
        const size_t bound_before = bound_.size();
        for (Domain *domain : waiting_) {
            const size_t one = domain->unbound.one_of(known, name.text);
            if (one < domain->unbound.size()) {
                if (Status status = check_region(*domain, domain->unbound[one], key.length);
                    !status) {
                    return status;
                }
            }
        }
        for (Domain *domain : waiting_) {
            bind_parts(*domain,
                       domain->unbound.in_named(known, name.text, key.offset, gap.length()),
                       key.offset, gap);
        }
        return known == Unbound::Known::in_object ? bind_of_build(name, key, gap, bound_before)
                                                  : Status::ok();
    }

    // What has the object's name comes before what has only its build-id, as in attach.
    Status bind_of_build(const StoredName &name, const StoredKey &key, Range gap,
                         size_t bound_before) {
        const auto known = Unbound::Known::in_object;
        Domain *holder = nullptr; // of bytes of another build of the object
        std::string other_build;
        if (compared_with_ != name.text) {
            compared_.clear();
            compared_with_ = name.text;
        }
        for (Domain *domain : waiting_) {
            UnboundRanges::Numbers numbers;
            domain->unbound.each_object([&](const std::string &object) {
                const auto [at, is_new] = compared_.try_emplace(object, Named::something_else);
                if (is_new) {
                    at->second = compare(object, name.text);
                }
                if (at->second == Named::other_build) {
                    holder = domain;
                    other_build = object;
                } else if (at->second == Named::same_build) {
                    const auto more =
                        domain->unbound.in_named(known, object, key.offset, gap.length());
                    numbers.insert(numbers.end(), more.begin(), more.end());
                }
            });
            std::ranges::sort(numbers);
            bind_parts(*domain, numbers, key.offset, gap);
        }
        if (holder != nullptr && bound_.size() == bound_before &&
            !domain_.ledger->knows_object(name.text)) {
            const size_t one = holder->unbound.one_of(known, other_build);
            return other_object(*holder, holder->unbound[one], name.text);
        }
        return Status::ok();
    }

    void bind_parts(Domain &domain, const UnboundRanges::Numbers &numbers, uint64_t offset,
                    Range gap) {
        for (const size_t number : numbers) {
            bind_part(domain, number, offset, gap);
        }
    }

    // What unbound[number] has of the bytes that are at offset of its object or region and at gap.
    void bind_part(Domain &domain, size_t number, uint64_t offset, Range gap) {
        const Unbound &found = domain.unbound[number];
        const uint64_t first = std::max(found.offset, offset);
        const uint64_t last = std::min(found.offset + found.old.length(), offset + gap.length());
        if (first < last) {
            arrive(
                domain, number,
                {found.old.begin + (first - found.offset), found.old.begin + (last - found.offset)},
                gap.begin + (first - offset));
        }
    }

    // What an object is that was in another process, compared with one that is in this one.
    enum class Named { same_build, other_build, something_else };

    static Named compare(const std::string &object, const std::string &here) {
        if (object == here) {
            return Named::something_else; // and bound already
        }
        AddressBook &book = AddressBook::instance();
        if (book.is_same(object, here)) {
            return Named::same_build;
        }
        return book.instead_of(format::NameKind::object, object) == here ? Named::other_build
                                                                         : Named::something_else;
    }

    // What holder has of the range that was the CD's so-and-so-many-th.
    Status find_by_order(Domain &holder, uint64_t ordinal, Range gap, bool must_match,
                         std::optional<Unbound *> &found) {
        const Unbound *other = nullptr;
        bool several = false;
        for (const size_t number : holder.unbound.of_order(domain_.path, ordinal)) {
            Unbound &candidate = holder.unbound[number];
            if (candidate.leaving) {
                continue;
            }
            if (candidate.length != gap.length()) {
                other = &candidate;
            } else if (!found) {
                found = &candidate;
            } else {
                several |= (*found)->space != candidate.space ||
                           (*found)->old.begin - (*found)->offset !=
                               candidate.old.begin - candidate.offset;
            }
        }
        if (several) {
            return fail(CD_ERROR_RESTART_MISMATCH,
                        "CD %s: this program adds %zu bytes at %p, and CD %s has several "
                        "ranges of that length in its store %s that it could be; give them "
                        "names with cd_name_region",
                        domain_.name(), gap.length(), gap.address(), holder.name(),
                        domain_.ledger->path());
        }
        if (!found && other != nullptr && must_match) {
            return fail(CD_ERROR_RESTART_MISMATCH,
                        "CD %s: this program adds %zu bytes at %p as range %llu of the CD, but in "
                        "the store %s that is one of %llu bytes; add the same ranges in the same "
                        "order as the program that wrote the store, give them names with "
                        "cd_name_region, or start with CD_RESTART=no",
                        domain_.name(), gap.length(), gap.address(),
                        static_cast<unsigned long long>(ordinal), domain_.ledger->path(),
                        static_cast<unsigned long long>(other->length));
        }
        return Status::ok();
    }

    // What part is of, and was where that was in the other process, begins at gap in this one.
    void bind_old(const Unbound &part, Range gap) {
        const uint64_t space = part.space; // part itself may go elsewhere
        const uint64_t ordinal = part.ordinal;
        const uint64_t old = part.old.begin - part.offset;
        for (Domain *domain : waiting_) {
            for (const size_t number : domain->unbound.in(space, {old, old + gap.length()})) {
                const Unbound &found = domain->unbound[number];
                if (has_its_own_call(found, ordinal)) {
                    continue;
                }
                const Range there = found.old;
                const uintptr_t first = std::max(there.begin, old);
                const uintptr_t last = std::min(there.end, old + gap.length());
                arrive(*domain, number, {first, last}, gap.begin + (first - old));
            }
        }
    }

    // What this CD has deleted of a range, and added again: it is going to do so here.
    bool has_its_own_call(const Unbound &found, uint64_t ordinal) const {
        return found.known == Unbound::Known::by_order && found.ordinal != ordinal &&
               *found.name == domain_.path;
    }

    // The part of unbound[number] becomes an entry; what is left of it stays unbound.
    void arrive(Domain &domain, size_t number, Range part, uintptr_t address) {
        if (domain.unbound[number].leaving || !is_free(domain, address, part.length())) {
            return;
        }
        // Only the call itself gives the function that regenerates bytes.
        if (domain.unbound[number].restoration == Restoration::regen && &domain != &domain_) {
            return;
        }
        cut(domain, number, part.end);
        if (domain.unbound[number].old.begin < part.begin) {
            cut(domain, number, part.begin);
            number = domain.unbound.size() - 1;
        }
        make_room_for_one(bound_);
        make_room_for_one(leaving_);
        Unbound &found = domain.unbound[number];
        if (found.known == Unbound::Known::by_order && *found.name == domain.path) {
            const OrderedParts::Part there = {address + found.old.length(), found.space,
                                              found.old.begin, found.ordinal, found.offset};
            if (&domain != &domain_) {
                ahead_.push_back({&domain, OrderedParts::make(address, there)});
            }
            if (found.added_anew) {
                anew_.push_back({&domain, OrderedParts::make(address, there)});
            }
        }
        Entry &entry = place_arriving(domain, found, address);
        leave(domain, number);
        bound_.push_back({&domain, found.space, found.old, &entry, entry.range, found.owed});
    }

    void leave(Domain &domain, size_t number) {
        leaving_.push_back({&domain, number});
        domain.unbound[number].leaving = true;
    }

    void cut(Domain &domain, size_t number, uint64_t address) {
        if (address < domain.unbound[number].old.end) {
            Unbound second = domain.unbound[number].split(address);
            try {
                domain.unbound.push_back(std::move(second));
            } catch (...) {
                domain.unbound[number].rejoin(second);
                throw;
            }
            ++domain_.ledger->unbound;
        }
    }

    static Status write_memory(const Bound &bound) {
        const Entry &entry = *bound.entry;
        Status status;
        const auto read = [&](const Entry &source, Range part) {
            if (status.is_ok()) {
                status = source.data.block().backing()->read(source.data.offset() +
                                                                 (part.begin - source.range.begin),
                                                             part.address(), part.length());
            }
        };
        if (entry.restoration == Restoration::copy) {
            read(entry, entry.range);
        } else if (entry.restoration == Restoration::parent) {
            for_each_source(bound.domain->parent, entry.range, read, [](Range) {});
        }
        return status;
    }

    Domain &domain_;
    const AddRequest &request_;
    std::vector<Domain *> waiting_;
    Gaps gaps_;
    std::vector<OrderedParts::Node> early_;
    std::vector<Range> reached_; // of these, those that were bound ahead, at least in part
    struct Noted {
        Domain *domain;
        OrderedParts::Node part;
    };
    std::vector<Noted> ahead_;
    std::vector<Noted> anew_;
    std::vector<Bound> bound_;
    struct Superseded {
        Domain *domain;
        uint64_t space;
        Range old;
    };
    std::vector<Superseded> superseded_;
    std::string compared_with_;
    std::map<std::string, Named> compared_; // objects that were elsewhere, with that one
    struct Leaving {
        Domain *domain;
        size_t number;
    };
    std::vector<Leaving> leaving_;
    std::map<Domain *, UnboundRanges::Numbers> gone_; // the same, once nothing more is found
    bool goes_on_ = false;
    bool published_ = false;
    bool kept_ = false;
};

} // namespace

Status add_and_bind(Domain &domain, const AddRequest &request, size_t &copied) {
    Binding binding(domain, request);
    if (Status status = binding.prepare(); !status) {
        return status;
    }
    if (Status status = binding.pay_what_is_owed(); !status) {
        return status;
    }
    binding.publish();
    Status status = add(domain, request, copied);
    if (status.is_ok()) {
        binding.keep();
    }
    return status;
}

std::vector<FilePosition>::iterator find_stored(std::vector<FilePosition> &files,
                                                const FilePosition &now) {
    const auto at = std::ranges::find_if(files, [&](const FilePosition &file) {
        return file.inode == now.inode && file.device == now.device;
    });
    // A file system that was mounted again may have another number.
    return at != files.end() ? at : std::ranges::find(files, now.inode, &FilePosition::inode);
}

} // namespace cd
