// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/pipeline.h"

#include "base/no_throw.h"
#include "redset/erasure_code.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

namespace cd::redset {

namespace {

using Message = Exchange::Message;

// Measured to be the best size for ISA-L. It shrinks with many members, so that all pieces fit the
// cache.
constexpr size_t largest_piece = size_t{128} << 10;
constexpr size_t smallest_piece = size_t{4} << 10;
constexpr size_t cached = size_t{2} << 20;

size_t round_up(uint64_t value, size_t multiple) {
    return static_cast<size_t>((value + multiple - 1) / multiple * multiple);
}

size_t piece_size(std::span<const Row> rows, int members) {
    const auto share = cached / static_cast<size_t>(members) / coding_alignment * coding_alignment;
    uint64_t longest = 0;
    for (const Row &row : rows) {
        longest = std::max(longest, row.length);
    }
    const size_t piece = std::clamp(share, smallest_piece, largest_piece);
    return longest < piece ? round_up(std::max<uint64_t>(longest, 1), coding_alignment) : piece;
}

// Consecutive buffers of one piece each.
class Pieces {
public:
    Pieces(size_t count, size_t size) : size_(size), memory_(make_aligned_buffer(count * size)) {}
    std::byte *at(size_t i) const { return memory_.get() + i * size_; }

private:
    size_t size_;
    AlignedBuffer memory_;
};

// The two buffers of an item: one is sent or received while the other is read, coded or written. A
// local item has one buffer for both.
using Turns = std::array<std::byte *, 2>;

std::byte *of(const Turns &turns, uint64_t number) { return turns[number % 2]; }

// An item of this member, of a row that another member makes.
struct Passing {
    Item item;
    int maker = 0;
    Turns buffers{};
};

// A row that this member makes.
struct Making {
    const Row *row = nullptr;
    ErasureCode coder;
    std::vector<Turns> sources;
    std::vector<Turns> outputs;
    std::vector<std::byte *> from; // of one piece
    std::vector<std::byte *> to;
};

class Work {
public:
    // Allocates everything.
    Work(std::span<const Row> rows, Exchange &exchange, Storage &storage)
        : self_(exchange.self()), storage_(storage), piece_(piece_size(rows, exchange.members())) {
        for (const Row &row : rows) {
            pieces_ = std::max(pieces_, (row.length + piece_ - 1) / piece_);
            add(row);
        }
        give_buffers();
        make_room_for_messages(exchange);
    }

    // Records the first failure of the storage, after which nothing is read or written.
    Status outcome() const { return failed_; }

    // A piece is read, sent, coded, sent as outputs and written, one step a turn. So five pieces
    // are at work in a turn: two in messages, the others with the processor and the disk. The last
    // one received is coded first, while it is in the cache.
    Status run(Exchange &exchange, const Progress &progress) {
        read(0);
        for (uint64_t turn = 0; turn < pieces_ + turns_behind; ++turn) {
            if (Status status = begin_messages(exchange, turn); !status) {
                return status;
            }
            make(turn - 1);
            if (Status status = exchange.get_on(); !status) {
                return status;
            }
            write_received(turn - 3);
            read(turn + 1);
            if (Status status = exchange.finish(); !status) {
                return status;
            }
            if (self_ == 0 && pieces_ > 0 && progress) {
                progress(turn + 1, pieces_ + turns_behind);
            }
        }
        write_received(pieces_ - 1);
        return Status::ok();
    }

private:
    static constexpr uint64_t turns_behind = 2; // until the last outputs have been sent

    void add(const Row &row) {
        if (row.maker == self_) {
            makings_.push_back(
                {&row, ErasureCode(row.coefficients, row.sources.size(), row.outputs.size()),
                 std::vector<Turns>(row.sources.size()), std::vector<Turns>(row.outputs.size()),
                 std::vector<std::byte *>(row.sources.size()),
                 std::vector<std::byte *>(row.outputs.size())});
            return;
        }
        for (const Item &source : row.sources) {
            if (source.member == self_) {
                readings_.push_back({source, row.maker, {}});
            }
        }
        for (const Item &output : row.outputs) {
            if (output.member == self_) {
                writings_.push_back({output, row.maker, {}});
            }
        }
    }

    // Calls use(item, buffers) for all that has buffers.
    template <typename Use> void each_item(const Use &use) {
        for (auto *passings : {&readings_, &writings_}) {
            for (Passing &passing : *passings) {
                use(passing.item, passing.maker, passing.buffers);
            }
        }
        for (Making &making : makings_) {
            for (size_t s = 0; s < making.sources.size(); ++s) {
                use(making.row->sources[s], self_, making.sources[s]);
            }
            for (size_t i = 0; i < making.outputs.size(); ++i) {
                use(making.row->outputs[i], self_, making.outputs[i]);
            }
        }
    }

