// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "file_store/allocator.h"

#include "base/no_throw.h"
#include "file_store/format.h"
#include "os/system.h"

#include <fcntl.h>

#include <algorithm>
#include <iterator>
#include <new>
#include <string>

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
    if (const auto behind = by_offset_.lower_bound(offset); behind != by_offset_.begin()) {
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
        const auto [held, begin] = *at;
        const uint64_t start = aligned ? format::whole_blocks(begin) : begin;
        if (start - begin + length <= held) {
            take_from(at, start, length);
            return start;
        }
    }
    return std::nullopt;
}

std::optional<Extent> Space::take_part(uint64_t length) {
    auto at = by_length_.lower_bound({std::max<uint64_t>(length / 64, format::block), 0});
    if (at == by_length_.end() && at != by_length_.begin()) {
        --at; // the largest
    }
    for (; at != by_length_.end(); ++at) {
        const auto [held, begin] = *at;
        const uint64_t start = format::whole_blocks(begin);
        const uint64_t end = (begin + held) / format::block * format::block;
        if (start < end) {
            const Extent part = {start, std::min(length, end - start)};
            take_from(at, part.offset, part.length);
            return part;
        }
    }
    return std::nullopt;
}

void Space::take_from(Lengths::iterator stretch, uint64_t offset, uint64_t length) {
    const auto [held, begin] = *stretch;
    const uint64_t end = offset + length;
    erase(by_offset_.find(begin));
    if (begin < offset) {
        insert(begin, offset - begin);
    }
    if (end < begin + held) {
        insert(end, begin + held - end);
    }
}

void Space::give(const Extent &extent) noexcept {
    try {
        add(extent.offset, rounded(extent.length));
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
}

void Space::erase(std::map<uint64_t, uint64_t>::iterator at) {
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
    best_effort([&] {
        if (file_.check_identity()) {
            const std::string same = "/proc/self/fd/" + std::to_string(file_.descriptor());
            file_ = {os::system().open_at(AT_FDCWD, same.c_str(), O_RDONLY, 0), file_.path()};
            file_.remember_identity();
        }
    });
}

std::byte *Volume::in_place(const Extent &extent) const {
    return window_ != nullptr && extent.offset + extent.length <= window_size
               ? window_ + extent.offset
               : nullptr;
}

Status Volume::check_file() {
    const std::scoped_lock lock(mutex_);
    return check_size();
}

Status Volume::check_size() {
    uint64_t size = 0;
    Status status = file_.check_identity();
    status = status && direct_ ? direct_->check_identity() : status;
    status = status ? file_.size(size) : status;
    if (!status) {
        return status;
    }
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
    if (Status status = check_size(); !status) {
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
    const std::scoped_lock lock(mutex_);
    extents.clear();
    const uint64_t wanted = Space::rounded(length);
    if (Status status = take_parts(wanted, extents); !status) {
        for (const Extent &extent : extents) {
            space_.give(extent);
        }
        return status;
    }
    // Small data may use the end of the last extent.
    Extent &last = extents.back();
    const uint64_t filled = last.length - (wanted - length);
    const uint64_t taken = Space::rounded(filled);
    if (taken < last.length) {
        space_.give({last.offset + taken, last.length - taken});
    }
    last.length = filled;
    return Status::ok();
}

// Takes one extent, or several in the order of the file, of which neighbours are joined.
Status Volume::take_parts(uint64_t length, Extents &extents) {
    if (const auto whole = space_.take(length)) {
        extents.push_back({*whole, length});
        return Status::ok();
    }
    while (length > 0) {
        extents.reserve(extents.size() + 1);
        if (const auto part = take_part(length)) {
            extents.push_back(*part);
            length -= part->length;
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

std::optional<Extent> Volume::take_part(uint64_t length) {
    if (length >= format::block) {
        return space_.take_part(length);
    }
    const auto offset = space_.take(length);
    return offset ? std::optional(Extent{*offset, length}) : std::nullopt;
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
        space_.give(extent);
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
