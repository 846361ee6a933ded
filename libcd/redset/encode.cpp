// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/encode.h"

#include "base/no_throw.h"
#include "redset/atomic_files.h"
#include "redset/checksums.h"
#include "redset/header.h"
#include "redset/kvtree_file.h"
#include "redset/member_files.h"
#include "redset/pipeline.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace cd::redset {
namespace {

constexpr size_t longest_name = 1023; // that upstream reads

// The work of one member. All members complete a step before the next one.
class Encoding : public Storage {
public:
    Encoding(const Set &set, int self, const Place &place, const Options &options)
        : set_(set), self_(self), place_(place),
          drafts_(set.ranks[static_cast<size_t>(self)], options.sync) {}

    Status look_at_files(const std::vector<std::string> &names, Bytes &entry) {
        for (const std::string &name : names) {
            if (name.empty() || name.size() > longest_name ||
                name.find('\0') != std::string::npos) {
                return fail(CD_ERROR_ARGUMENT,
                            "a file's name has %zu bytes; 1 to %zu are allowed, none of them zero",
                            name.size(), longest_name);
            }
            File file;
            StoredFile stored{name, {}};
            if (Status status = open_stored(place_, name, file, stored.attributes); !status) {
                return status;
            }
            own_.push_back(std::move(stored));
        }
        return encode_image(member_tree(set_, self_, own_), "a member", entry);
    }

    // Compares the sets that the members have passed.
    Status learn(const std::vector<Bytes> &entries) {
        std::vector<uint64_t> sizes;
        for (size_t member = 0; member < entries.size(); ++member) {
            KvTree tree;
            uint64_t length = 0;
            if (Status status = decode_image(entries[member], "a member", tree, length); !status) {
                return status;
            }
            MemberEntry entry;
            if (Status status = read_member(tree, "a member", static_cast<int>(member), entry);
                !status) {
                return status;
            }
            if (!entry.descriptor.is_of(set_)) {
                return fail(CD_ERROR_ARGUMENT, "member %zu takes this for another set", member);
            }
            sizes.push_back(logical_size(entry.files));
            files_.push_back(std::move(entry.files));
            checksums_.push_back({tree_checksum(std::move(entry.tree)), 0, {}});
        }
        layout_.emplace(set_.coding, std::move(sizes));
        return Status::ok();
    }

    Status prepare() {
        std::vector<uint64_t> sizes;
        std::transform(own_.begin(), own_.end(), std::back_inserter(sizes),
                       [](const StoredFile &file) { return file.attributes.size; });
        data_.emplace(sizes, [this](size_t file, File &opened) { return reopen(file, opened); });
        if (Status status = drafts_.create(place_.scheme_file(set_, self_),
                                           scheme_tree(*layout_, set_, self_, files_), scheme_);
            !status) {
            return status;
        }
        rows_ = encoding_rows(*layout_, only(self_));
        return drafts_.file(scheme_).size(payload_at_);
    }

    std::span<const Row> rows() const { return rows_; }

    Status sum_up(Bytes &sums) {
        if (Status status = set_.coding.checks == 0 ? read_all() : Status::ok(); !status) {
            return status;
        }
        // A file may have changed behind what was read.
        for (size_t file = 0; file < own_.size(); ++file) {
            File again;
            if (Status status = reopen(file, again); !status) {
                return status;
            }
        }
        std::vector<uint32_t> values = data_->checksums();
        values.push_back(payload_.whole());
        const auto bytes = std::as_bytes(std::span(values));
        sums.assign(bytes.begin(), bytes.end());
        return Status::ok();
    }

    Status finish(const std::vector<Bytes> &sums) {
        for (size_t member = 0; member < sums.size(); ++member) {
            if (sums[member].size() != (files_[member].size() + 1) * sizeof(uint32_t)) {
                return fail(CD_ERROR_ARGUMENT, "member %zu sent %zu bytes of checksums", member,
                            sums[member].size());
            }
            std::vector<uint32_t> values(sums[member].size() / sizeof(uint32_t));
            std::memcpy(values.data(), sums[member].data(), sums[member].size());
            checksums_[member].payload = values.back();
            values.pop_back();
            checksums_[member].files = std::move(values);
        }
        size_t descriptor = 0;
        size_t checksums = 0;
        Status status = drafts_.create(place_.descriptor(set_, self_), descriptor_tree(set_, self_),
                                       descriptor);
        status = status ? drafts_.create(place_.checksums(set_, self_), checksums_tree(checksums_),
                                         checksums)
                        : status;
        for (const size_t draft : {scheme_, descriptor, checksums}) {
            status = status ? drafts_.finish(draft) : status;
        }
        return status;
    }

    Status publish() { return drafts_.publish(); }

private:
    // Reads data that are in no row, as they have no checksum yet.
    Status read_all() {
        const uint64_t size = logical_size(own_);
        Bytes piece(static_cast<size_t>(std::min<uint64_t>(size, uint64_t{256} << 10)));
        for (uint64_t at = 0; at < size; at += piece.size()) {
            const auto part = static_cast<size_t>(std::min<uint64_t>(piece.size(), size - at));
            if (Status status = data_->read(at, std::span(piece).first(part)); !status) {
                return status;
            }
        }
        return Status::ok();
    }

    Status reopen(size_t file, File &opened) const {
        const StoredFile &stored = own_[file];
        os::FileAttributes now;
        if (Status status = open_stored(place_, stored.name, opened, now); !status) {
            return status;
        }
        const timespec &before = stored.attributes.modified;
        if (now.size != stored.attributes.size || now.modified.tv_sec != before.tv_sec ||
            now.modified.tv_nsec != before.tv_nsec) {
            return fail(CD_ERROR_ARGUMENT, "%s: the file changed while it was being encoded",
                        opened.path());
        }
        return Status::ok();
    }

    Status read(Region, uint64_t offset, std::span<std::byte> to) override {
        return data_->read(offset, to);
    }

    Status write(Region, uint64_t offset, std::span<const std::byte> from) override {
        payload_.add(offset, from);
        return drafts_.file(scheme_).write(payload_at_ + offset, from.data(), from.size());
    }

    const Set &set_;
    const int self_;
    const Place &place_;
    StoredFiles own_;
    std::vector<StoredFiles> files_; // of all members
    Checksums checksums_;
    std::optional<Layout> layout_;
    std::vector<Row> rows_;
    std::optional<LogicalFile> data_;
    ScatteredCrc payload_;
    uint64_t payload_at_ = 0;
    Drafts drafts_;
    size_t scheme_ = 0;
};

} // namespace

Status apply(Exchange &exchange, const Set &set, const Place &place,
             const std::vector<std::string> &names, const Options &options) {
    const auto step = [&](const auto &action) { return agree(exchange, catch_exceptions(action)); };
    if (Status status = step([&] { return check_set(set, exchange.members()); }); !status) {
        return status;
    }
    Encoding encoding(set, exchange.self(), place, options);
    Bytes own;
    std::vector<Bytes> all;
    Status status = catch_exceptions([&] { return encoding.look_at_files(names, own); });
    status = agree(exchange, status, own, all);
    status = status ? step([&] {
        Status learned = encoding.learn(all);
        return learned ? encoding.prepare() : learned;
    })
                    : status;
    status = status ? carry_out(exchange, encoding.rows(), encoding, options.progress) : status;
    if (!status) {
        return status;
    }
    status = catch_exceptions([&] { return encoding.sum_up(own); });
    status = agree(exchange, status, own, all);
    status = status ? step([&] { return encoding.finish(all); }) : status;
    return status ? step([&] { return encoding.publish(); }) : status;
}

} // namespace cd::redset
