// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/carry_out.h"

#include "base/attempt.h"
#include "redset/aligned_buffer.h"
#include "redset/coder.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <utility>

namespace cd::redset {
namespace {

using Message = Exchange::Message;

// Measured best for ISA-L; with many members less, so that a piece of each is in the cache.
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

// The part of a row that is worked on at one time.
struct Piece {
    uint64_t offset = 0;
    size_t size = 0;

    size_t length(uint64_t whole) const {
        return offset < whole ? static_cast<size_t>(std::min<uint64_t>(size, whole - offset)) : 0;
    }
};

// Buffers of one piece each, one after the other.
class Pieces {
public:
    Pieces(size_t count, size_t size) : size_(size), memory_(make_aligned_buffer(count * size)) {}
    std::byte *at(size_t i) const { return memory_.get() + i * size_; }

private:
    size_t size_;
    AlignedBuffer memory_;
};

// An item of this member that is read for a row, and where the row is made.
struct Reading {
    Item item;
    int maker = 0;
    std::array<std::byte *, 2> buffers{}; // one is filled while the other is sent or coded
};

// An item of this member that is written, of a row that another member makes.
struct Writing {
    Item item;
    int maker = 0;
    std::byte *buffer = nullptr;
};

// A row that this member makes.
struct Making {
    const Row *row = nullptr;
    Coder coder;
    std::vector<std::byte *> sources; // those of its own are put in when they are read
    size_t own_source = SIZE_MAX;     // which of them
    size_t own_reading = 0;           // of all readings
    std::vector<std::byte *> outputs;
};

class Work {
public:
    // All that needs memory.
    Work(std::span<const Row> rows, Exchange &exchange, Storage &storage)
        : self_(exchange.self()), storage_(storage), piece_(piece_size(rows, exchange.members())) {
        for (const Row &row : rows) {
            rounds_ = std::max(rounds_, (row.length + piece_ - 1) / piece_);
            add(row);
        }
        give_buffers();
        make_room_for_messages(exchange);
    }

    // Makes a first failure of storage the outcome; nothing more is read or written then.
    Status outcome() const { return failed_; }

    Status run(Exchange &exchange) {
        read(0);
        // In a round, sources of a piece are sent and outputs of the one before.
        for (uint64_t round = 0; round <= rounds_; ++round) {
            if (Status status = exchange_round(exchange, round); !status) {
                return status;
            }
            write_received(round);
            make(round);
        }
        return Status::ok();
    }

private:
    void add(const Row &row) {
        const bool makes = row.maker == self_;
        size_t own = SIZE_MAX;
        for (size_t s = 0; s < row.sources.size(); ++s) {
            if (row.sources[s].member == self_) {
                own = s;
                readings_.push_back({row.sources[s], row.maker, {}});
            }
        }
        if (makes) {
            makings_.push_back({&row,
                                Coder(row.coefficients, row.sources.size(), row.outputs.size()),
                                std::vector<std::byte *>(row.sources.size()), own,
                                readings_.empty() ? 0 : readings_.size() - 1,
                                std::vector<std::byte *>(row.outputs.size())});
            return;
        }
        for (const Item &output : row.outputs) {
            if (output.member == self_) {
                writings_.push_back({output, row.maker, nullptr});
            }
        }
    }

