// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "config/storage_info.h"
#include "file_store/file_store.h"

#include <memory>
#include <optional>
#include <string>

namespace cd {

// The point in time that a new store starts from. It replaces the store that is there.
struct StoreStart {
    uint64_t epoch = 0; // 0: an empty store
    std::string image;  // path of the point in time of that epoch
};

// The store of a root CD.
struct OpenRequest {
    StorageInfo storage;
    int rank = 0;
    std::string name;
    std::optional<StoreStart> start; // without it the store and CD_RESTART decide
};

// Finds the directory for stores, see own_directory().
Status store_directory(const StorageInfo &storage, std::string &directory);
std::string store_name(int rank, const std::string &root);

struct OpenedStore {
    std::shared_ptr<FileStore> store;
    bool restarted = false;
    Loaded loaded; // if restarted
    // True if newer points in time are damaged: the caller has to call FileStore::rewrite().
    bool newer_are_damaged = false;
    FileStore::Pieces pieces;
};

// Opens the store of a root CD, or makes one. CD_RESTART=no and request.start always make one, and
// set the existing one aside. CD_RESTART=EPOCH goes back to an older point in time, which the first
// change writes to the file. May throw std::bad_alloc.
Status open_store(const OpenRequest &request, Addresses &addresses, OpenedStore &opened);

} // namespace cd
