// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "domains/add.h"

#include "domains/add_request.h"
#include "domains/ancestors.h"
#include "memory/allocation_plan.h"
#include "memory/copy.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace cd {
namespace {

// One add call. prepare() does all that can fail and changes nothing that can be seen: it splits
// entries at the borders of the elements and puts new entries into the index as arriving.
// publish() cannot fail. Without publish() the destructor takes everything back.
class Addition {
public:
    Addition(Domain &domain, const AddRequest &request)
        : domain_(domain), request_(request), placement_(request.checksummed) {}
    Addition(const Addition &) = delete;
    Addition &operator=(const Addition &) = delete;

    ~Addition() {
        if (!published_) {
            domain_.entries.reject_arriving();
        }
    }

    Status prepare() {
        if (Status status = take_elements(); !status) {
            return status;
        }
        domain_.restore_may_fail |=
            request_.restoration != Restoration::copy || request_.checksummed;
        auto near = domain_.entries.begin();
        for (const Element &element : elements_) {
            Element part = element;
            size_t length = element.range.length();
            if (!fits_as_one(element, near)) {
                length /= element.count;
                part.count = 1;
            }
            for (; part.range.begin < element.range.end; part.range.begin += length, ++part.index) {
                part.range.end = part.range.begin + length;
                if (Status status = prepare_element(part, near); !status) {
                    return status;
                }
            }
        }
        if (domain_.store != nullptr) {
            return write_down();
        }
        return request_.restoration == Restoration::copy ? prepare_data() : Status::ok();
    }

    void publish() noexcept {
        CopyRun run(CopyRun::Direction::to_store);
        if (domain_.store != nullptr) {
            domain_.entries.accept_arriving();
            for (size_t i = 0; i < converted_.size(); ++i) {
                converted_[i]->data = std::move(converted_data_[i]);
            }
        } else {
            domain_.entries.accept_arriving([&](Entry &entry) { take_data(entry, run); });
            for (Entry *entry : converted_) {
                take_data(*entry, run);
            }
            run.flush();
            copied_ = run.copied();
        }
        if (meets_held_) {
            auto near = domain_.entries.begin();
            for (const Element &element : elements_) {
                relabel(element, near);
            }
            if (meets_parts_) {
                near = domain_.entries.begin();
                for (const Element &element : elements_) {
                    rejoin(element, near);
                }
            }
        }
        published_ = true;
    }

    size_t copied() const { return copied_; }

private:
    Status take_elements() {
        if (Status status = check_call(request_); !status) {
            return status;
        }
        auto elements = legal_elements(request_, neighbours());
        if (!elements) {
            return check_request(request_);
        }
        elements_ = *std::move(elements);
        return Status::ok();
    }

    // Neighbours that only lie in memory until the process ends, and are copied, can be one entry.
    Neighbours neighbours() const {
        return request_.restoration == Restoration::copy && domain_.store == nullptr
                   ? Neighbours::together
                   : Neighbours::apart;
    }

    // True if one entry holds, or will hold, exactly the element.
    bool fits_as_one(const Element &element, RangeIndex::Position &near) const {
        if (element.count == 1) {
            return true;
        }
        near = domain_.entries.find_near(near, element.range.begin);
        if (near == domain_.entries.end()) {
            return true;
        }
        const Range there = near->second->range;
        return there.begin >= element.range.end ||
               (there.begin == element.range.begin && there.end == element.range.end);
    }

    Status prepare_element(const Element &element, RangeIndex::Position &near) {
        const Range range = element.range;
        if (request_.restoration == Restoration::parent) {
            if (Status status = check_parent(range); !status) {
                return status;
            }
        }
        RangeIndex &entries = domain_.entries;
        near = entries.find_near(near, range.begin);
        if (near == entries.end() || near->second->range.begin >= range.end) {
            near = std::next(insert(near, range, element));
            return Status::ok();
        }
        meets_held_ = true;
        near = entries.make_borders(near, range, true);
        return fill_gaps(element, near);
    }

