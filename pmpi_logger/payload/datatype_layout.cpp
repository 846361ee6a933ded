// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "payload/datatype_layout.h"
#include "payload/private_comm.h"

#include "call/handle_word.h"
#include "mpi/real.h"
#include "mpi/reentry_guard.h"
#include "payload/datatype_cache.h"

#include <cstddef>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace cd::logger {
namespace {

#ifdef CD_HAS_MPI_Type_get_contents_c // where types may have been made with large counts
using Number = MPI_Count;
#else
using Number = int;
#endif

// The call that made a type, and how many arguments it had.
struct Envelope {
    explicit Envelope(MPI_Datatype type) {
#ifdef CD_HAS_MPI_Type_get_contents_c
        real<Fn::MPI_Type_get_envelope_c>(type, &integers, &addresses, &counts, &types, &combiner);
#else
        real<Fn::MPI_Type_get_envelope>(type, &integers, &addresses, &types, &combiner);
#endif
    }
    bool is_basic() const {
        return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_INTEGER ||
               combiner == MPI_COMBINER_F90_REAL || combiner == MPI_COMBINER_F90_COMPLEX;
    }

    Number integers = 0;
    Number addresses = 0;
    Number counts = 0;
    Number types = 0;
    int combiner = MPI_COMBINER_NAMED;
};

// The arguments of the call that made a type. Holds references to derived types among them.
class Construction {
public:
    Construction(MPI_Datatype type, const Envelope &envelope)
        : integers_(static_cast<size_t>(envelope.integers)),
          counts_(static_cast<size_t>(envelope.counts)),
          types_(static_cast<size_t>(envelope.types)) {
        std::vector<MPI_Aint> addresses(static_cast<size_t>(envelope.addresses));
#ifdef CD_HAS_MPI_Type_get_contents_c
        real<Fn::MPI_Type_get_contents_c>(type, envelope.integers, envelope.addresses,
                                          envelope.counts, envelope.types, integers_.data(),
                                          addresses.data(), counts_.data(), types_.data());
#else
        real<Fn::MPI_Type_get_contents>(type, envelope.integers, envelope.addresses, envelope.types,
                                        integers_.data(), addresses.data(), types_.data());
#endif
    }
    Construction(const Construction &) = delete;
    Construction &operator=(const Construction &) = delete;
    ~Construction() {
        for (MPI_Datatype type : types_) {
            if (!Envelope(type).is_basic()) {
                real<Fn::MPI_Type_free>(&type);
            }
        }
    }

    const std::vector<MPI_Datatype> &types() const { return types_; }

    // Returns how many elements of the given part there are. The counts stand behind the number of
    // parts.
    uint64_t number_of(size_t type) const {
        return static_cast<uint64_t>(counts_.empty() ? integers_[type + 1] : counts_[type + 1]);
    }

private:
    std::vector<int> integers_;
    std::vector<Number> counts_;
    std::vector<MPI_Datatype> types_;
};

// A long double has 10 bytes on x86, and takes 16.
bool is_padded(MPI_Datatype basic) {
    return basic == MPI_LONG_DOUBLE || basic == MPI_LONG_DOUBLE_INT ||
           basic == MPI_C_LONG_DOUBLE_COMPLEX || basic == MPI_CXX_LONG_DOUBLE_COMPLEX;
}

// A sequence of basic types, as a polynomial of their handles. So it depends on the sequence alone,
// and parts are appended and repeated without visiting each element.
class Sequence {
public:
    Sequence() = default;
    explicit Sequence(MPI_Datatype basic)
        : sum_(word_of(basic) % prime), length_(1), padded_(is_padded(basic)) {}

    uint64_t sum() const { return sum_; }
    bool padded() const { return padded_; }

    void append(const Sequence &other) {
        sum_ = (times(sum_, power(other.length_)) + other.sum_) % prime;
        length_ += other.length_;
        padded_ |= other.padded_;
    }

    Sequence repeated(uint64_t often) const {
        Sequence all;
        for (Sequence doubled = *this; often > 0; often /= 2) {
            if (often % 2 != 0) {
                all.append(doubled);
            }
            doubled.append(doubled);
        }
        return all;
    }

private:
    static constexpr uint64_t prime = (uint64_t{1} << 61) - 1;
    static constexpr uint64_t base = 0x12B9B0A1C4E3D597; // without a pattern

