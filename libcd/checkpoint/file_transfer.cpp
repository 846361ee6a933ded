// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "checkpoint/file_transfer.h"

#include "base/no_throw.h"
#include "base/text.h"
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

constexpr size_t piece_size = size_t{256} << 10;

// Sent after the data.
struct Trailer {
    unsigned char is_complete = 0; // no bool: any byte may arrive
    os::FileAttributes attributes;
};

// A file that this rank sends or receives.
struct Part {
    Transfer transfer;
    bool sends = false;
    File file;        // to send
    size_t draft = 0; // of a file to receive
    std::vector<std::byte> buffer;
    Trailer trailer;

    std::span<std::byte> piece_at(uint64_t offset) {
        const uint64_t left = transfer.size - std::min(transfer.size, offset);
        return std::span(buffer).first(std::min<uint64_t>(left, buffer.size()));
    }
    std::span<std::byte> trailer_bytes() {
        return std::as_writable_bytes(std::span(&trailer, size_t{1}));
    }
};

class FileTransfer {
public:
    FileTransfer *kept_before = nullptr; // see keep_for_ever()

    FileTransfer(Exchange &exchange, std::string directory, int rank, bool sync)
        : exchange_(exchange), directory_(std::move(directory)), drafts_(rank, sync) {}

    // Opens files that this rank sends, and makes drafts of files that it receives.
    Status prepare(const std::vector<Transfer> &transfers) {
        for (const Transfer &transfer : transfers) {
            end_ = std::max(end_, transfer.size);
            if (transfer.from != exchange_.self() && transfer.to != exchange_.self()) {
                continue;
            }
            Part &part = parts_.emplace_back();
            part.transfer = transfer;
            part.sends = transfer.from == exchange_.self();
            part.buffer.resize(std::min<uint64_t>(transfer.size, piece_size));
            const std::string path = path_in(directory_, transfer.name);
            if (part.sends) {
                os::FileAttributes &attributes = part.trailer.attributes;
                const bool is_there = redset::open_own_to_read(path, part.file, attributes) &&
                                      attributes.size == transfer.size;
                part.trailer.is_complete = is_there ? 1 : 0;
            } else if (Status status = drafts_.create(path, part.draft); !status) {
                return status;
            }
        }
        outgoing_.reserve(parts_.size());
        incoming_.reserve(parts_.size());
        exchange_.reserve(parts_.size());
        return Status::ok();
    }

    // Fails if the exchange does. Failures of files are the outcome of finish().
    Status move() {
        for (uint64_t offset = 0; offset < end_; offset += piece_size) {
            for (Part &part : parts_) {
                read_piece(part, offset);
            }
            if (Status status = meet([&](Part &part) { return part.piece_at(offset); }); !status) {
                return status;
            }
            for (Part &part : parts_) {
                if (const auto piece = part.piece_at(offset); !part.sends && outcome_) {
                    outcome_ = catch_exceptions([&] {
                        return drafts_.file(part.draft).write(offset, piece.data(), piece.size());
                    });
                }
            }
        }
        return meet([](Part &part) { return part.trailer_bytes(); });
    }

    Status finish() {
        for (const auto &part : parts_) {
            if (part.sends || !outcome_) {
                continue;
            }
            if (part.trailer.is_complete == 0) {
                drafts_.give_up(part.draft);
                continue;
            }
            outcome_ = catch_exceptions(
                [&] { return drafts_.finish(part.draft, part.trailer.attributes); });
        }
        return outcome_;
    }

    Status publish() {
        return catch_exceptions([&] { return drafts_.publish(); });
    }

private:
    // After a failure it sends what is in the buffer. The trailer reports it.
    static void read_piece(Part &part, uint64_t offset) {
        const auto piece = part.piece_at(offset);
        if (!part.sends || piece.empty() || part.trailer.is_complete == 0) {
            return;
        }
        const SavedMessage keeper;
        const bool read = catch_exceptions([&] {
                              return part.file.read(offset, piece.data(), piece.size());
                          }).is_ok();
        part.trailer.is_complete = read ? 1 : 0;
    }

    // Sends and receives bytes(part) of all parts.
    template <typename Bytes> Status meet(const Bytes &bytes) {
        outgoing_.clear();
        incoming_.clear();
        for (Part &part : parts_) {
            if (const std::span<std::byte> own = bytes(part); !own.empty()) {
                const int peer = part.sends ? part.transfer.to : part.transfer.from;
                (part.sends ? outgoing_ : incoming_).push_back({peer, own});
            }
        }
        Status status = exchange_.start(outgoing_, incoming_);
        return status ? exchange_.finish() : status;
    }

    Exchange &exchange_;
    const std::string directory_;
    redset::Drafts drafts_;
    std::vector<Part> parts_;
    std::vector<Exchange::Message> outgoing_; // of one meeting
    std::vector<Exchange::Message> incoming_;
    uint64_t end_ = 0; // of the largest file, of any rank
    Status outcome_;   // of this rank's files
};

// Keeps the buffers of messages under way for ever, where leak checkers find them.
void keep_for_ever(std::unique_ptr<FileTransfer> transfer) noexcept {
    static std::atomic<FileTransfer *> last = nullptr;
    transfer->kept_before = last.exchange(transfer.get());
    (void)transfer.release();
}

} // namespace

Status move_files(Job &job, const CheckpointDir &folder, const CheckpointId &id,
                  const std::vector<Transfer> &transfers, bool sync) {
    std::unique_ptr<FileTransfer> transfer;
    Status prepared = catch_exceptions([&] {
        transfer = std::make_unique<FileTransfer>(job.all(), folder.path_of(id), job.rank(), sync);
        return transfer->prepare(transfers);
    });
    if (Status status = agree(job, prepared); !status) {
        return status;
    }
    if (Status status = transfer->move(); !status) {
        keep_for_ever(std::move(transfer));
        return status;
    }
    Status status = agree(job, transfer->finish());
    return status ? agree(job, transfer->publish()) : status;
}

} // namespace cd::checkpoint
