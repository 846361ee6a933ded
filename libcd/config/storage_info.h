// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/status.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace cd {

enum class Store : uint8_t { memory, file };

enum class Scheme : uint8_t { none, single, partner, xor_set, reed_solomon };

struct Redundancy {
    Scheme scheme = Scheme::none;
    int parameter = 0; // partner: how many copies; reed_solomon: how many losses; else 0
    bool operator==(const Redundancy &) const = default;
};

// Whether an advance waits until its point in time is protected.
enum class RedundancyMode : uint8_t { sync, async };

enum class Sync : uint8_t { full, none };

// by_store: files are checked unless told otherwise, memory only when told to.
enum class Checksum : uint8_t { by_store, crc32c, none };

enum class Track : uint8_t { explicit_calls, pages };

enum class Shadow : uint8_t { full, none };

// Where a CD or the entries of one add call are kept, and how. docs/reference/storage-info.md
// explains the keys; a child starts from its parent's values.
struct StorageInfo {
    Store store = Store::memory;
    std::string dir;             // where files are kept; "" when not given
    Redundancy redundancy;       // what happens to the data when a node is lost
    std::optional<int> set_size; // as it was given: ranks_in_set()
    std::string group;           // processes with the same one fail together; "": those of a node
    Sync sync = Sync::full;      // whether files reach the disk before a point in time counts
    Checksum checksum = Checksum::by_store;
    Track track = Track::explicit_calls; // who finds out what was modified
    std::string config;                  // a file with descriptor lines as SCR's; "" when not given
    Shadow shadow = Shadow::full;        // whether an advance has a second copy to write to
    int keep = 1;                        // points in time that store=file has, the newest included
    RedundancyMode redundancy_mode = RedundancyMode::sync;
    std::string flush;                 // a directory that all nodes see; "" when not given
    std::optional<int> flush_interval; // as it was given: epochs_per_copy()

    // The loss of a node is to be survived.
    bool is_protected() const { return redundancy.scheme != Scheme::none || !config.empty(); }
    // Who protect each other; more cost less and lose more at once.
    int ranks_in_set() const { return set_size.value_or(8); }
    int epochs_per_copy() const { return flush_interval.value_or(1); } // to flush
    uint64_t log_limit = 0; // bytes of memory for the MPI logs; 0: no limit

    bool checksummed() const {
        return checksum == Checksum::crc32c ||
               (checksum == Checksum::by_store && store == Store::file);
    }
    bool operator==(const StorageInfo &) const = default;
};

// One key of storage_info. set() returns false, and changes nothing, for a value that is not
// allowed.
struct StorageKey {
    const char *key;
    const char *allowed;
    const char *explanation;
    bool (*set)(std::string_view value, StorageInfo &into);
};

// All keys, in the order in which messages and documents list them.
std::span<const StorageKey> storage_keys();

// Sets what text ("key=value,key=value", "" for nothing) gives, over what is in into already; on an
// error into is unchanged. config= takes the place of redundancy= and set_size= in into, and
// redundancy= that of config=; a text that gives both keeps them, for check_supported(). origin
// names the text in messages: "storage_info" or "the environment variable CD_STORAGE_INFO". May
// throw std::bad_alloc; then too into is unchanged.
Status parse_storage_info(std::string_view text, const char *origin, StorageInfo &into);

// Whether a root that is given these texts, perhaps ones that cannot be read, is likely meant to be
// protected: other ranks may wait for this one then. What given says counts before defaults.
bool asks_for_protection(std::string_view defaults, std::string_view given) noexcept;

// CD_ERROR_STORAGE_UNSUPPORTED for what this build cannot do, and for keys that contradict others.
// origin: as above.
Status check_supported(const StorageInfo &info, const char *origin);

// CD_ERROR_STORAGE_UNSUPPORTED unless what a CD or an add call asks for is kept, and protected, as
// all of the family is. cd: the name of who is in the family already, for the message.
Status check_same_store(const StorageInfo &info, const StorageInfo &root, const char *cd);

} // namespace cd
