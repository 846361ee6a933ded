// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// A log with limited memory behaves as one without a limit.
#include "mpi_log/spill.h"

#include "mpi_log/log.h"
#include "spill_system.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace cd {
namespace {

using Random = std::mt19937_64;

constexpr uint64_t tiny = uint64_t{64} << 10;

size_t below(Random &random, size_t bound) { return static_cast<size_t>(random() % bound); }

std::string some_entry(Random &random, size_t longest) {
    std::string text(below(random, longest), static_cast<char>('a' + random() % 26));
    for (size_t i = 0; i + sizeof(uint64_t) <= text.size() / 2; i += sizeof(uint64_t)) {
        const uint64_t word = random();
        std::memcpy(&text[i], &word, sizeof word);
    }
    return text;
}

std::shared_ptr<LogSpill> spill_of(uint64_t limit) {
    return std::make_shared<LogSpill>(limit, testing::TempDir());
}

bool append(Log &stream, const std::string &text) {
    const cd_log_part part = {text.data(), text.size()};
    return stream.append(&part, 1);
}

// Reads the rest of the log, and expects that it is readable.
std::vector<std::string> rest(Log &stream) {
    std::vector<std::string> entries;
    size_t length = 0;
    while (const void *entry = stream.next(length)) {
        entries.emplace_back(static_cast<const char *>(entry), length);
    }
    EXPECT_FALSE(stream.replaying()) << message();
    return entries;
}

// A stream with a limit next to a list of what it has to hold.
class Compared {
public:
    Compared(unsigned seed, uint64_t limit) : random_(seed), stream_(spill_of(limit)) {
        remember();
    }

    void step() {
        switch (below(random_, 24)) {
        case 0:
            return restore();
        case 1:
            return advance();
        case 2:
            return remember();
        case 3:
            return rewrite_last();
        case 4:
        case 5:
        case 6:
        case 7:
            return read();
        default:
            return write();
        }
    }

    void check_all() {
        stream_.rewind(places_.front().position, 0);
        cursor_ = places_.front().index;
        ASSERT_EQ(rest(stream_),
                  std::vector<std::string>(entries_.begin() + index(cursor_), entries_.end()));
        cursor_ = end();
    }

private:
    struct Place {
        Log::Position position;
        size_t index; // of the entry behind it, since the stream began
    };

    size_t end() const { return first_ + entries_.size(); }
    long index(size_t entry) const { return static_cast<long>(entry - first_); }
    bool replaying() const { return cursor_ < end(); }

    // Writes an entry in one of the two ways.
    void write() {
        const std::string text = some_entry(random_, below(random_, 40) == 0 ? 100'000 : 6'000);
        const bool in_place = below(random_, 2) == 0;
        const bool written = in_place ? write_in_place(text) : append(stream_, text);
        ASSERT_EQ(written, !replaying());
        if (written) {
            entries_.push_back(text);
            cursor_ = end();
            in_place_ = in_place;
        }
    }

    bool write_in_place(const std::string &text) {
        cd_log_room room = {};
        if (!stream_.open(text.size() / 3, room)) {
            return false;
        }
        const size_t third = text.size() / 3;
        std::memcpy(room.at, text.data(), third);
        EXPECT_TRUE(stream_.widen(third, text.size(), room));
        std::memcpy(static_cast<char *>(room.at) + third, text.data() + third, text.size() - third);
        if (below(random_, 8) == 0) {
            stream_.abandon();
            return write_in_place(text);
        }
        stream_.close_entry(text.size());
        last_ = static_cast<char *>(room.at);
        return true;
    }

    // Changes the last entry, as the logger does to count polls that find nothing.
    void rewrite_last() {
        if (replaying() || !in_place_ || entries_.back().empty()) {
            return;
        }
        last_[0] = static_cast<char>(random_());
        entries_.back()[0] = last_[0];
    }

    void read() {
        for (size_t n = below(random_, 60); n > 0; --n) {
            size_t length = 0;
            const void *entry = stream_.next(length);
            ASSERT_EQ(entry != nullptr, replaying()) << message();
            if (entry == nullptr) {
                return;
            }
            ASSERT_EQ(std::string(static_cast<const char *>(entry), length),
                      entries_[cursor_ - first_]);
            ++cursor_;
            in_place_ = false;
            if (below(random_, 20) == 0) {
                stream_.unread();
                --cursor_;
            }
        }
    }