    // Puts arriving entries between those that are there already. `near`: the first entry that ends
    // behind the element's begin.
    Status fill_gaps(const Element &element, RangeIndex::Position &near) {
        const Range range = element.range;
        uintptr_t done = range.begin;
        while (done < range.end) {
            const bool in_range =
                near != domain_.entries.end() && near->second->range.begin < range.end;
            const uintptr_t gap_end = in_range ? near->second->range.begin : range.end;
            if (done < gap_end) {
                near = std::next(insert(near, {done, gap_end}, element));
                done = gap_end;
            } else {
                if (Status status = check_held(*near->second, element); !status) {
                    return status;
                }
                done = near->second->range.end;
                ++near;
            }
        }
        return Status::ok();
    }

    RangeIndex::Position insert(RangeIndex::Position where, Range range, const Element &element) {
        auto entry = domain_.entries.make_entry();
        entry->range = range;
        entry->regen = request_.regen;
        entry->origin = {request_.call, element.index, element.count};
        entry->access = element.access;
        entry->scope = element.scope;
        entry->restoration = request_.restoration;
        entry->in_place = request_.in_place;
        entry->whole = range.begin == element.range.begin && range.end == element.range.end;
        const auto inserted = domain_.entries.insert_arriving(where, entry.get());
        entry.release();
        return inserted;
    }

    Status check_held(const Entry &entry, const Element &element) {
        prefetch_behind(entry);
        if (entry.restoration != request_.restoration && entry.stage == Stage::held) {
            ++conversions_;
        }
        relabels_ |= entry.restoration != request_.restoration || entry.access != element.access;
        if (entry.scope != element.scope) {
            return fail(CD_ERROR_SCOPE_FIXED,
                        "CD %s holds the %zu bytes at %p as %s; to change the scope, delete them "
                        "from the CD and add them again",
                        domain_.name(), entry.range.length(), entry.range.address(),
                        entry.scope == CD_GLOBAL ? "GLOBAL" : "CONSTRAINED");
        }
        return Status::ok();
    }

    Status check_parent(Range range) const {
        if (domain_.is_root()) {
            return fail(CD_ERROR_NO_PARENT,
                        "CD %s is a root and has no parent to take the %zu bytes at %p from; add "
                        "them via copy",
                        domain_.name(), range.length(), range.address());
        }
        return check_ends_in_copy(domain_, domain_.parent, range);
    }

    // Plans memory for data in the order in which publish() uses it.
    void plan_data() {
        const auto plan = [&](Range range) { placement_.plan(range.begin, range.length()); };
        if (!meets_held_) {
            for (const Element &element : elements_) {
                plan(element.range); // each has become one entry: no need to walk those
            }
            return;
        }
        for (const Entry *entry = domain_.entries.arriving().first(); entry != nullptr;
             entry = entry->next) {
            plan(entry->range);
        }
        for (const Entry *entry : converted_) {
            plan(entry->range);
        }
    }

    Status prepare_data() {
        if (conversions_ > 0) {
            collect_converted();
        }
        plan_data();
        if (!placement_.allocate()) {
            return fail(CD_ERROR_NO_MEMORY,
                        "CD %s: no memory for the %zu bytes of data of this add call (%d "
                        "elements); free some, or add less",
                        domain_.name(), placement_.planned(), request_.count);
        }
        return Status::ok();
    }

    // Writes the data and the changes of this call to the CD's store.
    Status write_down() {
        if (domain_.entries.arriving().empty() && !relabels_) {
            return Status::ok();
        }
        const std::unique_ptr<Transaction> transaction = domain_.store->begin();
        if (request_.restoration == Restoration::copy) {
            if (conversions_ > 0) {
                collect_converted();
            }
            if (Status status = store_data(*transaction); !status) {
                return status;
            }
        }
        if (Status status = hold_as_given(*transaction); !status) {
            return status;
        }
        for (size_t i = 0; i < converted_.size(); ++i) {
            transaction->replace_data(domain_.number, converted_[i]->range, converted_data_[i]);
        }
        if (relabels_) {
            for (const Element &element : elements_) {
                transaction->relabel(domain_.number, element.range, element.access,
                                     request_.restoration);
            }
        }
        return transaction->commit();
    }

    // Writes the new entries in the order of the list, since another process adds the same list at
    // other addresses. Parts of one element that later elements have split are one range.
    Status hold_as_given(Transaction &transaction) {
        const std::vector<const Entry *> entries = arriving_as_given();
        for (auto first = entries.begin(); first != entries.end();) {
            const auto behind =
                std::adjacent_find(first, entries.end(), [](const Entry *a, const Entry *b) {
                    return a->origin.element != b->origin.element || a->range.end != b->range.begin;
                });
            const auto last = behind == entries.end() ? behind : std::next(behind);
            if (Status status = transaction.hold(domain_.number, {first, last}); !status) {
                return status;
            }
            first = last;
        }
        return Status::ok();
    }

