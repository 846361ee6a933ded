// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "domains/inspect.h"

#include "base/callback_scope.h"
#include "domains/ancestry.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace cd {
namespace {

class Mismatches {
public:
    Mismatches(cd_mismatch_fn report, void *context) : report_(report), context_(context) {}

    void found(Range range, cd_mismatch_kind kind) {
        if (count_++ == 0) {
            first_ = range;
        }
        if (report_ != nullptr) {
            const cd_mismatch mismatch = {range.address(), range.length(), kind};
            call_application([&] { report_(&mismatch, context_); });
        }
    }

    Status verdict(const Domain &domain) const {
        if (count_ == 0) {
            return Status::ok();
        }
        return fail(
            CD_ERROR_VERIFY_MISMATCH,
            "CD %s: %zu ranges do not agree with the CD's data, the first being %zu bytes at "
            "%p; READ_ONLY memory was modified or data were damaged. If children have it as "
            "READ_WRITE, commit them first; else restore the CD",
            domain.name(), count_, first_.length(), first_.address());
    }

private:
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
            mismatches.found({range.begin + run_begin, range.begin + end}, CD_MISMATCH_MEMORY);
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

// The same for data in a file, which are read bit by bit; what cannot be read is damaged.
void verify_backed_part(const Entry &own, const Piece &data, Range part, Mismatches &mismatches) {
    std::vector<std::byte> stored(std::min(part.length(), size_t{256} << 10));
    for (size_t done = 0; done < part.length(); done += stored.size()) {
        const size_t length = std::min(stored.size(), part.length() - done);
        const Range now = {part.begin + done, part.begin + done + length};
        if (!data.block().backing()->read(data.offset() + done, stored.data(), length)) {
            mismatches.found(now, CD_MISMATCH_CHECKSUM);
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
        mismatches.found(part, CD_MISMATCH_CHECKSUM);
    }
    if (!own.read_write()) {
        compare(stored, part, mismatches);
    }
}

} // namespace

void query(const Domain &domain, cd_info &info) {
    info = {};
    info.depth = domain.depth;
    info.sibling = domain.sibling;
    info.children = static_cast<int>(domain.children.size());
    info.logging = domain.log.enabled() ? 1 : 0;
    const LogShare::Extent log = domain.log.extent();
    info.replaying = log.remaining > 0 ? 1 : 0;
    info.restarted = domain.restarted ? 1 : 0;
    for (const Unbound &found : domain.unbound) {
        info.unbound += found.old.length();
    }
    info.epoch = domain.epoch;
    info.files = domain.files.size();
    info.log_length = log.entries;
    info.log_bytes = log.bytes;
    info.log_in_files = log.in_files;
    info.log_remaining = log.remaining;
    const Entry *previous = nullptr;
    for (const auto &[address, entry] : domain.entries) {
        const bool continues = previous != nullptr && previous->range.end == entry->range.begin &&
                               previous->alike(*entry);
        info.entries += continues ? 0 : entry->origin.elements;
        info.bytes += entry->range.length();
        info.read_write += entry->read_write() ? entry->range.length() : 0;
        info.stored_bytes +=
            (entry->data ? entry->range.length() : 0) + (entry->shadow ? entry->range.length() : 0);
        previous = entry;
    }
}

Status verify(const Domain &domain, cd_mismatch_fn report, void *context) {
    Mismatches mismatches(report, context);
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
