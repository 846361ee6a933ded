// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "domains/verify.h"

#include "base/callback_guard.h"
#include "domains/ancestors.h"
#include "ranges/range_set.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

namespace cd {
namespace {

// The bytes that descendants hold as READ_WRITE. They may differ from the CD's READ_ONLY data until
// the descendants are committed, which makes them READ_WRITE in the CD too.
class MayDiffer {
public:
    explicit MayDiffer(Domain &top) : top_(top) {}

    // Calls visit for each part of range that may not differ. May throw std::bad_alloc.
    template <typename Visit> void for_each_other(Range range, const Visit &visit) {
        if (!collected_) {
            collect(); // when something differs, which is hardly ever
        }
        of_descendants_.for_each_gap(range, visit);
    }

private:
    void collect() {
        for (const Domain *descendant : subtree_of(top_)) {
            for (const auto &[address, entry] : descendant->entries) {
                if (descendant != &top_ && entry->read_write()) {
                    of_descendants_.add(entry->range);
                }
            }
        }
        collected_ = true;
    }

    Domain &top_;
    bool collected_ = false;
    RangeSet of_descendants_;
};

class Mismatches {
public:
    Mismatches(Domain &domain, cd_mismatch_fn report, void *context)
        : may_differ_(domain), report_(report), context_(context) {}

    void memory_differs(Range range) {
        may_differ_.for_each_other(range, [&](Range part) { found(part, CD_MISMATCH_MEMORY); });
    }
    void data_are_damaged(Range range) { found(range, CD_MISMATCH_CHECKSUM); }

    Status verdict(const Domain &domain) const {
        if (count_ == 0) {
            return Status::ok();
        }
        return fail(
            CD_ERROR_VERIFY_MISMATCH,
            "CD %s: %zu ranges differ from the CD's data, the first %zu bytes at %p: READ_ONLY "
            "memory was modified, or data damaged; restore the CD, or add it as READ_WRITE",
            domain.name(), count_, first_.length(), first_.address());
    }

private:
    void found(Range range, cd_mismatch_kind kind) {
        if (count_++ == 0) {
            first_ = range;
        }
        if (report_ != nullptr) {
            const cd_mismatch mismatch = {range.address(), range.length(), kind};
            call_application([&] { report_(&mismatch, context_); });
        }
    }

    MayDiffer may_differ_;
    cd_mismatch_fn report_;
    void *context_;
    size_t count_ = 0;
    Range first_;
};

// Reports each run of bytes in which memory differs from the stored data.
void compare(const std::byte *stored, Range range, Mismatches &mismatches) {
    constexpr size_t block = 4096; // memcmp is fast, and most blocks agree
    const auto *memory = static_cast<const std::byte *>(range.address());
    const size_t length = range.length();
    size_t run_begin = length; // no run is open
    const auto close_run = [&](size_t end) {
        if (run_begin < end) {
            mismatches.memory_differs({range.begin + run_begin, range.begin + end});
        }
        run_begin = length;
    };
    for (size_t at = 0; at < length; at += block) {
        const size_t end = std::min(length, at + block);
        if (std::memcmp(stored + at, memory + at, end - at) == 0) {
            close_run(at);
            continue;
        }
        for (size_t i = at; i < end; ++i) {
            if (stored[i] == memory[i]) {
                close_run(i);
            } else {
                run_begin = std::min(run_begin, i);
            }
        }
    }
    close_run(length);
}

// Does the same for data in a file, which it reads in pieces. Data that cannot be read are damaged.
void verify_backed_part(const Entry &own, const Piece &data, Range part, Mismatches &mismatches) {
    std::vector<std::byte> stored(std::min(part.length(), size_t{256} << 10));
    for (size_t done = 0; done < part.length(); done += stored.size()) {
        const size_t length = std::min(stored.size(), part.length() - done);
        const Range now = {part.begin + done, part.begin + done + length};
        if (!data.block().backing()->read(data.offset() + done, stored.data(), length)) {
            mismatches.data_are_damaged(now);
        } else if (!own.read_write()) {
            compare(stored.data(), now, mismatches);
        }
    }
}

// source: a COPY entry that holds part for the CD's own entry.
void verify_part(const Entry &own, const Entry &source, Range part, Mismatches &mismatches) {
    if (source.data.block().backing() != nullptr) {
        verify_backed_part(own, source.data.share(part.begin - source.range.begin), part,
                           mismatches);
        return;
    }
    const std::byte *stored = source.data.at() + (part.begin - source.range.begin);
    if (!source.data.block().intact(source.data.offset() + (part.begin - source.range.begin),
                                    part.length())) {
        mismatches.data_are_damaged(part);
    }
    if (!own.read_write()) {
        compare(stored, part, mismatches);
    }
}

} // namespace

Status verify(Domain &domain, cd_mismatch_fn report, void *context) {
    if (Status status = domain.store != nullptr ? domain.store->check_readable() : Status::ok();
        !status) {
        return status;
    }
    Mismatches mismatches(domain, report, context);
    for (const auto &[address, entry] : domain.entries) {
        const Entry &own = *entry;
        const auto verify_own = [&](const Entry &source, Range part) {
            verify_part(own, source, part, mismatches);
        };
        switch (own.restoration) {
        case Restoration::copy:
            own.for_each_element([&](Range part) { verify_own(own, part); });
            break;
        case Restoration::parent:
            for_each_source(
                domain.parent, own.range,
                [&](const Entry &source, Range held) {
                    source.for_each_element_in(held, [&](Range part) { verify_own(source, part); });
                },
                [](Range) {});
            break;
        case Restoration::regen:
            break;
        }
    }
    return mismatches.verdict(domain);
}

} // namespace cd