    std::vector<const Entry *> arriving_as_given() {
        std::vector<const Entry *> entries;
        for (const Entry *entry = domain_.entries.arriving().first(); entry != nullptr;
             entry = entry->next) {
            entries.push_back(entry);
        }
        std::ranges::sort(entries, {}, [](const Entry *entry) {
            return std::pair(entry->origin.element, entry->range.begin);
        });
        return entries;
    }

    Status store_data(Transaction &transaction) {
        const auto store = [&](const Entry &entry, Piece &data) {
            copied_ += entry.range.length();
            return transaction.keep(entry.range, data);
        };
        for (Entry *entry = domain_.entries.arriving().first(); entry != nullptr;
             entry = entry->next) {
            if (Status status = store(*entry, entry->data); !status) {
                return status;
            }
        }
        converted_data_.resize(converted_.size());
        for (size_t i = 0; i < converted_.size(); ++i) {
            if (Status status = store(*converted_[i], converted_data_[i]); !status) {
                return status;
            }
        }
        return Status::ok();
    }

    void take_data(Entry &entry, CopyRun &run) noexcept {
        if (request_.restoration == Restoration::copy) {
            entry.data = placement_.next(entry.range.begin, entry.range.length());
            run.add(entry.range.begin, entry.data.block(), entry.data.offset(),
                    entry.range.length());
        }
    }

    // Finds the held entries that become COPY.
    void collect_converted() {
        auto near = domain_.entries.begin();
        for (const Element &element : elements_) {
            for (near = domain_.entries.find_near(near, element.range.begin);
                 near != domain_.entries.end() && near->second->range.begin < element.range.end;
                 ++near) {
                Entry &entry = *near->second;
                if (entry.stage == Stage::held && entry.restoration != Restoration::copy) {
                    converted_.push_back(&entry);
                }
            }
        }
        std::ranges::sort(converted_);
        converted_.erase(std::unique(converted_.begin(), converted_.end()), converted_.end());
    }

    void relabel(const Element &element, RangeIndex::Position &near) {
        RangeIndex &entries = domain_.entries;
        for (near = entries.find_near(near, element.range.begin);
             near != entries.end() && near->second->range.begin < element.range.end; ++near) {
            Entry &entry = *near->second;
            prefetch_behind(entry);
            if (entry.restoration != request_.restoration) {
                change_restoration(entry);
            }
            meets_parts_ |= !entry.whole;
            entry.regen = request_.regen;
            entries.set_access(entry, element.access);
        }
    }

    // Joins entries that are alike now. Only after all labels have changed: a border between two
    // elements must not vanish before the second element is relabelled.
    void rejoin(const Element &element, RangeIndex::Position &near) {
        RangeIndex &entries = domain_.entries;
        near = entries.find_near(near, element.range.begin);
        while (near != entries.end() && near->second->range.begin <= element.range.end) {
            prefetch_behind(*near->second);
            near = std::next(entries.merge_before(near));
        }
    }

    // Changes the restoration type. The data are given up, or have been copied already.
    void change_restoration(Entry &entry) {
        entry.restoration = request_.restoration;
        if (request_.restoration == Restoration::copy) {
            entry.in_place = request_.in_place;
        } else {
            entry.give_up_data();
        }
        entry.data_shared = false;
    }

    Domain &domain_;
    const AddRequest &request_;
    AllocationPlan placement_;
    std::vector<Element> elements_;
    std::vector<Entry *> converted_;    // held PARENT or REGEN entries that become COPY
    std::vector<Piece> converted_data_; // of each of these, if it is written down
    size_t conversions_ = 0;
    size_t copied_ = 0;
    bool meets_held_ = false;  // some element overlaps a held entry or an earlier element
    bool meets_parts_ = false; // one that may be joined with others
    bool relabels_ = false;    // some entry gets other labels than it has
    bool published_ = false;
};

} // namespace

Status add(Domain &domain, const AddRequest &request, size_t &copied) {
    Addition addition(domain, request);
    Status status = addition.prepare();
    if (status.is_ok()) {
        addition.publish();
        copied = addition.copied();
    }
    return status;
}

} // namespace cd
