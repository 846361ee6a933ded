// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "store_reader.h"

#include "file_store/state.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>

namespace cdctl {

// Texts and JSON that several commands print

using Json = nlohmann::ordered_json;

// Prints to standard output, with U+FFFD in place of bytes that are not UTF-8.
void print_json(const Json &json);

// Returns null for "".
Json text_or_null(const std::string &text);

// Returns an identity such as "0/root/1/0".
std::string identity_of(const cd::Superblock &header, const cd::StoredCd &stored);

// Returns where an entry binds after a restart: "a.out+0x4010", "region grid+0", "range 2 of
// 0/root/1/0".
std::string place_of(const cd::Loaded &loaded, const cd::StoredKey &key);

uint64_t bytes_of(const cd::StoredEntries &entries);

struct Totals {
    uint64_t entries = 0;
    uint64_t bytes = 0;
};
// Counts all CDs, without older points in time.
Totals totals_of(const cd::State &state);

const char *access_text(addr_type access);
const char *scope_text(addr_scope scope);
const char *restoration_text(cd::Restoration restoration);

std::string id_text(const cd::Superblock &header);

// Returns "" or ", in use by process 123".
std::string use_text(const StoreReader &store);

// Describes a store for list, show and verify: the file, and if it can be read its root's contents.
Json describe(const StoreReader &store);

} // namespace cdctl
