// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "ranges/unbound_ranges.h"

#include <algorithm>
#include <iterator>
#include <new>

namespace cd {

void UnboundRanges::push_back(Unbound &&found) {
    all_.push_back(std::move(found));
    if (index_) {
        try {
            insert(*index_, all_.back(), all_.size() - 1);
        } catch (const std::bad_alloc &) {
            index_.reset(); // whoever asks next makes it again
        }
    }
}

void UnboundRanges::remove(std::span<const size_t> numbers) noexcept {
    for (const size_t number : numbers) {
        forget(all_[number]);
    }
    size_t going = numbers.size();
    for (size_t i = 0; i < going; ++i) {
        // What goes itself is not put elsewhere before.
        for (; i < going && numbers[going - 1] == all_.size() - 1; --going) {
            all_.pop_back();
        }
        if (i < going) {
            replace_by_last(numbers[i]);
        }
    }
    if (all_.empty()) {
        decltype(all_)().swap(all_);
        index_.reset();
    }
}

void UnboundRanges::replace_by_last(size_t number) noexcept {
    all_[number] = std::move(all_.back());
    all_.pop_back();
    if (index_) {
        index_->places.find(key_of(all_[number]).place)->second = number;
    }
}

UnboundRanges::Numbers UnboundRanges::of_order(const std::string &path, uint64_t ordinal) {
    const Keys &keys = keys_of(Known::by_order, path);
    Numbers numbers;
    for (auto at = keys.lower_bound({ordinal, {0, 0}}); at != keys.end() && at->first == ordinal;
         ++at) {
        numbers.push_back(index_->places.find(at->place)->second);
    }
    std::ranges::sort(numbers);
    return numbers;
}

size_t UnboundRanges::later(const std::string &path, uint64_t ordinal) {
    const Keys &keys = keys_of(Known::by_order, path);
    const auto at = keys.upper_bound({ordinal, {UINT64_MAX, UINT64_MAX}});
    return at == keys.end() ? size() : index_->places.find(at->place)->second;
}

UnboundRanges::Numbers UnboundRanges::in(uint64_t space, Range bytes) {
    const auto &places = index().places;
    auto at = places.upper_bound({space, bytes.begin});
    if (at != places.begin()) {
        --at; // may end behind their begin
    }
    Numbers numbers;
    for (; at != places.end() && at->first < Place{space, bytes.end}; ++at) {
        const Unbound &found = all_[at->second];
        if (found.space == space && found.old.end > bytes.begin) {
            numbers.push_back(at->second);
        }
    }
    std::ranges::sort(numbers);
    return numbers;
}

UnboundRanges::Numbers UnboundRanges::in_named(Known known, const std::string &name,
                                               uint64_t offset, uint64_t length) {
    const Keys &keys = keys_of(known, name);
    Numbers numbers;
    // Other processes had it elsewhere, and a region may have been elsewhere in the same one.
    for (auto at = keys.begin(); at != keys.end();) {
        const uint64_t base = at->first;
        const uint64_t space = at->place.space;
        for (const size_t number : in(space, {base + offset, base + offset + length})) {
            const Unbound &found = all_[number];
            if (found.known == known && *found.name == name && key_of(found).first == base) {
                numbers.push_back(number);
            }
        }
        at = keys.upper_bound({base, {space, UINT64_MAX}});
    }
    std::ranges::sort(numbers);
    return numbers;
}

size_t UnboundRanges::one_of(Known known, const std::string &name) {
    const Keys &keys = keys_of(known, name);
    return keys.empty() ? size() : index_->places.find(keys.begin()->place)->second;
}

UnboundRanges::Key UnboundRanges::key_of(const Unbound &found) {
    return {found.known == Known::by_order ? found.ordinal : found.old.begin - found.offset,
            {found.space, found.old.begin}};
}

// From the front to the end of what the index has it is quickest, in which order stores have them.
void UnboundRanges::insert(Index &index, const Unbound &found, size_t number) {
    const Key key = key_of(found);
    Keys &keys = index.names[place_of(found.known)][*found.name];
    keys.emplace_hint(keys.end(), key);
    index.places.emplace_hint(index.places.end(), key.place, number);
}

UnboundRanges::Index &UnboundRanges::index() {
    if (!index_) {
        auto made = std::make_unique<Index>();
        for (size_t number = 0; number < all_.size(); ++number) {
            insert(*made, all_[number], number);
        }
        index_ = std::move(made);
    }
    return *index_;
}

const UnboundRanges::Keys &UnboundRanges::keys_of(Known known, const std::string &name) {
    static const Keys none;
    const auto &names = index().names[place_of(known)];
    const auto at = names.find(name);
    return at != names.end() ? at->second : none;
}

void UnboundRanges::forget(const Unbound &found) noexcept {
    if (!index_) {
        return;
    }
    const Key key = key_of(found);
    index_->places.erase(key.place);
    auto &names = index_->names[place_of(found.known)];
    const auto at = names.find(*found.name);
    at->second.erase(key);
    if (at->second.empty()) {
        names.erase(at);
    }
}

} // namespace cd
