// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "config/storage_info.h"
#include "file_store/file_store.h"

#include <memory>
#include <optional>
#include <string>

namespace cd {

// What the store begins with, whatever the one that is there says.
struct StoreStart {
    uint64_t epoch = 0; // 0: with nothing
    std::string image;  // the point in time of that epoch
};

// Which store a root CD has, and what to do with one that is there.
struct OpenRequest {
    StorageInfo storage;
    int rank = 0;
    std::string name;
    std::optional<StoreStart> start; // not given: the store and CD_RESTART decide
};

// Where it is: in one of the user's own where all may write to that which is asked for.
Status store_directory(const StorageInfo &storage, std::string &directory);
std::string store_name(int rank, const std::string &root);

struct OpenedStore {
    std::shared_ptr<FileStore> store;
    bool restarted = false;
    Loaded loaded; // if restarted
    // Than the point in time that was taken: the store is to be rewritten as that, once.
    bool newer_are_damaged = false;
    FileStore::Pieces pieces;
};

// Opens the store of a root CD, or makes one. CD_RESTART=no makes one in any case, and keeps the
// one that is there aside, as a start does that is given; CD_RESTART=EPOCH goes back to an older
// point in time, of which the file hears with the first change. May throw std::bad_alloc.
Status open_store(const OpenRequest &request, Addresses &addresses, OpenedStore &opened);

} // namespace cd
