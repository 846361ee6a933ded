// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "checkpoint/opening.h"
#include "config/levels.h"
#include "config/storage_info.h"

namespace cd::checkpoint {

// What a root's storage_info, and the file that it may name as config=, ask for on a node of this
// name: the request's stores, levels, settings and sync. directory: of the local store.
Status read_request(const StorageInfo &info, const std::string &directory, const std::string &node,
                    Request &request);

} // namespace cd::checkpoint
