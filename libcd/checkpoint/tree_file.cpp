// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "checkpoint/tree_file.h"

#include "redset/atomic_files.h"
#include "redset/kvtree_file.h"
#include "redset/member_files.h"

namespace cd::checkpoint {

Status write_tree(const redset::KvTree &tree, const std::string &path, int writer, bool sync) {
    std::vector<std::byte> image;
    if (Status status = redset::encode_image(tree, path.c_str(), image); !status) {
        return status;
    }
    redset::Drafts drafts(writer, sync);
    size_t draft = 0;
    if (Status status = drafts.create(path, draft, true); !status) {
        return status;
    }
    if (Status status = drafts.file(draft).write(0, image.data(), image.size()); !status) {
        return status;
    }
    if (Status status = drafts.finish(draft, std::nullopt); !status) {
        return status;
    }
    return drafts.publish();
}

Status read_tree(const std::string &path, redset::KvTree &tree) {
    File file;
    os::FileAttributes attributes;
    if (Status status = redset::open_own_to_read(path, file, attributes); !status) {
        return status;
    }
    uint64_t size = 0;
    if (Status status = redset::read_image(file, tree, size); !status) {
        return status;
    }
    return size == attributes.size
               ? Status::ok()
               : fail(CD_ERROR_STORE_DAMAGED, "%s: something follows its end", path.c_str());
}

} // namespace cd::checkpoint