    void give_buffers() {
        size_t count = 2 * readings_.size() + writings_.size();
        for (const Making &making : makings_) {
            count += making.sources.size() + making.outputs.size();
        }
        pieces_ = Pieces(count, piece_);
        size_t next = 0;
        for (Reading &reading : readings_) {
            reading.buffers = {pieces_.at(next), pieces_.at(next + 1)};
            next += 2;
        }
        for (Writing &writing : writings_) {
            writing.buffer = pieces_.at(next++);
        }
        for (Making &making : makings_) {
            for (auto *buffers : {&making.sources, &making.outputs}) {
                for (std::byte *&buffer : *buffers) {
                    buffer = pieces_.at(next++);
                }
            }
        }
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

    Piece piece(uint64_t round) const { return {round * piece_, piece_}; }

    template <typename Action> void try_storage(const Action &action) {
        if (failed_) {
            failed_ = attempt(action);
        }
    }

    void read(uint64_t round) {
        for (const Reading &reading : readings_) {
            const size_t length = piece(round).length(reading.item.length);
            if (length > 0) {
                try_storage([&] {
                    return storage_.read(reading.item.region,
                                         reading.item.offset + piece(round).offset,
                                         {reading.buffers[round % 2], length});
                });
            }
        }
    }

    static void add_message(std::vector<Message> &to, int peer, std::byte *at, size_t length) {
        if (length > 0) {
            to.push_back({peer, {at, length}});
        }
    }

    Status exchange_round(Exchange &exchange, uint64_t round) {
        outgoing_.clear();
        incoming_.clear();
        if (round < rounds_) {
            exchange_sources(round);
        }
        if (round > 0) {
            exchange_outputs(round - 1);
        }
        if (Status status = exchange.start(outgoing_, incoming_); !status) {
            return status;
        }
        read(round + 1);
        return exchange.finish();
    }

    void exchange_sources(uint64_t round) {
        for (const Reading &reading : readings_) {
            if (reading.maker != self_) {
                add_message(outgoing_, reading.maker, reading.buffers[round % 2],
                            piece(round).length(reading.item.length));
            }
        }
        for (const Making &making : makings_) {
            for (size_t s = 0; s < making.sources.size(); ++s) {
                const Item &source = making.row->sources[s];
                if (source.member != self_) {
                    add_message(incoming_, source.member, making.sources[s],
                                piece(round).length(source.length));
                }
            }
        }
    }

    void exchange_outputs(uint64_t round) {
        for (const Making &making : makings_) {
            for (size_t i = 0; i < making.outputs.size(); ++i) {
                const Item &output = making.row->outputs[i];
                if (output.member != self_) {
                    add_message(outgoing_, output.member, making.outputs[i],
                                piece(round).length(output.length));
                }
            }
        }
        for (const Writing &writing : writings_) {
            add_message(incoming_, writing.maker, writing.buffer,
                        piece(round).length(writing.item.length));
        }
    }

    void write(const Item &item, const std::byte *from, uint64_t round) {
        if (const size_t length = piece(round).length(item.length); length > 0) {
            try_storage([&] {
                return storage_.write(item.region, item.offset + piece(round).offset,
                                      {from, length});
            });
        }
    }

    void write_received(uint64_t round) {
        if (round > 0) {
            for (const Writing &writing : writings_) {
                write(writing.item, writing.buffer, round - 1);
            }
        }
    }

    void make(uint64_t round) {
        for (Making &making : makings_) {
            const Row &row = *making.row;
            const size_t length = piece(round).length(row.length);
            if (length == 0) {
                continue;
            }
            if (making.own_source != SIZE_MAX) {
                making.sources[making.own_source] =
                    readings_[making.own_reading].buffers[round % 2];
            }
            for (size_t s = 0; s < making.sources.size(); ++s) {
                const size_t there = piece(round).length(row.sources[s].length);
                std::memset(making.sources[s] + there, 0, length - there);
            }
            making.coder.code(length, making.sources.data(), making.outputs.data());
            for (size_t i = 0; i < row.outputs.size(); ++i) {
                if (row.outputs[i].member == self_) {
                    write(row.outputs[i], making.outputs[i], round);
                }
            }
        }
    }

    const int self_;
    Storage &storage_;
    const size_t piece_;
    uint64_t rounds_ = 0;
    std::vector<Reading> readings_;
    std::vector<Writing> writings_;
    std::vector<Making> makings_;
    Pieces pieces_{0, 0};
    std::vector<Message> outgoing_;
    std::vector<Message> incoming_;
    Status failed_;
};

} // namespace

Status carry_out(Exchange &exchange, std::span<const Row> rows, Storage &storage) {
    std::unique_ptr<Work> work;
    Status ready = attempt([&] { work = std::make_unique<Work>(rows, exchange, storage); });
    if (Status status = agree(exchange, ready); !status) {
        return status;
    }
    if (Status status = work->run(exchange); !status) {
        (void)work.release(); // what was started has its buffers for ever
        return status;
    }
    return agree(exchange, work->outcome());
}

} // namespace cd::redset
