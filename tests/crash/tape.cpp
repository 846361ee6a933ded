// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "tape.h"

namespace crash {

void happen(const Event &event, Disk &disk) {
    switch (event.kind) {
    case Event::Kind::inode:
        disk.add_inode(event.directory, event.inode);
        break;
    case Event::Kind::change:
        disk.make(event.change);
        break;
    case Event::Kind::force:
        disk.force(event.inode);
        break;
    case Event::Kind::fail_to_force:
        disk.fail_to_force(event.inode);
        break;
    case Event::Kind::begin:
    case Event::Kind::end:
        break;
    }
}

} // namespace crash
