// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "restart/memory_names.h"

#include "memory/crc32c.h"
#include "os/object_code.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <string_view>
#include <utility>

namespace cd {
namespace {

// Begins what stands for a build-id, which is in hexadecimal.
constexpr std::string_view checksum_mark = "crc32c:";

std::string text_of(uint32_t checksum) {
    std::array<char, 2 *sizeof checksum + 1> digits = {};
    std::snprintf(digits.data(), digits.size(), "%08x", checksum);
    return std::string(checksum_mark) + digits.data();
}

std::string_view build_in(std::string_view name) {
    return name.substr(std::min(name.find_last_of(' '), name.size() - 1) + 1);
}
std::string_view file_in(std::string_view name) { return name.substr(0, name.find_last_of(' ')); }

bool add_code_of(const os::DataSegment &object, uint32_t &checksum) {
    return os::for_each_part_of_code(object, [&checksum](const void *part, size_t length) {
        checksum = crc32c(checksum, part, length);
    });
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
    // Never destroyed, as the registry of CDs.
    static auto *book = new MemoryNames;
    return *book;
}

// It may grow: another process takes it in the greatest length that was told.
Range MemoryNames::Region::left_for(Range other) const {
    const bool stays = other.begin == range.begin && other.length() >= told;
    return stays ? Range() : Range{range.begin, range.begin + told};
}

Status MemoryNames::name_region(const char *name, Range range, Range *left) {
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
    if (left != nullptr) {
        *left = held != regions_.end() ? held->second.left_for(range) : Range();
        if (!left->empty()) {
            return Status::ok();
        }
    }
    if (range.empty()) {
        if (held != regions_.end()) {
            regions_by_address_.erase(held->second.range.begin);
            regions_.erase(held);
        }
        return Status::ok();
    }
    auto behind = regions_by_address_.lower_bound(range.end);
    if (behind != regions_by_address_.begin() && held != regions_.end() &&
        std::prev(behind)->second == &held->first) {
        --behind; // the name leaves that place
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
    if (held != regions_.end()) {
        auto place = regions_by_address_.extract(held->second.range.begin);
        place.key() = range.begin;
        regions_by_address_.insert(std::move(place));
        const bool stays = held->second.left_for(range).empty();
        held->second = {range, stays ? held->second.told : 0};
        return Status::ok();
    }
    // Whatever needs memory comes before anything changes for good.
    std::map<uintptr_t, const std::string *> place = {{range.begin, nullptr}};
    const auto named = regions_.emplace(name, Region{range}).first;
    place.begin()->second = &named->first;
    regions_by_address_.merge(place);
    return Status::ok();
}

bool MemoryNames::describe(Range &range, StoredName &name, StoredKey &key, Objects objects) {
    const std::scoped_lock lock(mutex_);
    refresh();
    os::DataSegment *object = at_begin_of(range, segments_);
    if (object == nullptr && objects == Objects::all) {
        object = at_begin_of(range, others_);
    }
    if (object != nullptr) {
        name = {object->program ? format::NameKind::program : format::NameKind::object,
                name_of(*object)};
        key.offset = range.begin - object->base;
        return true;
    }
    const auto region = regions_by_address_.upper_bound(range.begin);
    if (region != regions_by_address_.begin()) {
        const std::string &named = *std::prev(region)->second;
        Region &region_there = regions_[named];
        if (region_there.range.end > range.begin) {
            const Range all = region_there.tell();
            range.end = std::min(range.end, all.end);
            name = {format::NameKind::region, named};
            key.offset = range.begin - all.begin;
            key.length = all.length();
            return true;
        }
    }
    if (region != regions_by_address_.end()) {
        range.end = std::min(range.end, region->first);
    }
    return false;
}

MemoryNames::Place MemoryNames::find(format::NameKind kind, const std::string &name,
                                     uint64_t offset) {
    const std::scoped_lock lock(mutex_);
    if (kind == format::NameKind::region) {
        const auto at = regions_.find(name);
        if (at == regions_.end() || offset >= at->second.range.length()) {
            return {};
        }
        const Range all = at->second.tell();
        return {all.begin + offset, all.length() - offset};
    }
    refresh();
    // Under another file name, as a program that was copied, an object is known by its build-id.
    const bool has_name = is_loaded(name);
    Place place;
    any_segment([&](os::DataSegment &segment) {
        const uintptr_t address = segment.base + offset;
        const bool is_there = address >= segment.begin && address < segment.end;
        if (!is_there || !(has_name ? is_named(segment, name) : is_of_build(segment, name))) {
            return false;
        }
        place = {address, segment.end - address};
        return true;
    });
    return place;
}

Range MemoryNames::region(std::string_view name) {
    const std::scoped_lock lock(mutex_);
    const auto at = regions_.find(name);
    return at == regions_.end() ? Range() : at->second.range;
}

std::string MemoryNames::instead_of(format::NameKind kind, const std::string &name) {
    const std::scoped_lock lock(mutex_);
    refresh();
    std::string other;
    const bool is_here = any_segment([&](os::DataSegment &segment) {
        if (is_of_build(segment, name)) {
            return true;
        }
        if (kind == format::NameKind::program ? segment.program : segment.object == file_in(name)) {
            other = name_of(segment);
        }
        return false;
    });
    if (is_here) {
        return "";
    }
    return kind == format::NameKind::program && other.empty() ? "a program without build-id"
                                                              : other;
}

bool MemoryNames::has(const std::string &name) {
    const std::scoped_lock lock(mutex_);
    refresh();
    return is_loaded(name);
}

bool MemoryNames::has_build(const std::string &name) {
    const std::scoped_lock lock(mutex_);
    refresh();
    return any_segment([&](os::DataSegment &segment) { return is_of_build(segment, name); });
}

bool MemoryNames::is_same(const std::string &name, const std::string &here) {
    if (name == here) {
        return true;
    }
    if (build_in(name) != build_in(here)) {
        return false;
    }
    const std::scoped_lock lock(mutex_);
    refresh();
    return !is_loaded(name);
}

os::DataSegment *MemoryNames::at_begin_of(Range &range, std::vector<os::DataSegment> &segments) {
    const auto behind =
        std::ranges::upper_bound(segments, range.begin, {}, &os::DataSegment::begin);
    if (behind != segments.begin() && std::prev(behind)->end > range.begin) {
        range.end = std::min(range.end, std::prev(behind)->end);
        return &*std::prev(behind);
    }
    if (behind != segments.end()) {
        range.end = std::min(range.end, behind->begin);
    }
    return nullptr;
}

Status MemoryNames::know_program() {
    const std::scoped_lock lock(mutex_);
    refresh();
    const auto program = std::ranges::find_if(others_, &os::DataSegment::program);
    if (program == others_.end() || !program_checksum_.empty()) {
        return Status::ok();
    }
    uint32_t checksum = 0;
    if (!add_code_of(*program, checksum)) {
        return fail(CD_ERROR_STORE_IO,
                    "/proc/self/exe cannot be read (%s): a program without build-id is known by a "
                    "checksum of its file. Have descriptors free, or link it with --build-id",
                    std::strerror(errno));
    }
    program_checksum_ = text_of(checksum);
    return Status::ok();
}

// Of an object that another thread unloads there are no bytes left to be told of, either.
const std::string &MemoryNames::build_of(os::DataSegment &segment) {
    if (segment.build_id.empty() && segment.program) {
        segment.build_id = program_checksum_;
    }
    if (segment.build_id.empty()) {
        uint32_t checksum = 0;
        add_code_of(segment, checksum);
        for (os::DataSegment &other : others_) {
            if (other.headers == segment.headers) {
                other.build_id = text_of(checksum);
            }
        }
    }
    return segment.build_id;
}

std::string MemoryNames::name_of(os::DataSegment &segment) {
    return segment.object + " " + build_of(segment);
}

bool MemoryNames::is_named(os::DataSegment &segment, const std::string &name) {
    return segment.object == file_in(name) && name_of(segment) == name;
}

// Of those without build-id only one is asked that may be it.
bool MemoryNames::is_of_build(os::DataSegment &segment, const std::string &name) {
    const bool may_be = !segment.build_id.empty() || build_in(name).starts_with(checksum_mark);
    return may_be && build_in(name) == build_of(segment);
}

template <typename IsIt> bool MemoryNames::any_segment(const IsIt &is_it) {
    return std::ranges::any_of(segments_, is_it) || std::ranges::any_of(others_, is_it);
}

bool MemoryNames::is_loaded(const std::string &name) {
    return any_segment([&](os::DataSegment &segment) { return is_named(segment, name); });
}

void MemoryNames::refresh() {
    const uint64_t count = os::loading_count();
    if (count != loading_count_) {
        segments_ = os::data_segments();
        const auto rest = std::stable_partition(
            segments_.begin(), segments_.end(),
            [](const os::DataSegment &segment) { return !segment.build_id.empty(); });
        others_.assign(rest, segments_.end());
        segments_.erase(rest, segments_.end());
        loading_count_ = count;
    }
}

} // namespace cd
