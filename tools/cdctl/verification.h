// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "store_reader.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace cdctl {

// What reading all data of a store has found.
struct Verification {
    struct BadData {
        uint64_t offset = 0; // in the file
        uint64_t length = 0;
        std::string reason;             // names file and offset
        std::vector<std::string> holds; // what of which CD or point in time lies there
    };

    Outcome outcome = Outcome::good;
    uint64_t checked = 0;   // bytes that were read and compared
    uint64_t unchecked = 0; // bytes that have no checksum
    std::vector<BadData> bad;
    std::vector<uint64_t> good_epochs; // of the root, newest first
    std::vector<uint64_t> bad_epochs;
    std::string problem; // "" if it could be verified
};

// done: called now and then with the bytes read so far and the bytes there are. store: has a state;
// if a process works on it, a newer one is loaded when need be. May throw.
Verification verify_data(Inspection &store,
                         const std::function<void(uint64_t done, uint64_t all)> &done);

} // namespace cdctl
