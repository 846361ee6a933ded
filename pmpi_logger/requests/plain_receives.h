// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/block.h"
#include "log_entry/decode.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <mpi.h>

namespace cd::logger {

// A receive that began while no domain logged.
struct PlainReceive {
    MPI_Request handle = MPI_REQUEST_NULL;
    Block to;
    MPI_Comm comm = MPI_COMM_NULL;
    int peer = 0;
    int tag = 0;
    uint64_t thread = 0; // that started it
    uint64_t order = 0;  // later starts have greater numbers
};

// Some of those of which nobody has wanted to know anything yet. Most of a program without domains
// end like that, so that they are only noted, where their handles lead at once. Not locked.
class PlainReceives {
public:
    // False if there is no room for it. One that had the handle before is gone.
    bool add(const PlainReceive &receive) {
        PlainReceive *place = find(receive.handle);
        if (place == nullptr) {
            place = find_free(home_of(receive.handle));
            if (place == nullptr) {
                return false;
            }
            ++count_;
        }
        *place = receive;
        return true;
    }

    // nullptr if there is none. Stays where it is until it is removed.
    PlainReceive *find(MPI_Request handle) {
        const size_t home = home_of(handle);
        for (size_t i = home; i < home + neighbours; ++i) {
            if (places_[i].handle == handle && handle != MPI_REQUEST_NULL) {
                return &places_[i];
            }
        }
        return nullptr;
    }

    void remove(PlainReceive &receive) {
        receive.handle = MPI_REQUEST_NULL;
        --count_;
    }

    size_t count() const { return count_; }

    // Calls take for each, and has none of them then.
    template <typename Take> void give(const Take &take) {
        for (PlainReceive &place : places_) {
            if (count_ == 0) {
                return;
            }
            if (place.handle != MPI_REQUEST_NULL) {
                const PlainReceive receive = place;
                remove(place);
                take(receive);
            }
        }
    }

private:
    static constexpr unsigned home_bits = 10;
    static constexpr size_t homes = size_t{1} << home_bits;
    static constexpr size_t neighbours = 4; // of a home, where its receives may be

    static size_t home_of(MPI_Request handle) {
        return word_of(handle) * 0x9E3779B97F4A7C15U >> (64 - home_bits);
    }
    PlainReceive *find_free(size_t home) {
        for (size_t i = home; i < home + neighbours; ++i) {
            if (places_[i].handle == MPI_REQUEST_NULL) {
                return &places_[i];
            }
        }
        return nullptr;
    }

    std::array<PlainReceive, homes + neighbours - 1> places_;
    size_t count_ = 0;
};

} // namespace cd::logger
