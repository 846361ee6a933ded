// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "checkpoint/store_list.h"

#include "base/path.h"
#include "checkpoint/tree_file.h"
#include "os/system.h"

#include <fcntl.h>

#include <cerrno>

namespace cd::checkpoint {
namespace {

using redset::KvTree;

constexpr uint64_t list_format = 1;

bool take_list(const KvTree &tree, StoreList &list) {
    const KvTree *stores = tree.find("STORE");
    for (size_t i = 0; stores != nullptr && i < stores->elements().size(); ++i) {
        const auto directory = stores->value(stores->elements()[i].key);
        if (!directory || !directory->starts_with('/')) {
            return false;
        }
        list.directories.emplace_back(*directory);
    }
    return tree.number("CD_STORES") == list_format;
}

} // namespace

Status read_store_list(const CheckpointDir &folder, StoreList &list) {
    const std::string path = path_in(folder.path(), store_list_name);
    const int fd = os::system().open_at(AT_FDCWD, path.c_str(), O_PATH | O_NOFOLLOW, 0);
    if (fd < 0 && errno == ENOENT) {
        return Status::ok();
    }
    const File there(fd, path);
    KvTree tree;
    StoreList read;
    read.there = true;
    Status status = read_tree(path, tree);
    if (status && take_list(tree, read)) {
        list = std::move(read);
        return status;
    }
    const std::string why = status ? path + ": this is no list of directories" : message();
    return fail(CD_ERROR_STORE_DAMAGED,
                "%s; it names the directories of flush= and of levels in which points in time may "
                "be: ask for all of them in this start, and remove the file",
                why.c_str());
}

Status write_store_list(const CheckpointDir &folder, int writer, bool sync,
                        const std::vector<std::string> &directories) {
    const std::string path = path_in(folder.path(), store_list_name);
    if (directories.empty()) {
        return os::system().unlink_at(AT_FDCWD, path.c_str()) == 0 || errno == ENOENT
                   ? Status::ok()
                   : File(-1, path).refused("remove the file");
    }
    KvTree tree;
    tree.add_number("CD_STORES", list_format);
    KvTree &stores = tree.add("STORE");
    for (size_t i = 0; i < directories.size(); ++i) {
        stores.add_value(std::to_string(i), directories[i]);
    }
    return write_tree(tree, path, writer, sync);
}

Status because_it_is_listed(Status failure, const std::string &listed, const CheckpointDir &first) {
    const std::string why = message();
    return fail(failure.code(),
                "%s; an earlier program of this root had points in time in %s, as %s says: let "
                "this one look there, or remove that file on all nodes to do without them",
                why.c_str(), listed.c_str(), path_in(first.path(), store_list_name).c_str());
}

} // namespace cd::checkpoint