    void remember() { places_.push_back({stream_.cursor(), cursor_}); }

    void restore() {
        const Place &place = places_[below(random_, places_.size())];
        stream_.rewind(place.position, 0);
        cursor_ = place.index;
        in_place_ = false;
    }

    void advance() {
        const Place to = places_[below(random_, places_.size())];
        if (to.index > cursor_) {
            return;
        }
        while (!places_.empty() && places_.front().index < to.index) {
            places_.pop_front();
        }
        std::erase_if(places_, [&](const Place &place) { return place.index < to.index; });
        stream_.trim(to.position);
        entries_.erase(entries_.begin(), entries_.begin() + index(to.index));
        first_ = to.index;
        if (entries_.empty()) { // positions at the end have moved to its new place
            places_.clear();
            remember();
        }
        in_place_ = false;
    }

    Random random_;
    Log stream_;
    std::deque<std::string> entries_;
    std::deque<Place> places_;
    size_t first_ = 0;  // number of the first entry that there is
    size_t cursor_ = 0; // number of the next one that is read
    bool in_place_ = false;
    char *last_ = nullptr;
};

struct LogSpillTest : testing::Test {
    SpillSystem system;
};

TEST_F(LogSpillTest, WithTinyLimitsAStreamIsWhatItIsWithout) {
    for (unsigned seed = 0; seed < 12; ++seed) {
        Compared compared(seed, seed % 3 == 0 ? 1 : tiny << seed % 4);
        for (int i = 0; i < 1500 && !HasFatalFailure(); ++i) {
            compared.step();
        }
        compared.check_all();
        ASSERT_FALSE(HasFailure()) << "seed " << seed;
    }
    EXPECT_GT(system.calls[SpillSystem::writing], 500);
    EXPECT_GT(system.calls[SpillSystem::reading], 500);
}

TEST_F(LogSpillTest, BelowTheLimitNothingIsDoneForIt) {
    Log stream(spill_of(tiny));
    for (int round = 0; round < 100; ++round) {
        ASSERT_TRUE(append(stream, std::string(20'000, 'x')));
        stream.rewind(stream.begin(), 0);
        EXPECT_EQ(rest(stream).size(), 1U);
        stream.trim(stream.cursor());
    }
    EXPECT_EQ(system.calls[SpillSystem::opening], 0);
    EXPECT_LE(system.calls[SpillSystem::mapping], 2) << "chunks are not used again";
    EXPECT_EQ(stream.bytes_in_files(), 0U);
}

TEST_F(LogSpillTest, MemoryStaysBelowTheLimit) {
    constexpr uint64_t limit = uint64_t{4} << 20;
    Log stream(spill_of(limit));
    Random random(1);
    std::vector<std::string> entries;
    for (int i = 0; i < 8000; ++i) {
        entries.push_back(some_entry(random, 10'000));
        ASSERT_TRUE(append(stream, entries.back()));
    }
    stream.rewind(stream.begin(), 0);
    EXPECT_EQ(rest(stream), entries);
    EXPECT_GT(stream.end().bytes, 8 * limit);
    EXPECT_LE(system.most_mapped, limit);
    EXPECT_GT(stream.bytes_in_files(), limit);
    stream.trim(stream.end());
    EXPECT_EQ(stream.bytes_in_files(), 0U);
}

TEST_F(LogSpillTest, TheFileIsUsedAgainAfterAnAdvance) {
    Log stream(spill_of(tiny));
    off_t largest = 0;
    for (int round = 0; round < 20; ++round) {
        Random random(7);
        for (int i = 0; i < 100; ++i) {
            ASSERT_TRUE(append(stream, some_entry(random, 10'000)));
        }
        EXPECT_GT(stream.bytes_in_files(), 0U);
        stream.trim(stream.end());
        const off_t size = system.seek(system.last_opened, 0, SEEK_END);
        largest = round == 0 ? size : largest;
        EXPECT_LE(size, largest) << round;
    }
    EXPECT_EQ(system.calls[SpillSystem::opening], 1);
}

TEST_F(LogSpillTest, WhatCannotBeWrittenIsAnErrorAndChangesNothing) {
    Log stream(spill_of(tiny));
    system.fail(SpillSystem::writing, 0, true);
    std::vector<std::string> entries;
    Random random(3);
    std::string refused;
    for (;;) {
        refused = some_entry(random, 6'000);
        if (!append(stream, refused)) {
            break;
        }
        entries.push_back(refused);
        ASSERT_LT(entries.size(), 1000U);
    }
    EXPECT_EQ(stream.trouble().code(), CD_ERROR_LOG_SPILL);
    EXPECT_NE(std::string(message()).find("No space"), std::string::npos) << message();
    EXPECT_EQ(stream.end().entries, entries.size());
    cd_log_room room = {};
    EXPECT_FALSE(stream.open(6'000, room));
    stream.rewind(stream.begin(), 0);
    EXPECT_EQ(rest(stream), entries);

    system.fail_no_more();
    ASSERT_TRUE(append(stream, refused));
    entries.push_back(refused);
    stream.rewind(stream.begin(), 0);
    EXPECT_EQ(rest(stream), entries);
}

TEST_F(LogSpillTest, WhatCannotBeReadIsAnErrorAndCanBeTriedAgain) {
    Log stream(spill_of(tiny));
    Random random(4);
    std::vector<std::string> entries;
    for (int i = 0; i < 200; ++i) {
        entries.push_back(some_entry(random, 6'000));
        ASSERT_TRUE(append(stream, entries.back()));
    }
    stream.rewind(stream.begin(), 0);
    system.fail(SpillSystem::reading, 0, true);
    size_t length = 0;
    EXPECT_EQ(stream.next(length), nullptr);
    EXPECT_TRUE(stream.replaying());
    EXPECT_EQ(stream.trouble().code(), CD_ERROR_LOG_SPILL);
    EXPECT_NE(std::string(message()).find("Input/output error"), std::string::npos) << message();
    EXPECT_EQ(stream.places().remaining(), entries.size());
    system.fail_no_more();
    EXPECT_EQ(rest(stream), entries);
}

// Whichever call fails: what is written is read back the same, or it is said that it cannot be.
TEST_F(LogSpillTest, NoFailingCallGivesWrongEntries) {
    for (int kind = 0; kind < SpillSystem::kinds; ++kind) {
        for (int n = 0; n < 12; ++n) {
            for (const bool for_good : {false, true}) {
                Log stream(spill_of(tiny));
                Random random(static_cast<unsigned>(n));
                system.fail(static_cast<SpillSystem::Kind>(kind), n, for_good);
                std::vector<std::string> entries;
                for (int i = 0; i < 150; ++i) {
                    std::string entry = some_entry(random, 6'000);
                    if (append(stream, entry)) {
                        entries.push_back(std::move(entry));
                    }
                }
                stream.rewind(stream.begin(), 0);
                size_t length = 0;
                size_t read = 0;
                for (int attempts = 0; attempts < 3; ++attempts) {
                    while (const void *entry = stream.next(length)) {
                        ASSERT_LT(read, entries.size());
                        ASSERT_EQ(std::string(static_cast<const char *>(entry), length),
                                  entries[read]);
                        ++read;
                    }
                    system.fail_no_more();
                }
                ASSERT_EQ(read, entries.size()) << "kind " << kind << " n " << n;
                ASSERT_EQ(stream.end().entries, entries.size());
            }
        }
    }
}

TEST_F(LogSpillTest, StreamsOfAFamilyShareTheLimit) {
    constexpr uint64_t limit = uint64_t{2} << 20;
    Log root(spill_of(limit));
    constexpr int count = 3;
    std::vector<std::thread> threads;
    for (int i = 0; i < count; ++i) {
        threads.emplace_back([&, i] {
            const std::shared_ptr<Log> stream = root.nested({1, i});
            Random random(static_cast<unsigned>(i));
            for (int round = 0; round < 3; ++round) {
                stream->own();
                std::vector<std::string> entries;
                for (int n = 0; n < 300; ++n) {
                    entries.push_back(some_entry(random, 10'000));
                    ASSERT_TRUE(append(*stream, entries.back()));
                }
                const Log::Position end = stream->end();
                stream->rewind(stream->begin(), 0);
                EXPECT_EQ(rest(*stream), entries);
                stream->trim(end);
                stream->disown();
            }
        });
    }
    for (int i = 0; i < 1000; ++i) { // as somebody who asks
        (void)root.bytes_in_files();
        root.for_each_nested(0, [](Log::Sibling, const Log &nested) { (void)nested.places(); });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    // A chunk that is written or read in each stream cannot be helped.
    EXPECT_LE(system.most_mapped, limit + count * 2 * (limit / 16));
}

} // namespace
} // namespace cd
