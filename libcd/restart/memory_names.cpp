// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "restart/memory_names.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

namespace cd {
namespace {

std::string_view build_in(std::string_view name) {
    return name.substr(std::min(name.find_last_of(' '), name.size() - 1) + 1);
}
std::string_view file_in(std::string_view name) { return name.substr(0, name.find_last_of(' ')); }

std::string name_of(const os::DataSegment &segment) {
    return segment.object + " " + (segment.build_id.empty() ? "(no build-id)" : segment.build_id);
}

bool is_of_build(const os::DataSegment &segment, std::string_view name) {
    return !segment.build_id.empty() && segment.build_id == build_in(name);
}

Status check_name(const char *name) {
    constexpr size_t longest = 200;
    if (name == nullptr || *name == '\0') {
        return fail(CD_ERROR_ARGUMENT, "cd_name_region: the name is %s; give one of 1 to %zu bytes",
                    name == nullptr ? "NULL" : "empty", longest);
    }
    const size_t length = std::char_traits<char>::length(name);
    if (length > longest) {
        return fail(CD_ERROR_ARGUMENT,
                    "cd_name_region: the name \"%.40s...\" has %zu bytes; give one of 1 to %zu",
                    name, length, longest);
    }
    return Status::ok();
}

} // namespace

MemoryNames &MemoryNames::instance() {
    static auto *names = new MemoryNames; // never destroyed, as the registry of CDs
    return *names;
}

Status MemoryNames::name_region(const char *name, Range range, Range *unnamed) {
    if (Status status = check_name(name); !status) {
        return status;
    }
    if (range.begin == 0 && !range.empty()) {
        return fail(CD_ERROR_NULL_ADDRESS,
                    "cd_name_region: \"%s\" has %zu bytes at NULL; give the address", name,
                    range.length());
    }
    if (range.end < range.begin) {
        return fail(CD_ERROR_RANGE_WRAPS,
                    "cd_name_region: \"%s\", %zu bytes at %p, runs past the end of the address "
                    "space; check the length",
                    name, range.length(), range.address());
    }
    const std::scoped_lock lock(mutex_);
    const auto held = regions_.find(name);
    const bool is_held = held != regions_.end();
    const bool stays =
        is_held && held->second.range.begin == range.begin && held->second.range.end == range.end;
    if (unnamed != nullptr) {
        *unnamed = is_held && !stays && held->second.reported ? held->second.range : Range();
    }
    if (stays || (unnamed != nullptr && !unnamed->empty())) {
        return Status::ok();
    }
    if (range.empty()) {
        if (is_held) {
            regions_by_address_.erase(held->second.range.begin);
            regions_.erase(held);
        }
        return Status::ok();
    }
    auto behind = regions_by_address_.lower_bound(range.end);
    if (behind != regions_by_address_.begin() && is_held &&
        std::prev(behind)->second == &held->first) {
        --behind; // the name moves away from there
    }
    if (behind != regions_by_address_.begin()) {
        const std::string &other = *std::prev(behind)->second;
        if (const Range there = regions_[other].range; there.end > range.begin) {
            return fail(CD_ERROR_ARGUMENT,
                        "cd_name_region: the %zu bytes at %p for \"%s\" overlap the region \"%s\" "
                        "(%zu bytes at %p); take that name back first, with length 0",
                        range.length(), range.address(), name, other.c_str(), there.length(),
                        there.address());
        }
    }
    // Allocates before anything changes for good.
    std::map<uintptr_t, const std::string *> place = {{range.begin, nullptr}};
    const auto named = regions_.try_emplace(name).first;
    regions_by_address_.erase(named->second.range.begin);
    named->second = {range};
    place.begin()->second = &named->first;
    regions_by_address_.merge(place);
    return Status::ok();
}

Status MemoryNames::describe(Range &range, StoredName &name, StoredKey &key) {
    name = {};
    const std::scoped_lock lock(mutex_);
    refresh();
    const os::DataSegment *object = segment_at_begin_of(range);
    if (object != nullptr && !object->build_id.empty()) {
        name = {object->program ? format::NameKind::program : format::NameKind::object,
                name_of(*object)};
        key.offset = range.begin - object->base;
        return Status::ok();
    }
    const auto region = regions_by_address_.upper_bound(range.begin);
    if (region != regions_by_address_.begin()) {
        const std::string &named = *std::prev(region)->second;
        Region &region_there = regions_[named];
        if (region_there.range.end > range.begin) {
            const Range all = region_there.report();
            range.end = std::min(range.end, all.end);
            name = {format::NameKind::region, named};
            key.offset = range.begin - all.begin;
            key.length = all.length();
            return Status::ok();
        }
    }
    if (object != nullptr) {
        return fail(CD_ERROR_STORAGE_UNSUPPORTED,
                    "The %zu bytes at %p are data of \"%s\", which has no build-id by which a "
                    "restarted program finds it; link it with --build-id, or use cd_name_region",
                    range.length(), range.address(), object->object.c_str());
    }
    if (region != regions_by_address_.end()) {
        range.end = std::min(range.end, region->first);
    }
    return Status::ok();
}

MemoryNames::Place MemoryNames::find(format::NameKind kind, const std::string &name,
                                     uint64_t offset) {
    const std::scoped_lock lock(mutex_);
    if (kind == format::NameKind::region) {
        const auto at = regions_.find(name);
        if (at == regions_.end() || offset >= at->second.range.length()) {
            return {};
        }
        const Range all = at->second.report();
        return {all.begin + offset, all.length() - offset};
    }
    refresh();
    for (const os::DataSegment &segment : segments_) {
        const uintptr_t address = segment.base + offset;
        if (address >= segment.begin && address < segment.end && is_of_build(segment, name)) {
            return {address, segment.end - address};
        }
    }
    return {};
}

Range MemoryNames::region(std::string_view name) {
    const std::scoped_lock lock(mutex_);
    const auto at = regions_.find(name);
    return at == regions_.end() ? Range() : at->second.range;
}

MemoryNames::Loaded MemoryNames::look_up(format::NameKind kind, const std::string &name) {
    const std::scoped_lock lock(mutex_);
    refresh();
    Loaded loaded;
    for (const os::DataSegment &segment : segments_) {
        loaded.is_here |= is_of_build(segment, name);
        if (kind == format::NameKind::program ? segment.program : segment.object == file_in(name)) {
            loaded.instead = name_of(segment);
        }
    }
    if (loaded.is_here) {
        loaded.instead.clear();
    }
    return loaded;
}

bool MemoryNames::are_of_one_build(std::string_view one, std::string_view other) {
    return build_in(one) == build_in(other);
}

// Returns the object that range begins in, or nullptr. Ends range with it, or before the next one.
const os::DataSegment *MemoryNames::segment_at_begin_of(Range &range) const {
    const auto behind =
        std::ranges::upper_bound(segments_, range.begin, {}, &os::DataSegment::begin);
    if (behind != segments_.begin() && std::prev(behind)->end > range.begin) {
        range.end = std::min(range.end, std::prev(behind)->end);
        return &*std::prev(behind);
    }
    if (behind != segments_.end()) {
        range.end = std::min(range.end, behind->begin);
    }
    return nullptr;
}

void MemoryNames::refresh() {
    const uint64_t count = os::loading_count();
    if (count != loading_count_) {
        segments_ = os::data_segments();
        loading_count_ = count;
        constexpr uintptr_t several = UINTPTR_MAX;
        std::map<std::string, uintptr_t> bases;
        for (const os::DataSegment &segment : segments_) {
            uintptr_t &base = bases.try_emplace(segment.build_id, segment.base).first->second;
            base = base == segment.base ? base : several;
        }
        for (os::DataSegment &segment : segments_) {
            if (bases.at(segment.build_id) == several) {
                segment.build_id.clear();
            }
        }
    }
}

} // namespace cd