    void give_buffers() {
        size_t count = 0;
        each_item(
            [&](const Item &item, int maker, Turns &) { count += item.member == maker ? 1 : 2; });
        buffers_ = Pieces(count, piece_);
        size_t next = 0;
        each_item([&](const Item &item, int maker, Turns &buffers) {
            buffers.front() = buffers_.at(next++);
            buffers.back() = item.member == maker ? buffers.front() : buffers_.at(next++);
        });
    }

    void make_room_for_messages(Exchange &exchange) {
        size_t out = readings_.size();
        size_t in = writings_.size();
        for (const Making &making : makings_) {
            out += making.outputs.size();
            in += making.sources.size();
        }
        outgoing_.reserve(out);
        incoming_.reserve(in);
        exchange.reserve(std::max(out, in));
    }

    // Returns how many bytes of an item a piece has, 0 before the first and after the last piece.
    size_t length(uint64_t number, uint64_t whole) const {
        const uint64_t before = number < pieces_ ? number * piece_ : whole;
        return before < whole ? static_cast<size_t>(std::min<uint64_t>(piece_, whole - before)) : 0;
    }

    template <typename Action> void try_storage(const Action &action) {
        if (failed_) {
            failed_ = catch_exceptions(action);
        }
    }

    void read(const Item &item, std::byte *to, uint64_t number) {
        if (const size_t there = length(number, item.length); there > 0) {
            try_storage([&] {
                return storage_.read(item.region, item.offset + number * piece_, {to, there});
            });
        }
    }

    void write(const Item &item, const std::byte *from, uint64_t number) {
        if (const size_t there = length(number, item.length); there > 0) {
            try_storage([&] {
                return storage_.write(item.region, item.offset + number * piece_, {from, there});
            });
        }
    }

    void read(uint64_t number) {
        for (const Passing &reading : readings_) {
            read(reading.item, of(reading.buffers, number), number);
        }
    }

    void write_received(uint64_t number) {
        for (const Passing &writing : writings_) {
            write(writing.item, of(writing.buffers, number), number);
        }
    }

    void make(uint64_t number) {
        for (Making &making : makings_) {
            const Row &row = *making.row;
            const size_t whole = length(number, row.length);
            if (whole == 0) {
                continue;
            }
            for (size_t s = 0; s < row.sources.size(); ++s) {
                const Item &source = row.sources[s];
                making.from[s] = of(making.sources[s], number);
                if (source.member == self_) {
                    read(source, making.from[s], number);
                }
                const size_t there = length(number, source.length);
                std::memset(making.from[s] + there, 0, whole - there);
            }
            for (size_t i = 0; i < row.outputs.size(); ++i) {
                making.to[i] = of(making.outputs[i], number);
            }
            making.coder.code(whole, making.from.data(), making.to.data());
            for (size_t i = 0; i < row.outputs.size(); ++i) {
                if (row.outputs[i].member == self_) {
                    write(row.outputs[i], making.to[i], number);
                }
            }
        }
    }

    // Starts messages with the sources of one piece and the outputs of the one before.
    Status begin_messages(Exchange &exchange, uint64_t turn) {
        outgoing_.clear();
        incoming_.clear();
        const uint64_t made = turn - 2;
        for (const Passing &reading : readings_) {
            add_message(outgoing_, reading.maker, reading.buffers, reading.item, turn);
        }
        for (const Making &making : makings_) {
            add_messages(incoming_, making.row->sources, making.sources, turn);
            add_messages(outgoing_, making.row->outputs, making.outputs, made);
        }
        for (const Passing &writing : writings_) {
            add_message(incoming_, writing.maker, writing.buffers, writing.item, made);
        }
        return exchange.start(outgoing_, incoming_);
    }

    void add_messages(std::vector<Message> &to, const std::vector<Item> &items,
                      const std::vector<Turns> &buffers, uint64_t number) const {
        for (size_t i = 0; i < items.size(); ++i) {
            if (items[i].member != self_) {
                add_message(to, items[i].member, buffers[i], items[i], number);
            }
        }
    }

    void add_message(std::vector<Message> &to, int peer, const Turns &buffers, const Item &item,
                     uint64_t number) const {
        if (const size_t there = length(number, item.length); there > 0) {
            to.push_back({peer, {of(buffers, number), there}});
        }
    }

    const int self_;
    Storage &storage_;
    const size_t piece_;
    uint64_t pieces_ = 0; // of the longest row
    std::vector<Passing> readings_;
    std::vector<Passing> writings_;
    std::vector<Making> makings_;
    Pieces buffers_{0, 0};
    std::vector<Message> outgoing_;
    std::vector<Message> incoming_;
    Status failed_;
};

} // namespace

Status carry_out(Exchange &exchange, std::span<const Row> rows, Storage &storage,
                 const Progress &progress) {
    std::unique_ptr<Work> work;
    Status ready =
        catch_exceptions([&] { work = std::make_unique<Work>(rows, exchange, storage); });
    if (Status status = agree(exchange, ready); !status) {
        return status;
    }
    if (Status status = work->run(exchange, progress); !status) {
        (void)work.release(); // what was started has its buffers for ever
        return status;
    }
    return agree(exchange, work->outcome());
}

} // namespace cd::redset
