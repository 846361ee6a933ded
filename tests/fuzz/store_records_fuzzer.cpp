// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// A journal of records, of which the fuzzer chooses the changes and then changes bytes: a record
// that is found is one that was written.
#include "file_store/record.h"
#include "input.h"

#include <algorithm>
#include <vector>

using namespace cd;
using fuzz::require;

// NOLINTNEXTLINE(readability-identifier-naming): the name that libFuzzer calls
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz::Input input(data, size);
    Superblock header;
    header.generation = input.number8();
    header.id[3] = std::byte{input.number8()};
    const unsigned count = input.number8() % 5U;
    std::vector<std::vector<std::byte>> written;
    std::vector<std::byte> journal;
    for (unsigned i = 0; i < count; ++i) {
        const auto changes = input.counted();
        written.emplace_back(changes.begin(), changes.end());
        const ByteWriter record = encode_record(header, i, changes);
        require(record.size() == record_size(changes.size()), "a record has the size it said");
        journal.insert(journal.end(), record.bytes().begin(), record.bytes().end());
    }
    const size_t end = journal.size();
    journal.resize(end + 2 * format::block);
    Unused(header).fill(end, std::span(journal).subspan(end));
    const bool whole = input.empty();
    while (!input.empty()) {
        const size_t at = input.number16() % journal.size();
        journal[at] ^= std::byte{input.number8()};
    }
    size_t used = 0;
    for (unsigned i = 0;; ++i) {
        const FoundRecord record = find_record(header, i, journal, used);
        if (record.kind != FoundRecord::Kind::whole) {
            require(!whole || (i == count && record.kind == FoundRecord::Kind::end),
                    "what was written is found again");
            return 0;
        }
        require(i < count && std::ranges::equal(record.changes, written[i]),
                "a record that is found is one that was written");
        used += record.size;
        require(used <= journal.size(), "a record lies in the journal");
    }
}
