// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "checkpoint/file_transfer.h"

#include "base/no_throw.h"
#include "redset/atomic_files.h"
#include "redset/member_files.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
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

// Sent before the data.
struct Announcement {
    unsigned char readable = 0; // no bool: any byte may arrive
    os::FileAttributes attributes;
};

struct Outgoing {
    Transfer transfer;
    File file;
    Announcement announcement;
    std::vector<std::byte> buffer;
    std::byte whole{1};
};

struct Incoming {
    Transfer transfer;
    Announcement announcement;
    size_t draft = 0;
    std::vector<std::byte> buffer;
    std::byte whole{0};
};

// 0 for a file that its owner cannot read.
template <typename Part> size_t length_of(const Part &part, uint64_t round) {
    return part.announcement.readable != 0 ? length_of(part.transfer, round) : 0;
}

class Moving {
public:
    Moving *kept_before = nullptr; // see keep_for_ever()

    Moving(Exchange &exchange, std::string directory, int rank, bool sync)
        : exchange_(exchange), directory_(std::move(directory)), drafts_(rank, sync) {}

    void prepare(const std::vector<Transfer> &transfers) {
        for (const Transfer &transfer : transfers) {
            const size_t most = length_of(transfer, 0);
            if (transfer.from == exchange_.self()) {
                Outgoing &out = outgoing_.emplace_back(
                    Outgoing{transfer, {}, {}, std::vector<std::byte>(most), std::byte{1}});
                const bool readable =
                    redset::open_own_to_read(directory_ + "/" + transfer.name, out.file,
                                             out.announcement.attributes) &&
                    out.announcement.attributes.size == transfer.size;
                out.announcement.readable = readable ? 1 : 0;
            }
            if (transfer.to == exchange_.self()) {
                incoming_.push_back({transfer, {}, 0, std::vector<std::byte>(most), {}});
            }
        }
        out_.reserve(outgoing_.size());
        in_.reserve(incoming_.size());
        exchange_.reserve(std::max(outgoing_.size(), incoming_.size()));
    }

    Status announce() {
        for (Outgoing &each : outgoing_) {
            out_.push_back({each.transfer.to,
                            std::as_writable_bytes(std::span(&each.announcement, size_t{1}))});
        }
        for (Incoming &each : incoming_) {
            in_.push_back({each.transfer.from,
                           std::as_writable_bytes(std::span(&each.announcement, size_t{1}))});
        }
        return meet();
    }

    // Fails where there is no room for the files. A damaged file may have any size.
    Status make_drafts() {
        for (Incoming &each : incoming_) {
            try_files([&] {
                Status made =
                    drafts_.create(directory_ + "/" + each.transfer.name, each.draft, true);
                return made && each.announcement.readable != 0 ? check_room(each) : made;
            });
        }
        return outcome_;
    }

    // How many pieces this member receives of its largest file.
    uint64_t rounds() const {
        uint64_t most = 0;
        for (const Incoming &each : incoming_) {
            most = std::max(most, each.announcement.readable != 0
                                      ? (each.transfer.size + moved_piece - 1) / moved_piece
                                      : 0);
        }
        return most;
    }

    // rounds: the largest of all members.
    Status carry(uint64_t rounds) {
        for (uint64_t round = 0; round < rounds; ++round) {
            if (Status status = carry_piece(round); !status) {
                return status;
            }
        }
        return send_which_are_whole();
    }

