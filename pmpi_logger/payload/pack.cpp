// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "payload/pack.h"

#include "memory/copy.h"
#include "mpi/real.h"
#include "mpi/reentry_guard.h"
#include "payload/private_comm.h"
#include "settings/settings.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace cd::logger {
namespace {

char *start_of(const Block &block, const DatatypeFacts &facts) {
    return static_cast<char *>(block.address) + facts.lower_bound;
}

// MPI counts elements and bytes in an int here; large blocks go in several steps.
int elements_per_step(int64_t left, int64_t size) {
    const int64_t most = std::max<int64_t>(std::numeric_limits<int>::max() / size, 1);
    return static_cast<int>(std::min(left, most));
}

template <typename Step>
void in_steps(const Block &block, int64_t elements, const DatatypeFacts &facts, const Step &step) {
    char *at = static_cast<char *>(block.address);
    while (elements > 0) {
        const int now = elements_per_step(elements, facts.size);
        step(at, now);
        at += now * facts.extent;
        elements -= now;
    }
}

// A block at another address than MPI_BOTTOM, which MPICH refuses to pack from.
class Rooted {
public:
    Rooted(const Block &block, const DatatypeFacts &facts) : block_(block) {
        if (block.address != MPI_BOTTOM || facts.span == 0) {
            return;
        }
        const int length = 1;
        const MPI_Aint shift = -facts.lower_bound;
        real<Fn::MPI_Type_create_hindexed>(1, &length, &shift, block.type, &shifted_);
        real<Fn::MPI_Type_commit>(&shifted_);
        block_.address = start_of(block, facts);
        block_.type = shifted_;
    }
    Rooted(const Rooted &) = delete;
    Rooted &operator=(const Rooted &) = delete;
    ~Rooted() {
        if (shifted_ != MPI_DATATYPE_NULL) {
            real<Fn::MPI_Type_free>(&shifted_);
        }
    }
    const Block &block() const { return block_; }

private:
    Block block_;
    MPI_Datatype shifted_ = MPI_DATATYPE_NULL;
};

// Packs nothing if the type is not committed: the program's call fails by itself.
size_t pack(const Block &block, int64_t elements, const DatatypeFacts &facts, std::byte *to) {
    std::byte *const begin = to;
    const Rooted rooted(block, facts);
    in_steps(rooted.block(), elements, facts, [&](const void *from, int count) {
        int position = 0;
        const int64_t room = std::min<int64_t>(count * facts.size, std::numeric_limits<int>::max());
        real<Fn::MPI_Pack>(from, count, rooted.block().type, to, static_cast<int>(room), &position,
                           own_comm());
        to += position;
    });
    return static_cast<size_t>(to - begin);
}

void unpack(const Block &block, int64_t elements, const DatatypeFacts &facts,
            const std::byte *from) {
    const Rooted rooted(block, facts);
    in_steps(rooted.block(), elements, facts, [&](void *to, int count) {
        int position = 0;
        const int64_t size = std::min<int64_t>(count * facts.size, std::numeric_limits<int>::max());
        real<Fn::MPI_Unpack>(from, static_cast<int>(size), &position, to, count,
                             rooted.block().type, own_comm());
        from += position;
    });
}

int64_t elements_for(size_t bytes, const DatatypeFacts &facts) {
    const auto wanted = static_cast<int64_t>(bytes);
    return facts.size == 0 ? 0 : (wanted + facts.size - 1) / facts.size;
}

} // namespace

size_t bytes_in(const Block &block) { return contents_of(block).size; }

Bytes view(const Block &block, size_t bytes, std::vector<std::byte> &scratch) {
    if (bytes == 0) {
        return {};
    }
    const DatatypeFacts &facts = facts_of(block.type);
    if (facts.in_order) {
        return {start_of(block, facts), bytes};
    }
    const int64_t elements = elements_for(bytes, facts);
    scratch.resize(static_cast<size_t>(elements * facts.size));
    pack(block, elements, facts, scratch.data());
    return {scratch.data(), bytes};
}

void gather(const Block &block, size_t bytes, std::byte *to) {
    if (bytes == 0) {
        return;
    }
    const DatatypeFacts &facts = facts_of(block.type);
    if (facts.in_order) {
        std::memcpy(to, start_of(block, facts), bytes);
        return;
    }
    const int64_t elements = elements_for(bytes, facts);
    if (static_cast<size_t>(elements * facts.size) == bytes) {
        pack(block, elements, facts, to);
    } else {
        std::vector<std::byte> whole(static_cast<size_t>(elements * facts.size));
        pack(block, elements, facts, whole.data());
        std::memcpy(to, whole.data(), bytes);
    }
}

Block part_of(const Block &whole, int part, int parts) {
    const int64_t count = whole.count / parts;
    auto *const begin = static_cast<std::byte *>(whole.address);
    return {begin + part * count * facts_of(whole.type).extent, count, whole.type};
}

void deliver(const Block &block, const void *data, size_t bytes) {
    if (bytes == 0) {
        return;
    }
    const DatatypeFacts &facts = facts_of(block.type);
    if (facts.in_order) {
        copy_through_caches(start_of(block, facts), data, bytes);
        return;
    }
    const auto *from = static_cast<const std::byte *>(data);
    const auto size = static_cast<size_t>(facts.size);
    const size_t whole = bytes / size;
    unpack(block, static_cast<int64_t>(whole), facts, from);
    if (const size_t rest = bytes % size; rest > 0) {
        // The last element came in part: the rest of it stays as it is.
        const Block last = {static_cast<char *>(block.address) +
                                static_cast<int64_t>(whole) * facts.extent,
                            1, block.type};
        std::vector<std::byte> element(size);
        pack(last, 1, facts, element.data());
        std::memcpy(element.data(), from + whole * size, rest);
        unpack(last, 1, facts, element.data());
    }
}

void copy_data(const Block &from, const Block &to, size_t most) {
    std::vector<std::byte> scratch;
    const Bytes data = view(from, std::min(bytes_in(from), most), scratch);
    deliver(to, data.data, data.size);
}

uint64_t checksum_of(const Blocks &blocks) {
    uint64_t sum = 0;
    for (const Block &block : blocks) {
        sum = checksum_of(block, sum);
    }
    return sum;
}

uint64_t checksum_of(const Block &block, uint64_t so_far) {
    const Contents contents = contents_of(block);
    if (contents.padded) {
        return so_far;
    }
    if (contents.in_order != nullptr) {
        return checksum(contents.in_order, contents.size, so_far);
    }
    const ReentryGuard inside;
    std::vector<std::byte> scratch;
    const void *data = view(block, contents.size, scratch).data;
    return checksum(data, contents.size, so_far);
}

bool SentData::read() {
    static const What said =
        choice_in("CD_SENT_DATA", {"compare", "ignore"}).value_or(0) == 0 ? compared : ignored;
    known_.store(said, std::memory_order_relaxed);
    return said == compared;
}

} // namespace cd::logger
