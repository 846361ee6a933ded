// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/pipeline.h"

#include "redset/thread_exchange.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace cd::redset {
namespace {

constexpr uint64_t member_size = 1'000'000; // several pieces

// Another member's exchange, of which it is known when messages are under way.
class WatchedExchange : public Exchange {
public:
    explicit WatchedExchange(Exchange &exchange) : exchange_(exchange) {}

    int members() const override { return exchange_.members(); }
    int self() const override { return exchange_.self(); }
    Status gather(std::span<const std::byte> own, std::vector<Bytes> &all) override {
        return exchange_.gather(own, all);
    }
    void reserve(size_t messages) override { exchange_.reserve(messages); }
    Status start(std::span<const Message> outgoing, std::span<const Message> incoming) override {
        under_way = !outgoing.empty() || !incoming.empty();
        for (const Message &message : outgoing) {
            sent += message.bytes.size();
        }
        return exchange_.start(outgoing, incoming);
    }
    Status finish() override {
        under_way = false;
        return exchange_.finish();
    }

    bool under_way = false;
    uint64_t sent = 0; // bytes

private:
    Exchange &exchange_;
};

// A member's data and payload in memory.
class WatchedStorage : public Storage {
public:
    WatchedStorage(const WatchedExchange &exchange, const Layout &layout)
        : exchange_(exchange), payload_(layout.payload_size(exchange.self())) {
        data_.resize(layout.logical_sizes[static_cast<size_t>(exchange.self())]);
        for (size_t i = 0; i < data_.size(); ++i) {
            data_[i] =
                static_cast<std::byte>(i * 7 + i / 251 + static_cast<size_t>(exchange.self()));
        }
    }

    Status read(Region region, uint64_t offset, std::span<std::byte> to) override {
        count(reads);
        auto &times = region == Region::data ? data_reads : payload_reads;
        times.resize(region == Region::data ? data_.size() : payload_.size());
        for (uint64_t at = offset; at < offset + to.size(); ++at) {
            ++times[at];
        }
        const auto &from = region == Region::data ? data_ : payload_;
        std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(offset), to.size(), to.begin());
        return Status::ok();
    }
    Status write(Region region, uint64_t offset, std::span<const std::byte> from) override {
        count(writes);
        auto &to = region == Region::data ? data_ : payload_;
        std::copy(from.begin(), from.end(), to.begin() + static_cast<std::ptrdiff_t>(offset));
        return Status::ok();
    }

    const std::vector<std::byte> &data() const { return data_; }
    void lose_data() { std::fill(data_.begin(), data_.end(), std::byte{0}); }

    struct Counted {
        int all = 0;
        int meanwhile = 0;
    };
    Counted reads;
    Counted writes;
    std::vector<uint8_t> data_reads; // how often, by byte; none where nothing was read
    std::vector<uint8_t> payload_reads;

private:
    void count(Counted &counted) const {
        ++counted.all;
        counted.meanwhile += exchange_.under_way ? 1 : 0;
    }

    const WatchedExchange &exchange_;
    std::vector<std::byte> data_;
    std::vector<std::byte> payload_;
};

// All but the first pieces are read, and all but the last ones written, while others are under way;
// what a member codes itself it writes at once, so that coding is between the same calls.
void expect_overlap(const WatchedStorage::Counted &counted, int items) {
    EXPECT_GE(counted.all, 7 * items);
    EXPECT_GE(counted.meanwhile, counted.all - items);
}

TEST(CarryOut, ReadsCodesAndWritesWhileMessagesAreUnderWay) {
    for (const Coding &coding :
         {Coding{Scheme::xor_set, 2, 1}, Coding{Scheme::reed_solomon, 5, 2}}) {
        const auto members = static_cast<size_t>(coding.members);
        const Layout layout(coding, std::vector<uint64_t>(members, member_size * (members - 1)));
        const std::vector<Row> encoding = encoding_rows(layout);
        std::vector<Lost> lost(members);
        lost[1] = {true, false};
        std::vector<Row> rebuilding;
        ASSERT_TRUE(rebuilding_rows(layout, lost, rebuilding));
        const Status status = run_members(coding.members, [&](Exchange &exchange) {
            WatchedExchange watched(exchange);
            WatchedStorage storage(watched, layout);
            const auto before = storage.data();
            Status carried = carry_out(watched, encoding, storage);
            expect_overlap(storage.reads, coding.members - coding.checks);
            expect_overlap(storage.writes, coding.checks);
            if (exchange.self() == 1) {
                storage.lose_data();
            }
            carried = carried ? carry_out(watched, rebuilding, storage) : carried;
            EXPECT_EQ(storage.data(), before);
            return carried;
        });
        EXPECT_TRUE(status) << message();
    }
}

bool is_once(uint8_t times) { return times == 1; }

constexpr uint64_t few = 600'000; // bytes of a member, and yet several pieces

// Each copy of partner is sent, and of rs what a member makes for others.
uint64_t most_sent(const Layout &layout) {
    const auto checks = static_cast<uint64_t>(layout.coding.checks);
    return layout.coding.has_chunks() ? few + (checks - 1) * layout.chunk : checks * few;
}

TEST(CarryOut, ReadsEachByteOnceAndSendsItAtMostOnce) {
    for (const Coding &coding : {Coding{Scheme::xor_set, 4, 1}, Coding{Scheme::reed_solomon, 5, 3},
                                 Coding{Scheme::partner, 3, 2}}) {
        const auto members = static_cast<size_t>(coding.members);
        const Layout layout(coding, std::vector<uint64_t>(members, few));
        const std::vector<Row> encoding = encoding_rows(layout);
        std::vector<Lost> lost(members);
        lost[1] = {true, true};
        std::vector<Row> rebuilding;
        ASSERT_TRUE(rebuilding_rows(layout, lost, rebuilding));
        const Status status = run_members(coding.members, [&](Exchange &exchange) {
            WatchedExchange watched(exchange);
            WatchedStorage storage(watched, layout);
            Status carried = carry_out(watched, encoding, storage);
            EXPECT_EQ(storage.data_reads.size(), few);
            EXPECT_TRUE(std::ranges::all_of(storage.data_reads, is_once));
            EXPECT_TRUE(storage.payload_reads.empty());
            EXPECT_LE(watched.sent, most_sent(layout));
            storage.data_reads.clear();
            carried = carried ? carry_out(watched, rebuilding, storage) : carried;
            EXPECT_TRUE(std::ranges::none_of(storage.data_reads, [](auto n) { return n > 1; }));
            EXPECT_TRUE(std::ranges::none_of(storage.payload_reads, [](auto n) { return n > 1; }));
            return carried;
        });
        EXPECT_TRUE(status) << message();
    }
}

} // namespace
} // namespace cd::redset
