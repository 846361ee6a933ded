// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "file_store/snapshot_image.h"

#include "base/no_throw.h"
#include "file_store/allocator.h"
#include "file_store/change_encoder.h"
#include "file_store/record.h"
#include "file_store/stored_data.h"
#include "memory/crc32c.h"
#include "os/system.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <deque>
#include <map>
#include <utility>
#include <vector>

namespace cd {
namespace {

// Writes a new file from its first extent on, in large pieces.
class Stream {
public:
    explicit Stream(const File &file) : file_(file), buffer_(capacity) {}

    // Returns memory that the caller fills for the file from `offset` on. Offsets must grow.
    Status room(uint64_t offset, size_t length, std::span<std::byte> &room) {
        uint64_t begin = offset - at_;
        if (begin + length > capacity) {
            if (Status status = flush(); !status) {
                return status;
            }
            at_ = offset; // a gap before it reads as zeros
            begin = 0;
        }
        std::fill(buffer_.begin() + static_cast<ptrdiff_t>(used_),
                  buffer_.begin() + static_cast<ptrdiff_t>(begin), std::byte{0});
        room = {buffer_.data() + begin, length};
        used_ = begin + length;
        return Status::ok();
    }

    Status flush() {
        Status status = file_.write(at_, buffer_.data(), used_);
        if (status.is_ok()) {
            file_.begin_sync(at_, used_);
        }
        at_ += used_;
        used_ = 0;
        return status;
    }

private:
    static constexpr size_t capacity = size_t{1} << 20;

    const File &file_;
    std::vector<std::byte> buffer_;
    uint64_t at_ = format::first_extent; // of the buffer in the file
    size_t used_ = 0;
};

class ImageWriter {
public:
    ImageWriter(const File &source, const Superblock &identity, State &state, const File &image)
        : source_(source), state_(state), image_(image), stream_(image) {
        header_.id = identity.id;
        header_.rank = identity.rank;
        header_.name = identity.name;
        header_.names_all_objects = identity.names_all_objects;
        header_.generation = 1;
    }

    Status write() {
        keep_the_root();
        find_what_is_needed();
        lay_out();
        refer_to_the_image();
        if (Status status = copy_data(); !status) {
            return status;
        }
        return write_metadata();
    }

private:
    // Neighbouring checked parts of a run that are needed, and their run in the image.
    struct Stretch {
        uint64_t begin = 0; // in the run
        StoredRun *image = nullptr;
    };
    // The needed parts of all runs at one offset.
    struct Needed {
        const StoredRun *run = nullptr;
        std::vector<bool> parts;
        std::vector<Stretch> stretches;
    };

    StoredEntries &entries() { return state_.cds.begin()->second.entries; }

    void keep_the_root() {
        state_.versions.clear();
        state_.cds.erase(std::next(state_.cds.begin()), state_.cds.end());
    }

    void find_what_is_needed() {
        for (const auto &[place, entry] : entries()) {
            if (entry.run == nullptr) {
                continue;
            }
            Needed &needed = needed_[entry.run->offset];
            if (needed.run == nullptr) {
                needed.run = entry.run;
                needed.parts.resize((entry.run->length + format::checked_part - 1) /
                                    format::checked_part);
            }
            const uint64_t last = entry.run_offset + (entry.end - place.begin) - 1;
            std::fill(needed.parts.begin() +
                          static_cast<ptrdiff_t>(entry.run_offset / format::checked_part),
                      needed.parts.begin() + static_cast<ptrdiff_t>(last / format::checked_part) +
                          1,
                      true);
        }
    }

    // Lays out extents as a store would, so that a store can continue in the image.
    void lay_out() {
        uint64_t end = format::first_extent;
        for (auto &[offset, needed] : needed_) {
            const auto &parts = needed.parts;
            for (auto at = std::find(parts.begin(), parts.end(), true); at != parts.end();) {
                const auto behind = std::find(at, parts.end(), false);
                const auto first = static_cast<uint64_t>(at - parts.begin());
                const auto last = static_cast<uint64_t>(behind - parts.begin());
                Stretch stretch = {first * format::checked_part, &runs_.emplace_back()};
                StoredRun &image = *stretch.image;
                image.length =
                    std::min(last * format::checked_part, needed.run->length) - stretch.begin;
                if (!needed.run->checksums.empty()) {
                    image.checksums.assign(
                        needed.run->checksums.begin() + static_cast<ptrdiff_t>(first),
                        needed.run->checksums.begin() + static_cast<ptrdiff_t>(last));
                }
                const uint64_t room = Space::rounded(image.length);
                image.offset = room < format::block ? end : format::whole_blocks(end);
                end = image.offset + room;
                needed.stretches.push_back(stretch);
                at = std::find(behind, parts.end(), true);
            }
        }
        end_of_data_ = end;
    }

