// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "disk_system.h"
#include "process.h"
#include "recording.h"
#include "sweep.h"
#include "truth.h"

#include <optional>
#include <string>
#include <vector>

namespace crash {

// A process from its start to its end, recorded.
class Life {
public:
    // truth: what the store holds at the start. maybe: what it may hold too, because the process
    // before was killed before it had forced what it wrote.
    Life(const StoreKind &kind, const Disk &start, const Truth &truth,
         std::vector<Stored> maybe = {});

    // How it begins: with a new root, with the one that is stored, restored, or with a new one in
    // the place of the one that is stored. "" or what is wrong.
    std::string begin_anew();
    std::string begin_restarted();
    std::string begin_afresh();
    // With an older point in time, counted from the oldest.
    std::string begin_at(size_t version);

    // A step that has to succeed. "" or what is wrong.
    std::string take(const model::Step &step);

    const Truth &truth() const { return truth_; }
    DiskSystem &system() { return system_; }
    // The process goes on after another system was installed.
    void resume() { cd::os::replace_system(&system_); }

    // Ends the process.
    const Recording &end();
    const Disk &disk() const { return disk_; }

    // Returns whether truth_of() knows what was found.
    bool knows(const Found &found) const;
    Truth truth_of(const Found &found) const;

private:
    enum class First { is_empty, restarts, goes_back };

    std::string begin_empty(const char *what);
    void mark(Event::Kind kind);
    std::string record(const model::Step &step, Expectation expectation);

    StoreKind kind_;
    Recording recording_;
    Disk disk_;
    DiskSystem system_;
    Truth start_;
    Truth truth_;
    std::vector<model::Step> taken_; // as many as recorded
    First first_ = First::is_empty;
    std::optional<Process> process_;
};

} // namespace crash
