// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "harness/buffer.h"

#include <mpi.h>
#include <stdexcept>
#include <string>
#include <vector>

namespace cd::scenarios {

// A call went wrong that a scenario needs.
struct Failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Leaves a scenario half way.
struct Interruption {};

// A status that shows what a call leaves as it was.
struct Status : MPI_Status {
    Status();
};
std::vector<Status> statuses(size_t count);

// Everything that a scenario's calls bring to the program, in order.
class Outputs {
public:
    // Outputs that are the same in every execution.
    template <typename T> void value(const char *label, const T &value) {
        values(label, &value, 1);
    }
    template <typename T> void values(const char *label, const T *first, size_t count) {
        add(label, first, count * sizeof(T), false);
    }
    void text(const char *label, const std::string &text);
    template <typename T> void buffer(const char *label, const Buffer<T> &buffer) {
        add(label, buffer.with_guards(), buffer.size_with_guards(), false);
    }
    void status(const char *label, const MPI_Status &status);
    void statuses(const char *label, const std::vector<Status> &all);

    // Outputs that may differ between executions, but not in a re-execution: a handle, a time.
    template <typename T> void choice(const char *label, const T &value) {
        choices(label, &value, 1);
    }
    template <typename T> void choices(const char *label, const T *first, size_t count) {
        add(label, first, count * sizeof(T), true);
    }

    // Return codes: any, and those without which the scenario makes no sense.
    void result(const char *call, int result);
    void succeed(const char *call, int result);

    void interrupt_after(size_t count) { limit_ = count; }
    size_t count() const { return all_.size(); }

    // Returns whether there is an output of a call of the function, or of its _c form.
    bool has_call_of(std::string function) const;

    // Returns the first `count` outputs.
    Outputs beginning(size_t count) const;

    // Returns a description of the first difference; empty if there is none.
    std::string difference(const Outputs &other, bool choices_too) const;

private:
    struct Output {
        std::string label;
        bool choice;
        std::vector<unsigned char> bytes;
    };

    void add(const char *label, const void *bytes, size_t size, bool choice);

    std::vector<Output> all_;
    size_t limit_ = static_cast<size_t>(-1);
};

} // namespace cd::scenarios