    void refer_to_the_image() {
        for (auto &[place, entry] : entries()) {
            if (entry.run == nullptr) {
                continue;
            }
            const std::vector<Stretch> &stretches = needed_.at(entry.run->offset).stretches;
            const Stretch &stretch = *std::prev(
                std::ranges::upper_bound(stretches, entry.run_offset, {}, &Stretch::begin));
            entry.run = stretch.image;
            entry.run_offset -= stretch.begin;
        }
    }

    Status copy_data() {
        for (const auto &[offset, needed] : needed_) {
            for (const Stretch &stretch : needed.stretches) {
                if (Status status = copy(*needed.run, stretch); !status) {
                    return status;
                }
            }
        }
        return Status::ok();
    }

    Status copy(const StoredRun &run, const Stretch &stretch) {
        const StoredRun &image = *stretch.image;
        for (uint64_t done = 0; done < image.length; done += format::checked_part) {
            const auto part = std::min<size_t>(image.length - done, format::checked_part);
            std::span<std::byte> room;
            Status status = stream_.room(image.offset + done, part, room);
            status =
                status ? read_run(source_, run, stretch.begin + done, room.data(), part) : status;
            if (!status) {
                return status;
            }
        }
        return Status::ok();
    }

    // Writes a short journal: a store that continues in the image starts its own.
    Status write_metadata() {
        ChangeWriter snapshot;
        write_snapshot(state_, snapshot);
        const auto bytes = snapshot.bytes().bytes();
        header_.snapshot = {format::whole_blocks(end_of_data_),
                            std::max<uint64_t>(format::whole_blocks(bytes.size()), format::block)};
        header_.snapshot_length = bytes.size();
        header_.snapshot_checksum = crc32c(0, bytes.data(), bytes.size());
        header_.journal = {header_.snapshot.end(), format::block};
        Status status = stream_.flush();
        if (status.is_ok()) {
            status = image_.write(header_.snapshot.offset, bytes.data(), bytes.size());
        }
        if (status.is_ok()) {
            const uint64_t end = header_.snapshot.offset + bytes.size();
            status = image_.write_zeros(end, header_.journal.offset - end);
        }
        if (status.is_ok()) {
            status = Unused(header_).write(image_, header_.journal.offset, header_.journal.length);
        }
        for (size_t slot = 0; status.is_ok() && slot < format::headers; ++slot) {
            header_.slot = slot;
            status = write_header(image_, header_);
        }
        return status;
    }

    const File &source_;
    State &state_;
    const File &image_;
    Stream stream_;
    Superblock header_;
    std::map<uint64_t, Needed> needed_;
    std::deque<StoredRun> runs_; // of the image
    uint64_t end_of_data_ = 0;
};

} // namespace

Status write_image(const File &source, const Superblock &identity, State state, const File &image) {
    return ImageWriter(source, identity, state, image).write();
}

HeldPoint::HeldPoint(std::shared_ptr<FileStore> store, std::vector<Piece> data)
    : store_(std::move(store)), metadata_(store_->hold_metadata()), data_(std::move(data)) {}

Status HeldPoint::write_image(const std::string &path) const {
    const File &source = store_->volume().file();
    const Superblock &header = metadata_.generation->header;
    State state;
    if (Status status = load_again(source, header, metadata_.records, state); !status) {
        return status;
    }
    constexpr int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW;
    File image(os::system().open_at(AT_FDCWD, path.c_str(), flags, S_IRUSR | S_IWUSR), path);
    if (!image.is_open()) {
        return image.refused("create the file");
    }
    Status status = catch_exceptions([&] {
        Status written = cd::write_image(source, header, std::move(state), image);
        if (written.is_ok() && store_->forces()) {
            written = image.sync_all();
        }
        return written.is_ok() ? image.close() : written;
    });
    if (!status) {
        os::system().unlink_at(AT_FDCWD, path.c_str());
    }
    return status;
}

} // namespace cd
