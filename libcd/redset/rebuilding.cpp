// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/rebuilding.h"

#include "redset/kvtree_image.h"
#include "redset/open_file.h"

#include <algorithm>
#include <iterator>

namespace cd::redset {

Rebuilding::Rebuilding(const Set &set, int self, const Place &place, const Options &options,
                       const Survey &survey, Contents contents)
    : set_(set), self_(self), place_(place), survey_(survey), contents_(contents),
      lost_(survey.lost(self)), files_(survey.files[static_cast<size_t>(self)]),
      drafts_(set.ranks[static_cast<size_t>(self)], options.sync) {}

Status Rebuilding::prepare() {
    if (Status status = lost_.data ? draft_data() : Status::ok(); !status) {
        return status;
    }
    std::vector<uint64_t> sizes;
    std::transform(files_.begin(), files_.end(), std::back_inserter(sizes),
                   [](const StoredFile &file) { return file.attributes.size; });
    data_.emplace(sizes, [this](size_t file, File &opened) { return open(file, opened); });
    if (lost_.payload) {
        return draft_scheme_file();
    }
    os::FileAttributes attributes;
    payload_at_ = survey_.payload_offset;
    return open_own_to_read(place_.scheme_file(set_, self_), payload_file_, attributes);
}

Status Rebuilding::prepare_tables() {
    const MemberState &own = survey_.members[static_cast<size_t>(self_)];
    size_t draft = 0;
    if (!own.descriptor_lost.empty()) {
        if (Status status =
                draft_tree(descriptor_tree(set_, self_), place_.descriptor(set_, self_), draft);
            !status) {
            return status;
        }
    }
    return own.checksums_lost.empty() ? Status::ok()
                                      : draft_tree(checksums_tree(*survey_.checksums),
                                                   place_.checksums(set_, self_), draft);
}

Status Rebuilding::check() const {
    if (!survey_.checksums) {
        return Status::ok();
    }
    const bool read_too = contents_ == Contents::trusted;
    const MemberChecksums &expected = (*survey_.checksums)[static_cast<size_t>(self_)];
    if (((lost_.data || read_too) && data_->checksums() != expected.files) ||
        ((lost_.payload || read_too) && payload_crc_.whole() != expected.payload)) {
        return fail(not_as_trusted,
                    "set %d: what was read or rebuilt of rank %d does not match its checksum; "
                    "nothing was changed",
                    set_.group + 1, set_.ranks[static_cast<size_t>(self_)]);
    }
    return Status::ok();
}

Status Rebuilding::finish() {
    for (const auto &[draft, attributes] : finishing_) {
        if (Status status = drafts_.finish(draft, attributes); !status) {
            return status;
        }
    }
    return Status::ok();
}

Status Rebuilding::publish() { return drafts_.publish(); }

Status Rebuilding::draft_data() {
    for (const StoredFile &file : files_) {
        size_t draft = 0;
        if (Status status = drafts_.create(place_.path(file.name), draft, false); !status) {
            return status;
        }
        finishing_.emplace_back(draft, file.attributes);
        data_drafts_.push_back(draft);
    }
    return Status::ok();
}

Status Rebuilding::draft_scheme_file() {
    size_t draft = 0;
    if (Status status = draft_tree(scheme_tree(*survey_.layout, set_, self_, survey_.files),
                                   place_.scheme_file(set_, self_), draft);
        !status) {
        return status;
    }
    if (Status status = drafts_.reopen(draft, payload_file_); !status) {
        return status;
    }
    return payload_file_.size(payload_at_);
}

Status Rebuilding::draft_tree(const KvTree &tree, const std::string &path, size_t &draft) {
    Bytes image;
    if (Status status = encode_image(tree, path.c_str(), image); !status) {
        return status;
    }
    if (Status status = drafts_.create(path, draft, true); !status) {
        return status;
    }
    finishing_.emplace_back(draft, std::nullopt);
    return drafts_.file(draft).write(0, image.data(), image.size());
}

Status Rebuilding::open(size_t file, File &opened) const {
    if (lost_.data) {
        return drafts_.reopen(data_drafts_[file], opened);
    }
    os::FileAttributes attributes;
    return open_stored(place_, files_[file].name, opened, attributes);
}

Status Rebuilding::read(Region region, uint64_t offset, std::span<std::byte> to) {
    Status status = region == Region::data
                        ? data_->read(offset, to)
                        : payload_file_.read(payload_at_ + offset, to.data(), to.size());
    if (contents_ == Contents::compared) {
        return status;
    }
    if (!status) {
        return fail(not_as_trusted, "%s", message());
    }
    if (region == Region::payload) {
        payload_crc_.add(offset, to);
    }
    return status;
}

Status Rebuilding::write(Region region, uint64_t offset, std::span<const std::byte> from) {
    if (region == Region::data) {
        return data_->write(offset, from);
    }
    payload_crc_.add(offset, from);
    return payload_file_.write(payload_at_ + offset, from.data(), from.size());
}

} // namespace cd::redset
