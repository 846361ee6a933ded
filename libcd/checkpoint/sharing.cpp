// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "checkpoint/sharing.h"

#include "base/no_throw.h"
#include "redset/kvtree_file.h"

#include <string>
#include <utility>

namespace cd::checkpoint {
namespace {

using redset::Bytes;
using redset::KvTree;

constexpr const char *source = "what a rank has found";

KvTree content_tree(const Content &content) {
    KvTree tree;
    KvTree &tombstones = tree.add("FORGOTTEN");
    for (size_t i = 0; i < content.tombstones.size(); ++i) {
        tombstones.add(std::to_string(i)) = tombstone_tree(content.tombstones[i]);
    }
    KvTree &points = tree.add("POINT");
    for (const auto &[point, ranks] : content.points) {
        KvTree &files = points.add(directory_name(point));
        for (const auto &[rank, has] : ranks) {
            KvTree &own = files.add(std::to_string(rank));
            own.add_number("HAS_RECORD", has.stored ? 1 : 0);
            KvTree &sizes = own.add("FILE");
            for (const auto &[name, size] : has.sizes) {
                sizes.add_number(name, size);
            }
            if (has.record) {
                own.add(has.agreed ? "AGREED" : "STORED") = record_tree(*has.record);
            }
            if (has.unread) {
                KvTree &unread = own.add("UNREAD");
                unread.add_number("CODE", static_cast<uint64_t>(has.unread->code));
                unread.add_value("WHY", has.unread->why);
            }
        }
    }
    return tree;
}

Unread take_unread(const KvTree &tree) {
    Unread unread;
    unread.why = tree.value("WHY").value_or("");
    for (const cd_error code : {CD_ERROR_STORE_VERSION, CD_ERROR_STORE_IO}) {
        unread.code = tree.number("CODE") == static_cast<uint64_t>(code) ? code : unread.code;
    }
    return unread;
}

Status take_files(const KvTree &tree, int rank, RankFiles &files) {
    const KvTree *sizes = tree.find("FILE");
    for (size_t i = 0; sizes != nullptr && i < sizes->elements().size(); ++i) {
        const std::string &name = sizes->elements()[i].key;
        const auto size = sizes->number(name);
        if (!size || rank_of(name) != rank) {
            return fail(CD_ERROR_STORE_DAMAGED, "%s: \"%.40s\" is no file of rank %d", source,
                        name.c_str(), rank);
        }
        files.sizes[name] = *size;
    }
    const KvTree *agreed = tree.find("AGREED");
    const KvTree *record = agreed != nullptr ? agreed : tree.find("STORED");
    files.agreed = agreed != nullptr;
    files.stored = tree.number("HAS_RECORD").value_or(1) != 0;
    if (const KvTree *unread = tree.find("UNREAD")) {
        files.unread = take_unread(*unread);
    }
    return record == nullptr ? Status::ok() : read_record(*record, source, files.record.emplace());
}

Status take_content(const Bytes &bytes, Content &content) {
    KvTree tree;
    uint64_t size = 0;
    if (Status status = redset::decode_image(bytes, source, tree, size); !status) {
        return status;
    }
    const KvTree *tombstones = tree.find("FORGOTTEN");
    for (size_t i = 0; tombstones != nullptr && i < tombstones->elements().size(); ++i) {
        if (Status status = read_tombstone(tombstones->elements()[i].below, source,
                                           content.tombstones.emplace_back());
            !status) {
            return status;
        }
    }
    const KvTree *points = tree.find("POINT");
    for (size_t i = 0; points != nullptr && i < points->elements().size(); ++i) {
        const auto &[directory, ranks] = points->elements()[i];
        const auto point = point_of(directory);
        if (point) {
            content.points[*point]; // also where there is nothing in it
        }
        for (size_t r = 0; point && r < ranks.elements().size(); ++r) {
            const auto &[key, files] = ranks.elements()[r];
            const auto rank = rank_of(key + ".");
            if (!rank) {
                return fail(CD_ERROR_STORE_DAMAGED, "%s: \"%.20s\" is no rank", source,
                            key.c_str());
            }
            if (Status status = take_files(files, *rank, content.points[*point][*rank]); !status) {
                return status;
            }
        }
    }
    return Status::ok();
}

Status take_contents(const std::vector<Bytes> &all, std::vector<Content> &contents) {
    std::vector<Content> heard(all.size());
    for (size_t position = 0; position < all.size(); ++position) {
        if (Status status = take_content(all[position], heard[position]); !status) {
            return status;
        }
    }
    contents = std::move(heard);
    return Status::ok();
}

} // namespace

Status share(Job &job, Status own, const Content &content, std::vector<Content> &contents) {
    Bytes told;
    if (own) {
        own = catch_exceptions(
            [&] { return redset::encode_image(content_tree(content), source, told); });
    }
    std::vector<Bytes> all;
    if (Status status = agree(job, own, told, all); !status) {
        return status;
    }
    return agree_on_memory(job, catch_exceptions([&] { return take_contents(all, contents); }));
}

} // namespace cd::checkpoint
