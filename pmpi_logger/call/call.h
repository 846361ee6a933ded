// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/typed_block.h"
#include "mpi/function.h"

#include <cstdint>
#include <mpi.h>

namespace cd::logger {

// An array of counts or displacements of any integer type. Reads zeros from a null pointer, which
// MPI refuses.
class Numbers {
public:
    Numbers() = default;
    Numbers(const int *numbers) : numbers_(numbers), size_(sizeof(int)) {}
    Numbers(const int64_t *numbers) : numbers_(numbers), size_(sizeof(int64_t)) {}
    // MPI_Aint is long here, and long long on other platforms.
    Numbers(const long long *numbers) : numbers_(numbers), size_(sizeof(long long)) {}

    int64_t operator[](int i) const {
        if (numbers_ == nullptr) [[unlikely]] {
            return 0;
        }
        return size_ == sizeof(int) ? static_cast<const int *>(numbers_)[i]
                                    : static_cast<const int64_t *>(numbers_)[i];
    }

private:
    const void *numbers_ = nullptr;
    size_t size_ = 0;
};

// The arguments that say what a call sends and receives.
struct Arguments {
    const void *send_buf = nullptr;
    int64_t send_count = 0;
    Numbers send_counts;
    Numbers send_displs;
    MPI_Datatype send_type = MPI_DATATYPE_NULL;
    const MPI_Datatype *send_types = nullptr;
    void *recv_buf = nullptr;
    int64_t recv_count = 0;
    Numbers recv_counts;
    Numbers recv_displs;
    MPI_Datatype recv_type = MPI_DATATYPE_NULL;
    const MPI_Datatype *recv_types = nullptr;
    MPI_Comm comm = MPI_COMM_NULL;
    int root = 0;
    int length = 0;
    int length_2 = 0;
    int partitions = 1;
    MPI_Status *status = MPI_STATUS_IGNORE;
    int *flag = nullptr;
};

// An output of a call besides received data and statuses.
struct Output {
    enum class Kind : uint8_t { bytes, text };

    Output() = default;
    Output(void *its_place, size_t its_size, Kind its_kind = Kind::bytes)
        : to(its_place), size(its_size), kind(its_kind) {}

    void *to;
    size_t size;
    Kind kind;
};

// Which arguments MPI looks at in this rank. The program may give anything for the others.
struct Significance {
    bool sent = true; // the arguments that describe what is sent
    bool received = true;
    bool at_root = true; // the arguments that only the root gives
};

// How to find the bytes that a call brings and sends: see payload/received_data.h.
struct Arrival {
    void (*received)(const Arguments &, Blocks &);
    void (*sent)(const Arguments &, Blocks &);
    Significance (*matter)(const Arguments &) = nullptr; // nullptr: all arguments matter
};

// One intercepted call.
struct Call {
    static constexpr int most_words = 16;
    static constexpr int most_outputs = 4;

    Call() = default;
    Call(Fn its_fn, const void *its_site) : fn(its_fn), site(its_site) {}

    Fn fn = Fn::count;
    const void *site = nullptr; // the caller's address
    const Arrival *arrival = nullptr;
    Arguments arguments;
    Significance matter;
    int failure = 0; // error of a question to MPI before the call, which is not made then
    int word_count = 0;
    int output_count = 0;
    // Only the counted ones are initialized, since every call of the program makes a Call.
    uint64_t words[most_words]; // compared in a replay
    Output outputs[most_outputs];

    void add_word(uint64_t word) { words[word_count++] = word; }
    void add_output(const Output &output) { outputs[output_count++] = output; }
};

} // namespace cd::logger
