// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "domains/restore.h"

#include "base/callback_guard.h"
#include "domains/ancestors.h"
#include "memory/copy.h"
#include "ranges/range_set.h"

#include <algorithm>
#include <climits>
#include <span>
#include <tuple>

namespace cd {
namespace {

int call(cd_regen_fn regen, cd_addrspec *specs, int count) {
    int result = -1; // also when it throws
    call_application([&] { result = regen(specs, count); });
    return result;
}

Status check_intact(const Domain &domain, const Entry &entry, Range part) {
    if (entry.data.block().backing() != nullptr) {
        return Status::ok();
    }
    const size_t offset = entry.data.offset() + (part.begin - entry.range.begin);
    if (entry.data.block().intact(offset, part.length())) {
        return Status::ok();
    }
    return fail(
        CD_ERROR_CHECKSUM,
        "CD %s: the stored data for the %zu bytes at %p do not match their checksum; they were "
        "damaged in memory, restore an older CD",
        domain.name(), part.length(), part.address());
}

// True for CONSTRAINED entries of descendants: their memory may be gone, and be used for other
// data.
bool is_left_out(const Domain &top, const Domain &holder, const Entry &entry) {
    return &holder != &top && entry.scope == CD_CONSTRAINED;
}

struct OldestFirst {
    std::span<Domain *const> left;
    const Domain *current() const { return left.empty() ? nullptr : left.front(); }
    void step() { left = left.subspan(1); }
};

} // namespace

Status regenerate(const Domain &domain, cd_regen_fn regen, std::span<cd_addrspec> specs) {
    const cd_addrspec first = specs.front();
    const int result = call(regen, specs.data(), static_cast<int>(specs.size()));
    if (result == 0) {
        return Status::ok();
    }
    return fail(CD_ERROR_REGEN_FAILED,
                "CD %s: the regen function at %p returned %d (-1 also when it threw) for %zu "
                "ranges, first %zu bytes at %p; memory is partly restored; restore the CD again",
                domain.name(), reinterpret_cast<void *>(regen), result, specs.size(), first.length,
                first.address);
}

Status Restore::prepare() {
    subtree_ = subtree_of(top_);
    others_.resize(subtree_.size());
    for (size_t i = 0; i < subtree_.size(); ++i) {
        if (Status status = check_entries(*subtree_[i], others_[i]); !status) {
            return status;
        }
        descendants_regenerate_ |= i > 0 && !others_[i].regens.calls.empty();
    }
    if (!descendants_regenerate_ && subtree_.size() > holders_remembered) {
        find_final_parts();
    }
    find_files();
    return Status::ok();
}

// Used for many CDs, each of which would have to be asked about the entries of all younger ones.
void Restore::find_final_parts() {
    final_parts_.resize(subtree_.size());
    RangeSet written_by_older;
    for (size_t i = 0; i < subtree_.size(); ++i) {
        for (const auto &[address, entry] : subtree_[i]->entries) {
            if (is_copied(*subtree_[i], *entry)) {
                written_by_older.for_each_gap(entry->range,
                                              [&](Range part) { final_parts_[i].push_back(part); });
                written_by_older.add(entry->range);
            }
        }
    }
}

void Restore::find_files() {
    FileTable found;
    for (const Domain *domain : subtree_) {
        for (const FilePosition &file : domain->files) {
            if (!found.holds(file.descriptor)) {
                found.add(file);
                files_.push_back({domain, file});
            }
        }
    }
}

Status Restore::check_entries(const Domain &domain, Others &others) const {
    if (!domain.restore_may_fail) {
        return Status::ok();
    }
    std::vector<const Entry *> regens;
    Status status;
    for (const auto &held : domain.entries) {
        const Entry *entry = held.second;
        prefetch_behind(*entry);
        if (is_left_out(top_, domain, *entry)) {
            continue;
        }
        switch (entry->restoration) {
        case Restoration::copy:
            entry->for_each_element([&](Range part) {
                if (status.is_ok()) {
                    status = check_intact(domain, *entry, part);
                }
            });
            break;
        case Restoration::parent:
            others.from_ancestors = true;
            for_each_source(
                domain.parent, entry->range,
                [&](const Entry &source, Range held_there) {
                    source.for_each_element_in(held_there, [&](Range part) {
                        if (status.is_ok()) {
                            status = check_intact(domain, source, part);
                        }
                    });
                },
                [&](Range part) {
                    status =
                        fail(CD_ERROR_NOT_IN_PARENT,
                             "CD %s: no ancestor holds the %zu bytes at %p as COPY any more; "
                             "they were deleted or added via regen there, so delete them here too",
                             domain.name(), part.length(), part.address());
                });
            break;
        case Restoration::regen:
            regens.push_back(entry);
            break;
        }
        if (!status) {
            return status;
        }
    }
    others.regens = group(regens);
    return status;
}

// Plans one call of a regen function for all entries from one add call.
Restore::Regens Restore::group(std::vector<const Entry *> &entries) {
    const auto key = [](const Entry *entry) {
        return std::tuple(entry->origin.call, reinterpret_cast<uintptr_t>(entry->regen));
    };
    std::ranges::sort(entries, {}, [&](const Entry *entry) {
        return std::tuple_cat(key(entry), std::tuple(entry->range.begin));
    });
    Regens regens;
    for (size_t i = 0; i < entries.size(); ++i) {
        const Entry &entry = *entries[i];
        bool same_call = i > 0 && key(entries[i]) == key(entries[i - 1]);
        entry.for_each_element([&](Range part) {
            if (!same_call || regens.calls.back().count == INT_MAX) {
                regens.calls.push_back({entry.regen, regens.specs.size(), 0});
                same_call = true;
            }
            ++regens.calls.back().count;
            regens.specs.push_back({part.address(), part.length(), entry.access, entry.scope});
        });
    }
    return regens;
}

bool Restore::regenerates() const {
    return std::ranges::any_of(others_,
                               [](const Others &of_cd) { return !of_cd.regens.calls.empty(); });
}

Status Restore::write_memory() {
    for (size_t i = subtree_.size(); i-- > 0;) {
        if (Status status = write_copies(i); !status) {
            return status;
        }
        if (others_[i].from_ancestors) {
            if (Status status = write_from_ancestors(i); !status) {
                return status;
            }
        }
        if (Status status = call_regens(*subtree_[i], others_[i].regens); !status) {
            return status;
        }
    }
    return Status::ok();
}

bool Restore::is_copied(const Domain &holder, const Entry &entry) const {
    return entry.restoration != Restoration::regen && !is_left_out(top_, holder, entry);
}

// Calls visit for the parts of range that no older CD copies over. range: of an entry, which is
// copied, of the CD with this index in subtree_.
template <typename Visit>
void Restore::for_each_final_part(size_t index, Range range, const Visit &visit) const {
    if (final_parts_.empty()) {
        ask_older_cds(index, range, visit);
        return;
    }
    const std::vector<Range> &parts = final_parts_[index];
    for (auto at = std::ranges::lower_bound(parts, range.begin, {}, &Range::begin);
         at != parts.end() && at->begin < range.end; ++at) {
        visit(*at);
    }
}

template <typename Visit>
void Restore::ask_older_cds(size_t index, Range range, const Visit &visit) const {
    const auto writes = [this](const Domain &older, const Entry &entry) {
        return is_copied(older, entry);
    };
    const auto written_again = [](const Domain &, const Entry &, Range) { return true; };
    const auto lasts = [&](Range part) {
        visit(part);
        return true;
    };
    const size_t older_count = descendants_regenerate_ ? 0 : index;
    const auto older = std::span<Domain *const>(subtree_).first(older_count);
    for_each_first_holder(OldestFirst{older}, range, writes, written_again, lasts);
}

Status Restore::write_copies(size_t index) {
    const Domain &domain = *subtree_[index];
    CopyRun run(CopyRun::Direction::to_memory);
    for (const auto &held : domain.entries) {
        const Entry &entry = *held.second;
        prefetch_behind(entry);
        if (entry.restoration != Restoration::copy || is_left_out(top_, domain, entry)) {
            continue;
        }
        for_each_final_part(index, entry.range, [&](Range part) {
            run.add(part.begin, entry.data.block(),
                    entry.data.offset() + (part.begin - entry.range.begin), part.length());
        });
    }
    run.flush();
    copied_ += run.copied();
    return run.status();
}

Status Restore::write_from_ancestors(size_t index) {
    const Domain &domain = *subtree_[index];
    CopyRun run(CopyRun::Direction::to_memory);
    for (const auto &[address, entry] : domain.entries) {
        if (entry->restoration != Restoration::parent || is_left_out(top_, domain, *entry)) {
            continue;
        }
        for_each_final_part(index, entry->range, [&](Range final_part) {
            for_each_source(
                domain.parent, final_part,
                [&](const Entry &source, Range part) {
                    run.add(part.begin, source.data.block(),
                            source.data.offset() + (part.begin - source.range.begin),
                            part.length());
                },
                [](Range) {}); // prepare() has found none
        });
    }
    run.flush();
    copied_ += run.copied();
    return run.status();
}

Status Restore::call_regens(const Domain &domain, Regens &regens) {
    for (const RegenCall &planned : regens.calls) {
        const auto specs = std::span(regens.specs).subspan(planned.first, planned.count);
        if (Status status = regenerate(domain, planned.regen, specs); !status) {
            return status;
        }
    }
    return Status::ok();
}

} // namespace cd