    Status finish() {
        for (const Incoming &each : incoming_) {
            if (each.whole != std::byte{}) {
                try_files([&] { return drafts_.finish(each.draft, each.announcement.attributes); });
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
    Status meet() {
        if (Status status = exchange_.start(out_, in_); !status) {
            return status;
        }
        out_.clear();
        in_.clear();
        return exchange_.finish();
    }

    Status check_room(const Incoming &incoming) {
        const File &draft = drafts_.file(incoming.draft);
        uint64_t room = 0;
        if (os::system().room(draft.descriptor(), room) != 0) {
            return draft.refused("ask for room");
        }
        const uint64_t size = incoming.transfer.size;
        if (size > room - std::min(room, coming_)) {
            return fail(CD_ERROR_STORE_FULL,
                        "%s/%s: it is in another rank's directory and has %llu bytes, for which "
                        "there is no room here; remove it there if it is damaged",
                        directory_.c_str(), incoming.transfer.name.c_str(),
                        static_cast<unsigned long long>(size));
        }
        coming_ += size;
        return Status::ok();
    }

    // A member that cannot read sends what is in its buffer, and reports it at the end.
    Status carry_piece(uint64_t round) {
        for (Outgoing &each : outgoing_) {
            if (const size_t length = length_of(each, round); length > 0) {
                const SavedMessage keeper;
                const bool read =
                    catch_exceptions([&] {
                        return each.file.read(round * moved_piece, each.buffer.data(), length);
                    }).is_ok();
                each.whole = read ? each.whole : std::byte{};
                out_.push_back({each.transfer.to, std::span(each.buffer).first(length)});
            }
        }
        for (Incoming &each : incoming_) {
            if (const size_t length = length_of(each, round); length > 0) {
                in_.push_back({each.transfer.from, std::span(each.buffer).first(length)});
            }
        }
        if (Status status = meet(); !status) {
            return status;
        }
        for (const Incoming &each : incoming_) {
            if (const size_t length = length_of(each, round); length > 0) {
                try_files([&] {
                    return drafts_.file(each.draft)
                        .write(round * moved_piece, each.buffer.data(), length);
                });
            }
        }
        return Status::ok();
    }

    Status send_which_are_whole() {
        for (Outgoing &each : outgoing_) {
            each.whole = each.announcement.readable != 0 ? each.whole : std::byte{};
            out_.push_back({each.transfer.to, std::span(&each.whole, size_t{1})});
        }
        for (Incoming &each : incoming_) {
            in_.push_back({each.transfer.from, std::span(&each.whole, size_t{1})});
        }
        return meet();
    }

    template <typename Action> void try_files(const Action &action) {
        if (outcome_) {
            outcome_ = catch_exceptions(action);
        }
    }

    Exchange &exchange_;
    const std::string directory_;
    redset::Drafts drafts_;
    uint64_t coming_ = 0; // bytes for which there is room
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

// Collective. rounds: the largest of all members.
Status make_drafts(Job &job, Moving &moving, uint64_t &rounds) {
    Status made = moving.make_drafts();
    const uint64_t own = moving.rounds();
    std::vector<redset::Bytes> all;
    if (Status status = agree(job, made, std::as_bytes(std::span(&own, size_t{1})), all); !status) {
        return status;
    }
    for (const redset::Bytes &bytes : all) {
        uint64_t theirs = 0;
        std::memcpy(&theirs, bytes.data(), std::min(sizeof theirs, bytes.size()));
        rounds = std::max(rounds, theirs);
    }
    return Status::ok();
}

} // namespace

Status move_files(Job &job, const CheckpointDir &folder, const CheckpointId &point,
                  const std::vector<Transfer> &transfers, bool sync) {
    std::unique_ptr<Moving> moving;
    Status prepared = catch_exceptions([&] {
        moving = std::make_unique<Moving>(job.all(), folder.path_of(point), job.rank(), sync);
        moving->prepare(transfers);
    });
    if (Status status = agree(job, prepared); !status) {
        return status;
    }
    if (Status status = moving->announce(); !status) {
        keep_for_ever(std::move(moving));
        return status;
    }
    uint64_t rounds = 0;
    if (Status status = make_drafts(job, *moving, rounds); !status) {
        return status;
    }
    if (Status status = moving->carry(rounds); !status) {
        keep_for_ever(std::move(moving));
        return status;
    }
    Status status = agree(job, moving->finish());
    return status ? agree(job, moving->publish()) : status;
}

} // namespace cd::checkpoint
