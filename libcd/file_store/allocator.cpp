// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "file_store/allocator.h"

#include "base/no_throw.h"
#include "file_store/format.h"
#include "os/system.h"

#include <algorithm>
#include <iterator>
#include <new>

namespace cd {

uint64_t Space::rounded(uint64_t length) {
    const uint64_t unit = length < format::block ? format::small_extent : format::block;
    return (length + unit - 1) / unit * unit;
}

void Space::add(uint64_t offset, uint64_t length) {
    const auto following = by_offset_.lower_bound(offset);
    if (following != by_offset_.end() && offset + length == following->first) {
        length += following->second;
        erase(following);
    }
    const auto behind = by_offset_.lower_bound(offset);
    if (behind != by_offset_.begin()) {
        const auto previous = std::prev(behind);
        if (previous->first + previous->second == offset) {
            offset = previous->first;
            length += previous->second;
            erase(previous);
        }
    }
    insert(offset, length);
}

std::optional<uint64_t> Space::take(uint64_t length) {
    length = rounded(length);
    // Blocks start at multiples of their size.
    const bool aligned = length >= format::block;
    for (auto at = by_length_.lower_bound({length, 0}); at != by_length_.end(); ++at) {
        const uint64_t begin = at->second;
        const uint64_t start = aligned ? format::whole_blocks(begin) : begin;
        if (start - begin + length <= at->first) {
            take_at(start, length);
            return start;
        }
    }
    return std::nullopt;
}

std::optional<std::pair<uint64_t, uint64_t>> Space::take_part(uint64_t length) {
    const auto take_of = [&](const std::pair<uint64_t, uint64_t> &stretch) {
        const auto &[held, begin] = stretch;
        const uint64_t start = format::whole_blocks(begin);
        const uint64_t end = (begin + held) / format::block * format::block;
        const uint64_t part = start < end ? std::min(length, end - start) : 0;
        return std::pair(start, part > 0 && take_at(start, part) ? part : 0);
    };
    const uint64_t worthwhile = std::max<uint64_t>(length / 64, format::block);
    const auto first = by_length_.lower_bound({worthwhile, 0});
    for (auto at = first; at != by_length_.end(); ++at) {
        if (const auto taken = take_of(*at); taken.second > 0) {
            return taken;
        }
    }
    for (auto at = first; at != by_length_.begin();) {
        --at;
        if (at->first < format::block) {
            break;
        }
        if (const auto taken = take_of(*at); taken.second > 0) {
            return taken;
        }
    }
    return std::nullopt;
}

bool Space::take_at(uint64_t offset, uint64_t length) {
    auto at = by_offset_.upper_bound(offset);
    if (at == by_offset_.begin()) {
        return length == 0;
    }
    --at;
    const uint64_t begin = at->first;
    const uint64_t held = at->second;
    if (offset + length > begin + held) {
        return length == 0;
    }
    if (offset + length < begin + held) {
        insert(offset + length, begin + held - offset - length); // may fail; nothing has changed
    }
    auto stretch = by_length_.extract({held, begin});
    free_ -= held - (offset - begin);
    if (begin == offset) {
        by_offset_.erase(at);
    } else {
        stretch.value().first = at->second = offset - begin;
        by_length_.insert(std::move(stretch));
    }
    return true;
}

void Space::give(uint64_t offset, uint64_t length) noexcept {
    try {
        add(offset, rounded(length));
    } catch (const std::bad_alloc &) { // allowed, see the header
    }
}

void Space::insert(uint64_t offset, uint64_t length) {
    const auto stretch = by_length_.emplace(length, offset).first;
    try {
        by_offset_.emplace(offset, length);
    } catch (...) {
        by_length_.erase(stretch);
        throw;
    }
    free_ += length;
}

void Space::erase(std::map<uint64_t, uint64_t>::iterator at) {
    free_ -= at->second;
    by_length_.erase({at->second, at->first});
    by_offset_.erase(at);
}

namespace {

// A file for small data grows by this, so that there are few such calls.
// docs/inside/format-store.md bounds the size with it.
constexpr uint64_t usual_growth = uint64_t{1} << 20;

// Address space into which the file grows; bytes behind it are written by system calls.
constexpr uint64_t window_size = uint64_t{1} << 38;

} // namespace

Volume::Volume(File file, uint64_t size)
    : file_(std::move(file)),
      window_(static_cast<std::byte *>(os::system().map_file(file_.descriptor(), window_size))),
      size_(size) {
    file_.remember_identity();
}

Volume::~Volume() {
    if (window_ != nullptr) {
        os::system().unmap_file(window_, window_size);
    }
}

void Volume::leave_to_parent() noexcept {
    window_ = nullptr; // not mapped in this process
    if (direct_) {
        direct_->close();
    }
    if (!file_.leads_here(file_.descriptor())) {
        file_.forget();
        return;
    }
    best_effort([&] { os::system().reopen(file_.descriptor()); });
}

std::byte *Volume::in_place(const Extent &extent) const {
    return window_ != nullptr && extent.offset + extent.length <= window_size
               ? window_ + extent.offset
               : nullptr;
}

Status Volume::check_file() {
    const std::scoped_lock lock(mutex_);
    uint64_t size = 0;
    Status status = check_descriptors(size);
    return status ? check_size(size) : status;
}

Status Volume::check_descriptors() const {
    uint64_t size = 0;
    return check_descriptors(size);
}

bool Volume::has_its_descriptors() const noexcept {
    return file_.leads_here(file_.descriptor()) &&
           (!direct_ || !direct_->is_open() || file_.leads_here(direct_->descriptor()));
}

Status Volume::check_descriptors(uint64_t &size) const {
    os::FileStatus now;
    Status status = file_.check_leads_here(file_.descriptor(), now);
    if (status && direct_ && direct_->is_open()) {
        status = file_.check_leads_here(direct_->descriptor(), now);
    }
    size = now.size;
    return status;
}

Status Volume::check_size(uint64_t size) const {
    return size >= size_
               ? Status::ok()
               : fail(CD_ERROR_STORE_DAMAGED,
                      "%s: the file has %llu bytes, and had %llu; it was truncated while it was in "
                      "use. Nothing was written",
                      file_.path(), static_cast<unsigned long long>(size),
                      static_cast<unsigned long long>(size_));
}

Status Volume::check_whole() {
    const std::scoped_lock lock(mutex_);
    uint64_t size = 0;
    if (Status status = file_.size(size); !status) {
        return status;
    }
    if (Status status = check_size(size); !status) {
        return status;
    }
    if (!filled_ && size_ > 0) {
        if (Status status = file_.grow(0, size_); !status) {
            return status;
        }
    }
    filled_ = true;
    return Status::ok();
}

Status Volume::reserve(uint64_t length, Extent &extent) {
    const std::scoped_lock lock(mutex_);
    auto offset = space_.take(length);
    if (!offset) {
        if (Status status = grow(Space::rounded(length)); !status) {
            return status;
        }
        offset = space_.take(length);
    }
    extent = {*offset, Space::rounded(length)};
    return Status::ok();
}

Status Volume::reserve_parts(uint64_t length, Extents &extents) {
    extents.resize(1);
    if (length < format::block) {
        Status status = reserve(length, extents.front());
        extents.front().length = length;
        return status;
    }
    const std::scoped_lock lock(mutex_);
    const uint64_t blocks = format::whole_blocks(length);
    if (const auto offset = space_.take(blocks)) {
        extents.front() = {*offset, length};
        return Status::ok();
    }
    extents.clear();
    Status status;
    const auto give_back = [&] {
        for (const Extent &extent : extents) {
            space_.give(extent.offset, extent.length);
        }
    };
    try {
        status = take_parts(blocks, extents);
    } catch (...) {
        give_back();
        throw;
    }
    if (!status) {
        give_back();
        return status;
    }
    // Small data may use the end of the last extent.
    Extent &last = extents.back();
    const uint64_t filled = last.length - (blocks - length);
    const uint64_t taken = Space::rounded(filled);
    if (taken < last.length) {
        space_.give(last.offset + taken, last.length - taken);
    }
    last.length = filled;
    return status;
}

// Takes extents in the order of the file, and joins neighbours.
Status Volume::take_parts(uint64_t length, Extents &extents) {
    while (length > 0) {
        extents.reserve(extents.size() + 1);
        const auto part = space_.take_part(length);
        if (part) {
            extents.push_back({part->first, part->second});
            length -= part->second;
        } else if (Status status = grow(length); !status) {
            return status;
        }
    }
    std::ranges::sort(extents, {}, &Extent::offset);
    size_t joined = 0;
    for (size_t i = 1; i < extents.size(); ++i) {
        if (extents[i].offset == extents[joined].end()) {
            extents[joined].length += extents[i].length;
        } else {
            extents[++joined] = extents[i];
        }
    }
    extents.resize(joined + 1);
    return Status::ok();
}

// Grows by a usual step, or by what is needed if the disk has no room for that.
Status Volume::grow(uint64_t length) {
    uint64_t to = format::whole_blocks(size_ + std::max(length, usual_growth));
    Status status = file_.grow(size_, to);
    if (status.code() == CD_ERROR_STORE_FULL && usual_growth > length) {
        to = format::whole_blocks(size_ + length);
        status = file_.grow(size_, to);
    }
    if (status.is_ok()) {
        space_.add(size_, to - size_);
        size_ = to;
    }
    return status;
}

void Volume::release(const Extent &extent) noexcept {
    const std::scoped_lock lock(mutex_);
    if (extent.length > 0) {
        space_.give(extent.offset, extent.length);
    }
}

void Volume::only_these_are_taken(uint64_t begin, const std::vector<Extent> &extents) {
    const auto end_of_gap = [&](uint64_t end) {
        if (begin < end) {
            space_.add(begin, end - begin);
        }
    };
    for (const Extent &extent : extents) {
        end_of_gap(extent.offset);
        begin = std::max(begin, extent.offset + Space::rounded(extent.length));
    }
    end_of_gap(size_);
}

} // namespace cd
