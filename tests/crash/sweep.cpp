// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "sweep.h"

namespace crash {

std::string Sweep::run(const Recording &recording) {
    Disk disk = recording.start;
    wrong_.clear();
    ended_ = false;
    bool looked = false;
    for (event_ = 0; event_ < recording.tape.size(); ++event_) {
        const Event &event = recording.tape[event_];
        happen(event, disk);
        bool go_on = true;
        switch (event.kind) {
        case Event::Kind::begin:
            now_ = {event.step, false, 0};
            break;
        case Event::Kind::end:
            now_ = {event.step, true, 0};
            go_on = look(recording, disk, 0);
            break;
        case Event::Kind::change:
            go_on = look(recording, disk, disk.unforced().size() - 1);
            break;
        case Event::Kind::force:
        case Event::Kind::fail_to_force:
            go_on = look(recording, disk, 0);
            break;
        case Event::Kind::inode:
            break;
        }
        looked = true;
        if (!go_on) {
            return wrong_;
        }
    }
    return looked ? "" : "nothing happened";
}

bool Sweep::look(const Recording &recording, const Disk &disk, size_t newest) {
    const auto visit = [&](const Parts &parts) { return look_at(recording, disk, parts); };
    if (kind_.forced) {
        if (!for_each_crash(disk, newest, effort_, dice_, visit)) {
            last_sampled_step_ = now_.step;
        }
    } else {
        for_each_kill(disk, newest, visit);
    }
    return wrong_.empty() && !ended_;
}

bool Sweep::look_at(const Recording &recording, const Disk &disk, const Parts &parts) {
    const Expectation &step = recording.steps[now_.step];
    const std::vector<Stored> &allowed = now_.over ? step.after : step.during;
    ++states_;
    const std::string wrong = judge(disk.after_crash(parts), kind_, allowed, now_.match);
    if (!wrong.empty()) {
        wrong_ = "event " + std::to_string(event_) + ", " + (now_.over ? "after" : "during") +
                 " step " + std::to_string(now_.step) + " (" + step.what +
                 "), of what was not forced" + describe(disk, parts) + "\nfound: " + wrong;
        return false;
    }
    ended_ = go_on_ && go_on_(disk, parts, now_);
    return !ended_;
}

} // namespace crash
