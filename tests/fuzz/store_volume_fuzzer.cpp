// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// A store as a whole, of which the fuzzer chooses snapshot and records, which get the right
// checksums, and then changes bytes anywhere. It is refused, or taken over; what it refers to is
// never handed out for something else.
#include "file_store/file_store.h"
#include "file_store/load.h"
#include "file_store/record.h"
#include "file_store/stored_data.h"
#include "memory/crc32c.h"
#include "memory_file.h"
#include "states.h"

#include <algorithm>
#include <vector>

using namespace cd;
using fuzz::require;

namespace {

constexpr uint64_t journal_length = 4 * format::block;
constexpr uint64_t data_length = 8 * format::block;

// Describes nothing, since nothing is added.
class NoAddresses : public Addresses {
public:
    Status describe(Range &, StoredName &, StoredKey &) override { return {}; }
};

void build(fuzz::Input &input, fuzz::MemoryFile &memory) {
    const File file = fuzz::MemoryFile::open();
    const unsigned count = input.number8() % 8U;
    const auto snapshot = input.counted();
    Superblock header;
    header.generation = 1 + input.number8() % 2U;
    header.slot = 1;
    header.name = "root";
    header.snapshot = {format::first_extent, record_size(snapshot.size())};
    header.snapshot_length = snapshot.size();
    header.snapshot_checksum = crc32c(0, snapshot.data(), snapshot.size());
    header.journal = {header.snapshot.end(), journal_length};
    const Extent data = {header.journal.end(), data_length};
    const Extent older = {data.end(), 2 * format::block};
    memory.bytes.resize(older.end());
    require(file.write(header.snapshot.offset, snapshot.data(), snapshot.size()).is_ok() &&
                Unused(header).write(file, header.journal.offset, journal_length).is_ok() &&
                write_header(file, header).is_ok(),
            "memory can be written");
    uint64_t used = 0;
    for (unsigned i = 0; i < count; ++i) {
        const ByteWriter record = encode_record(header, i, input.counted());
        if (used + record.size() > journal_length) {
            break;
        }
        require(
            file.write(header.journal.offset + used, record.bytes().data(), record.size()).is_ok(),
            "memory can be written");
        used += record.size();
    }
    // The metadata before these, or the same once more.
    header.slot = 0;
    if (header.generation > 1) {
        header.snapshot = {older.offset, format::block};
        header.journal = {header.snapshot.end(), format::block};
    }
    header.generation = 1;
    require(write_header(file, header).is_ok(), "memory can be written");
    if (input.number8() % 8U == 0) {
        memory.bytes.resize(memory.bytes.size() - input.number16() % (data_length + older.length));
    }
    while (!input.empty()) {
        const size_t at = (input.number16() | input.number8() << 16U) % memory.bytes.size();
        memory.bytes[at] ^= std::byte{input.number8()};
    }
}

void add_extents(const StoredEntries &entries, std::vector<Extent> &extents) {
    for (const auto &[place, entry] : entries) {
        if (entry.run != nullptr && entry.run->length > 0) {
            extents.push_back({entry.run->offset, entry.run->length});
        }
    }
}

std::vector<Extent> extents_of(const Loaded &loaded) {
    std::vector<Extent> extents = {{0, format::first_extent}};
    for (const Extent &extent : loaded.header.places()) {
        extents.push_back(extent);
    }
    if (loaded.older.generation != 0) {
        for (const Extent &extent : loaded.older.places()) {
            extents.push_back(extent);
        }
    }
    for (const auto &[number, stored] : loaded.state.cds) {
        add_extents(stored.entries, extents);
    }
    for (const StoredVersion &version : loaded.state.versions) {
        add_extents(version.entries, extents);
    }
    return extents;
}

bool overlap(const Extent &a, const Extent &b) { return a.offset < b.end() && b.offset < a.end(); }

// Only a library that is wrong, and no damage, makes things lie in one place, or in one that is not
// wholly in the file.
bool is_tangled(const std::vector<Extent> &extents, uint64_t size) {
    std::vector<Extent> places;
    for (const Extent &extent : extents) {
        const Extent place = {extent.offset, Space::rounded(extent.length)};
        if (place.end() > size || std::ranges::any_of(places, [&](const Extent &other) {
                return overlap(place, other);
            })) {
            return true;
        }
        places.push_back(place);
    }
    return false;
}

} // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name that libFuzzer calls
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz::Input input(data, size);
    // Takes most of the time, so it has its turn only now and then.
    const bool writing = input.number8() % 8 == 0;
    fuzz::MemoryFile memory;
    build(input, memory);
    const std::vector<std::byte> before = memory.bytes;

    Loaded loaded;
    clear_message();
    const Status status = load(fuzz::MemoryFile::open(), loaded);
    require(memory.bytes == before, "reading changes nothing");
    if (!status) {
        const std::string message = cd::message();
        require(message.find("memory.cds") != std::string::npos &&
                    message.find("offset") != std::string::npos,
                "an error names file and offset");
        return 0;
    }
    fuzz::require_sound(loaded.state);
    for (const auto &[number, stored] : loaded.state.cds) {
        require(number == State::root || loaded.state.cds.contains(stored.parent),
                "a CD has its parent");
    }
    const std::vector<Extent> extents = extents_of(loaded);
    for (const Extent &extent : extents) {
        require(extent.end() <= memory.bytes.size(), "what is referred to lies in the file");
    }
    if (extents.size() > 50) {
        return 0; // slow, and nothing new
    }

    NoAddresses addresses;
    FileStore store(fuzz::MemoryFile::open(), memory.bytes.size(), Directory(), "memory.cds", {},
                    addresses);
    FileStore::Pieces pieces;
    store.take_over(loaded, pieces);
    for (const Piece &piece : pieces) {
        if (piece) {
            std::vector<std::byte> bytes(piece.block().size());
            (void)piece.block().backing()->read(0, bytes.data(), bytes.size()).is_ok();
        }
    }
    const bool tangled = is_tangled(extents, memory.bytes.size());
    for (const uint64_t length : {uint64_t{100}, uint64_t{5000}, data_length}) {
        Extent extent;
        require(store.volume().reserve(length, extent).is_ok(), "there is room");
        require(extent.end() <= memory.bytes.size(), "what is handed out lies in the file");
        for (const Extent &taken : extents) {
            require(tangled || !overlap(taken, extent), "what is in use is not handed out");
        }
    }
    if (tangled || !writing) {
        return 0;
    }
    // The older metadata go with the first time, and with the second one those that were loaded.
    require(store.rewrite().is_ok() && store.rewrite().is_ok(), "a state can be written down");
    Loaded again;
    require(load(fuzz::MemoryFile::open(), again).is_ok() && again.doubt.empty() &&
                fuzz::text_of(again.state) == fuzz::text_of(loaded.state),
            "what was written down is found again");
    return 0;
}
