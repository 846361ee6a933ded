// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "states.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace crash {
namespace {

constexpr uint64_t whole = UINT64_MAX;

Parts divide(const Disk &disk, uint64_t unit) {
    Parts parts;
    for (size_t i = 0; i < disk.unforced().size(); ++i) {
        const Change &change = disk.unforced()[i];
        if (change.kind != Change::Kind::write || unit == whole) {
            parts.push_back({i, 0, change.bytes != nullptr ? change.bytes->size() : 0});
            continue;
        }
        const uint64_t length = change.bytes->size();
        for (uint64_t begin = 0; begin < length;) {
            const uint64_t to_border = unit - (change.offset + begin) % unit;
            const uint64_t end = std::min(length, begin + to_border);
            parts.push_back({i, begin, end});
            begin = end;
        }
    }
    return parts;
}

class Choosing {
public:
    Choosing(const Disk &disk, size_t newest, const Effort &effort, Dice &dice,
             const std::function<bool(const Parts &)> &visit)
        : disk_(disk), newest_(newest), effort_(effort), dice_(dice), visit_(visit) {}

    // Returns whether all states were visited.
    bool run() {
        bool all = true;
        for (const uint64_t unit : {whole, uint64_t{4096}, sector}) {
            parts_ = divide(disk_, unit);
            chosen_.assign(parts_.size(), false);
            if (parts_.size() <= effort_.all_up_to) {
                all_subsets();
            } else {
                some_subsets();
                all = false;
            }
            if (stopped_) {
                return false;
            }
        }
        return all;
    }

private:
    void all_subsets() {
        const size_t subsets = size_t{1} << parts_.size();
        for (size_t subset = 0; subset < subsets && !stopped_; ++subset) {
            for (size_t i = 0; i < parts_.size(); ++i) {
                chosen_[i] = (subset >> i & 1U) != 0;
            }
            visit();
        }
    }

    void some_subsets() {
        if (effort_.single > 0) {
            fill(false);
            visit();
            fill(true);
            visit();
        }
        for (size_t i = 0; i < effort_.single && !stopped_; ++i) {
            const size_t at =
                effort_.single >= parts_.size() ? i % parts_.size() : dice_.below(parts_.size());
            fill(true);
            chosen_[at] = false;
            visit();
            fill(false);
            chosen_[at] = true;
            visit();
            std::fill_n(chosen_.begin(), at + 1, true);
            visit();
        }
        for (size_t i = 0; i < effort_.random && !stopped_; ++i) {
            const size_t likely = dice_.between(0, 8);
            for (size_t part = 0; part < parts_.size(); ++part) {
                chosen_[part] = dice_.below(8) < likely;
            }
            visit();
        }
    }

    void fill(bool value) { std::fill(chosen_.begin(), chosen_.end(), value); }

    void visit() {
        Parts taken;
        bool has_new = newest_ == 0;
        for (size_t i = 0; i < parts_.size(); ++i) {
            if (!chosen_[i]) {
                continue;
            }
            has_new |= parts_[i].change >= newest_;
            if (!taken.empty() && taken.back().change == parts_[i].change &&
                taken.back().end == parts_[i].begin) {
                taken.back().end = parts_[i].end;
            } else {
                taken.push_back(parts_[i]);
            }
        }
        if (has_new && !stopped_ && is_new(taken)) {
            stopped_ = !visit_(taken);
        }
    }

    bool is_new(const Parts &parts) {
        std::vector<std::tuple<size_t, uint64_t, uint64_t>> key;
        for (const Disk::Part &part : parts) {
            key.emplace_back(part.change, part.begin, part.end);
        }
        return seen_.insert(std::move(key)).second;
    }

    const Disk &disk_;
    size_t newest_;
    const Effort &effort_;
    Dice &dice_;
    const std::function<bool(const Parts &)> &visit_;
    Parts parts_;
    std::vector<bool> chosen_;
    std::set<std::vector<std::tuple<size_t, uint64_t, uint64_t>>> seen_;
    bool stopped_ = false;
};

} // namespace

bool for_each_crash(const Disk &disk, size_t newest, const Effort &effort, Dice &dice,
                    const std::function<bool(const Parts &)> &visit) {
    return Choosing(disk, newest, effort, dice, visit).run();
}

void for_each_kill(const Disk &disk, size_t newest,
                   const std::function<bool(const Parts &)> &visit) {
    Parts parts = divide(disk, whole);
    if (!visit(parts) || newest >= parts.size() ||
        disk.unforced()[newest].kind != Change::Kind::write) {
        return;
    }
    for (const uint64_t cut : {uint64_t{1}, sector, 3 * sector, uint64_t{4096},
                               parts.back().end / 2, parts.back().end - 1}) {
        Parts torn = parts;
        torn.back().end = cut;
        if (cut < parts.back().end && !visit(torn)) {
            return;
        }
    }
}

std::string describe(const Disk &disk, const Parts &parts) {
    std::string text;
    for (size_t i = 0; i < disk.unforced().size(); ++i) {
        const Change &change = disk.unforced()[i];
        text += "\n  ";
        switch (change.kind) {
        case Change::Kind::write:
            text += "write " + std::to_string(change.bytes->size()) + " at " +
                    std::to_string(change.offset);
            break;
        case Change::Kind::grow:
            text += "grow to " + std::to_string(change.size);
            break;
        case Change::Kind::cut:
            text += "cut to " + std::to_string(change.size);
            break;
        case Change::Kind::link:
            text += "link " + change.name;
            break;
        case Change::Kind::unlink:
            text += "unlink " + change.name;
            break;
        case Change::Kind::rename:
            text += "rename " + change.name + " to " + change.to;
            break;
        }
        text += " (inode " + std::to_string(change.inode) + "):";
        for (const Disk::Part &part : parts) {
            if (part.change == i) {
                text +=
                    change.kind == Change::Kind::write
                        ? " [" + std::to_string(part.begin) + "," + std::to_string(part.end) + ")"
                        : " done";
            }
        }
    }
    return text;
}

} // namespace crash