    static uint64_t times(uint64_t a, uint64_t b) {
        __extension__ using Wide = unsigned __int128;
        return static_cast<uint64_t>(Wide{a} * b % prime);
    }
    static uint64_t power(uint64_t exponent) {
        uint64_t result = 1;
        for (uint64_t factor = base; exponent > 0; exponent /= 2) {
            result = exponent % 2 != 0 ? times(result, factor) : result;
            factor = times(factor, factor);
        }
        return result;
    }

    uint64_t sum_ = 0;
    uint64_t length_ = 0;
    bool padded_ = false;
};

uint64_t size_of(MPI_Datatype type) {
    MPI_Count size = 0;
    real<Fn::MPI_Type_size_x>(type, &size);
    return static_cast<uint64_t>(size);
}

Sequence sequence_of(MPI_Datatype type) {
    const Envelope envelope(type);
    if (envelope.is_basic()) {
        return Sequence(type);
    }
    const Construction made(type, envelope);
    const std::vector<MPI_Datatype> &parts = made.types();
    if (parts.empty()) {
        return Sequence();
    }
    Sequence part = sequence_of(parts.front());
    if (parts.size() == 1) { // wherever they lie
        const uint64_t size = size_of(parts.front());
        return size > 0 ? part.repeated(size_of(type) / size) : Sequence();
    }
    Sequence all;
    for (size_t i = 0; i < parts.size(); ++i) {
        if (i > 0 && parts[i] != parts[i - 1]) {
            part = sequence_of(parts[i]);
        }
        all.append(part.repeated(made.number_of(i)));
    }
    return all;
}

// Larger types count as out of order: they are not tried.
constexpr int64_t largest_tried = int64_t{1} << 24;

// Returns whether MPI packs one element, whose bytes lie without gaps, as it lies. Tries it with
// bytes that hold their own positions, one digit at a time.
bool packs_as_it_lies(MPI_Datatype type, const DatatypeFacts &facts) {
    const auto size = static_cast<size_t>(facts.size);
    std::vector<std::byte> memory(size);
    std::vector<std::byte> packed(size);
    MPI_Datatype committed = copy_of_type(type);
    bool same = true;
    for (int digit = 0; same && (digit == 0 || (size - 1) >> digit > 0); digit += 8) {
        for (size_t i = 0; i < size; ++i) {
            memory[i] = static_cast<std::byte>(i >> digit);
        }
        const auto element =
            reinterpret_cast<uintptr_t>(memory.data()) - static_cast<uintptr_t>(facts.lower_bound);
        int position = 0;
        real<Fn::MPI_Pack>(reinterpret_cast<const void *>(element), 1, committed, packed.data(),
                           static_cast<int>(size), &position, own_comm());
        same = packed == memory;
    }
    real<Fn::MPI_Type_free>(&committed);
    return same;
}

bool is_in_order(MPI_Datatype type, const DatatypeFacts &facts) {
    if (!facts.dense || facts.size == 0) {
        return facts.dense;
    }
    const Envelope envelope(type);
    if (envelope.is_basic()) {
        return true;
    }
    if (envelope.combiner == MPI_COMBINER_CONTIGUOUS || envelope.combiner == MPI_COMBINER_DUP) {
        const Construction made(type, envelope);
        const MPI_Datatype part = made.types().front();
        return is_in_order(part, ask_extents(part));
    }
    return facts.size <= largest_tried && packs_as_it_lies(type, facts);
}

struct Known {
    std::mutex mutex;
    std::unordered_map<uint64_t, DatatypeLayout> types;
};

// Never destroyed: MPI may be used while the process ends.
Known &known() {
    static auto &one = *new Known;
    return one;
}

} // namespace

DatatypeLayout layout_of(MPI_Datatype type, const DatatypeFacts &facts) {
    const ReentryGuard inside;
    {
        const std::scoped_lock lock(known().mutex);
        if (const auto found = known().types.find(word_of(type)); found != known().types.end()) {
            return found->second;
        }
    }
    const Sequence sequence = sequence_of(type);
    const DatatypeLayout layout = {sequence.sum(), is_in_order(type, facts), sequence.padded()};
    // Keeps nothing about the parts: they may have been freed, and their handles reused.
    const std::scoped_lock lock(known().mutex);
    known().types.emplace(word_of(type), layout);
    return layout;
}

bool is_basic(MPI_Datatype type) {
    const ReentryGuard inside;
    return Envelope(type).is_basic();
}

size_t count_parts(MPI_Datatype type) { return static_cast<size_t>(Envelope(type).types); }

void forget_layout(MPI_Datatype type) {
    const std::scoped_lock lock(known().mutex);
    known().types.erase(word_of(type));
}

} // namespace cd::logger
