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

// sync: an advance waits until its point in time is protected.
enum class RedundancyMode : uint8_t { sync, async };

enum class Sync : uint8_t { full, none };

// by_store: not given; store=file has checksums, store=memory has none.
enum class Checksum : uint8_t { by_store, crc32c, none };

enum class Track : uint8_t { explicit_calls, pages };

enum class Shadow : uint8_t { full, none };

// The settings of storage_info for a CD, or for the entries of one add call.
// docs/reference/storage-info.md explains the keys. A child starts from its parent's values.
struct StorageInfo {
    Store store = Store::memory;
    std::string dir;             // of files; "": not given
    Redundancy redundancy;       // against the loss of nodes
    std::optional<int> set_size; // as given; ranks_in_set() has the default
    std::string group;           // processes of one group fail together; "": those of a node
    Sync sync = Sync::full;      // full: data reach the disk before a point in time counts
    Checksum checksum = Checksum::by_store;
    Track track = Track::explicit_calls; // how modified memory is found
    std::string config;                  // a file with lines as SCR's descriptors; "": not given
    Shadow shadow = Shadow::full;        // full: an advance writes to a second copy
    int keep = 1;                        // the points in time in a store=file, the newest included
    RedundancyMode redundancy_mode = RedundancyMode::sync;
    std::string flush;                 // a directory that all nodes see; "": not given
    std::optional<int> flush_interval; // as given; epochs_per_copy() has the default

    bool is_protected() const { return redundancy.scheme != Scheme::none || !config.empty(); }
    // Returns how many ranks protect each other.
    int ranks_in_set() const { return set_size.value_or(8); }
    // Returns how many epochs pass from one copy in flush= to the next.
    int epochs_per_copy() const { return flush_interval.value_or(1); }
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

// Returns all keys, in the order in which messages and documents list them.
std::span<const StorageKey> storage_keys();

// Parses "key=value,key=value", or "", and sets these keys in `into`. config= replaces redundancy=
// and set_size= of `into`, and redundancy= replaces config=. A text with both keeps both, which
// check_supported() refuses. `origin` names the text in messages: "storage_info" or "the
// environment variable CD_STORAGE_INFO". An error or std::bad_alloc leaves `into` unchanged.
Status parse_storage_info(std::string_view text, const char *origin, StorageInfo &into);

// True if a root with these texts, which may be malformed, is likely meant to have redundancy: then
// other ranks may wait for this one. `given` takes precedence over `defaults`.
bool asks_for_protection(std::string_view defaults, std::string_view given) noexcept;

// Fails with CD_ERROR_STORAGE_UNSUPPORTED for settings that this build does not support, and for
// keys that contradict each other. `origin`: as above.
Status check_supported(const StorageInfo &info, const char *origin);

// Fails with CD_ERROR_STORAGE_UNSUPPORTED unless the settings have the store and the redundancy of
// the family's root. `cd`: the name of a CD of the family, for the message.
Status check_same_store(const StorageInfo &info, const StorageInfo &root, const char *cd);

} // namespace cd
