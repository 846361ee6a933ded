// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "checkpoint/file_transfer.h"

#include "base/no_throw.h"
#include "redset/atomic_files.h"
#include "redset/member_files.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <span>
#include <utility>

namespace cd::checkpoint {
namespace {

using redset::Exchange;

constexpr size_t moved_piece = size_t{256} << 10;

size_t length_of(const Transfer &transfer, uint64_t round) {
    const uint64_t offset = round * moved_piece;
    return offset < transfer.size
               ? static_cast<size_t>(std::min<uint64_t>(moved_piece, transfer.size - offset))
               : 0;
}

uint64_t rounds_of(const std::vector<Transfer> &transfers) {
    uint64_t most = 0;
    for (const Transfer &transfer : transfers) {
        most = std::max(most, (transfer.size + moved_piece - 1) / moved_piece);
    }
    return most;
}

// Sent after the data.
struct Trailer {
    unsigned char whole = 0; // no bool: any byte may arrive
    os::FileAttributes attributes;

    std::span<std::byte> bytes() { return std::as_writable_bytes(std::span(this, size_t{1})); }
};

struct Outgoing {
    Transfer transfer;
    File file;
    std::vector<std::byte> buffer;
    Trailer trailer;
};

struct Incoming {
    Transfer transfer;
    std::vector<std::byte> buffer;
    Trailer trailer;
    size_t draft = 0;
};

class Moving {
public:
    Moving *kept_before = nullptr; // see keep_for_ever()

    Moving(Exchange &exchange, std::string directory, int rank, bool sync)
        : exchange_(exchange), directory_(std::move(directory)), drafts_(rank, sync) {}

    // Opens files that this rank sends, and makes drafts of files that it receives.
    Status prepare(const std::vector<Transfer> &transfers) {
        for (const Transfer &transfer : transfers) {
            if (transfer.from == exchange_.self()) {
                prepare_to_send(transfer);
            } else if (transfer.to == exchange_.self()) {
                incoming_.push_back(
                    {transfer, std::vector<std::byte>(length_of(transfer, 0)), {}, 0});
                if (Status status = drafts_.create(path_of(transfer), incoming_.back().draft);
                    !status) {
                    return status;
                }
            }
        }
        out_.reserve(outgoing_.size());
        in_.reserve(incoming_.size());
        exchange_.reserve(std::max(outgoing_.size(), incoming_.size()));
        return Status::ok();
    }

    Status carry(uint64_t rounds) {
        for (uint64_t round = 0; round < rounds; ++round) {
            if (Status status = carry_piece(round); !status) {
                return status;
            }
        }
        for (Outgoing &each : outgoing_) {
            out_.push_back({each.transfer.to, each.trailer.bytes()});
        }
        for (Incoming &each : incoming_) {
            in_.push_back({each.transfer.from, each.trailer.bytes()});
        }
        return meet();
    }

    Status finish() {
        for (const Incoming &each : incoming_) {
            if (each.trailer.whole != 0) {
                try_files([&] { return drafts_.finish(each.draft, each.trailer.attributes); });
            } else if (outcome_) {
                drafts_.give_up(each.draft);
            }
        }
        return outcome_;
    }

    Status publish() {
        return catch_exceptions([&] { return drafts_.publish(); });
    }

private:
    std::string path_of(const Transfer &transfer) const { return directory_ + "/" + transfer.name; }

    void prepare_to_send(const Transfer &transfer) {
        Outgoing &out = outgoing_.emplace_back(
            Outgoing{transfer, {}, std::vector<std::byte>(length_of(transfer, 0)), {}});
        os::FileAttributes &attributes = out.trailer.attributes;
        const bool readable = redset::open_own_to_read(path_of(transfer), out.file, attributes) &&
                              attributes.size == transfer.size;
        out.trailer.whole = readable ? 1 : 0;
    }

    Status meet() {
        if (Status status = exchange_.start(out_, in_); !status) {
            return status;
        }
        out_.clear();
        in_.clear();
        return exchange_.finish();
    }

    // A member that cannot read sends what is in its buffer, and reports it at the end.
    Status carry_piece(uint64_t round) {
        for (Outgoing &each : outgoing_) {
            if (const size_t length = length_of(each.transfer, round); length > 0) {
                const SavedMessage keeper;
                const bool read =
                    each.trailer.whole != 0 &&
                    catch_exceptions([&] {
                        return each.file.read(round * moved_piece, each.buffer.data(), length);
                    }).is_ok();
                each.trailer.whole = read ? 1 : 0;
                out_.push_back({each.transfer.to, std::span(each.buffer).first(length)});
            }
        }
        for (Incoming &each : incoming_) {
            if (const size_t length = length_of(each.transfer, round); length > 0) {
                in_.push_back({each.transfer.from, std::span(each.buffer).first(length)});
            }
        }
        if (Status status = meet(); !status) {
            return status;
        }
        for (const Incoming &each : incoming_) {
            if (const size_t length = length_of(each.transfer, round); length > 0) {
                try_files([&] {
                    return drafts_.file(each.draft)
                        .write(round * moved_piece, each.buffer.data(), length);
                });
            }
        }
        return Status::ok();
    }

    template <typename Action> void try_files(const Action &action) {
        if (outcome_) {
            outcome_ = catch_exceptions(action);
        }
    }

    Exchange &exchange_;
    const std::string directory_;
    redset::Drafts drafts_;
    std::vector<Outgoing> outgoing_;
    std::vector<Incoming> incoming_;
    std::vector<Exchange::Message> out_; // of one round
    std::vector<Exchange::Message> in_;
    Status outcome_;
};

// Keeps the buffers of messages under way for ever, where leak checkers find them.
void keep_for_ever(std::unique_ptr<Moving> moving) noexcept {
    static std::atomic<Moving *> last = nullptr;
    moving->kept_before = last.exchange(moving.get());
    (void)moving.release();
}

} // namespace

Status move_files(Job &job, const CheckpointDir &folder, const CheckpointId &point,
                  const std::vector<Transfer> &transfers, bool sync) {
    std::unique_ptr<Moving> moving;
    Status prepared = catch_exceptions([&] {
        moving = std::make_unique<Moving>(job.all(), folder.path_of(point), job.rank(), sync);
        return moving->prepare(transfers);
    });
    if (Status status = agree(job, prepared); !status) {
        return status;
    }
    if (Status status = moving->carry(rounds_of(transfers)); !status) {
        keep_for_ever(std::move(moving));
        return status;
    }
    Status status = agree(job, moving->finish());
    return status ? agree(job, moving->publish()) : status;
}

} // namespace cd::checkpoint
