// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Messages that are under way from one step to another, in memory that CDs preserve.
#include "steps.h"

#include "cd/cd.h"
#include "cd/mpi_log.h"

namespace {

// A message from one rank to another; the others have nothing to do.
SlotState &prepare(Part &part) {
    SlotState &slot = part.state.slots[part.step.slot];
    const int from = part.common.below(part.size);
    const int to = part.common.below(part.size);
    slot.use = SlotState::Use::none;
    slot.request = MPI_REQUEST_NULL;
    slot.protect = false;
    slot.tag = part.tag(0);
    slot.count = some_count(part.common);
    if (from == to) {
        return slot;
    }
    if (part.rank == from) {
        slot.use = SlotState::Use::send;
        slot.peer = to;
    } else if (part.rank == to) {
        slot.use = SlotState::Use::receive;
        slot.peer = part.common.percent(30) ? MPI_ANY_SOURCE : from;
    }
    return slot;
}

// A send that no CD logs goes out from here; what MPI receives has no other place.
void protect(SlotState &slot) {
    slot.protect = slot.use != SlotState::Use::send || cd_log_mode() == CD_LOG_OFF;
}

void take(Part &part, SlotState &slot, const MPI_Status &status) {
    slot.protect = false;
    if (slot.use == SlotState::Use::receive || slot.use == SlotState::Use::late_receive) {
        part.received.in_any_order =
            mix(mix(part.received.in_any_order, hash_of(slot.data, slot.count)),
                hash_of(status, MPI_INT));
    } else if (slot.use == SlotState::Use::collective) {
        part.received.in_any_order =
            mix(part.received.in_any_order, hash_of(slot.data, slot.count));
    }
}

} // namespace

void start(Part &part) {
    SlotState &slot = prepare(part);
    const bool late = part.common.percent(30);
    const uint64_t seed = part.common.next();
    if (slot.use == SlotState::Use::send) {
        fill(slot.data, slot.count, seed, part.state);
        part.own.percent(50) ? MPI_Isend(slot.data, slot.count, MPI_INT, slot.peer, slot.tag,
                                         part.comm, &slot.request)
                             : MPI_Issend(slot.data, slot.count, MPI_INT, slot.peer, slot.tag,
                                          part.comm, &slot.request);
        protect(slot);
    } else if (slot.use == SlotState::Use::receive && late) {
        slot.use = SlotState::Use::late_receive;
    } else if (slot.use == SlotState::Use::receive) {
        MPI_Irecv(slot.data, slot.count, MPI_INT, slot.peer, slot.tag, part.comm, &slot.request);
        protect(slot);
    }
}

void start_collective(Part &part) {
    SlotState &slot = part.state.slots[part.step.slot];
    slot.use = SlotState::Use::collective;
    slot.count = 1 + part.common.below(100);
    slot.request = MPI_REQUEST_NULL;
    const int root = part.common.below(part.size);
    fill(slot.data, slot.count, part.common.next(), part.state);
    int *more = slot.data + slot.count;
    switch (part.common.below(5)) {
    case 0:
        MPI_Ibarrier(part.comm, &slot.request);
        break;
    case 1:
        MPI_Ibcast(slot.data, slot.count, MPI_INT, root, part.comm, &slot.request);
        break;
    case 2:
        MPI_Iallreduce(MPI_IN_PLACE, slot.data, slot.count, MPI_INT, MPI_BXOR, part.comm,
                       &slot.request);
        break;
    case 3:
        MPI_Iallgather(slot.data, slot.count, MPI_INT, more, slot.count, MPI_INT, part.comm,
                       &slot.request);
        slot.count *= 1 + part.size;
        break;
    default:
        MPI_Iscan(slot.data, more, slot.count, MPI_INT, MPI_BXOR, part.comm, &slot.request);
        slot.count *= 2;
        break;
    }
    protect(slot);
}

void init(Part &part) {
    SlotState &slot = prepare(part);
    if (slot.use == SlotState::Use::send) {
        MPI_Send_init(slot.data, slot.count, MPI_INT, slot.peer, slot.tag, part.comm,
                      &slot.request);
    } else if (slot.use == SlotState::Use::receive) {
        MPI_Recv_init(slot.data, slot.count, MPI_INT, slot.peer, slot.tag, part.comm,
                      &slot.request);
    }
}

void start_again(Part &part) {
    SlotState &slot = part.state.slots[part.step.slot];
    const uint64_t seed = part.common.next();
    if (slot.use == SlotState::Use::send) {
        fill(slot.data, slot.count, seed, part.state);
    }
    if (slot.use != SlotState::Use::none) {
        MPI_Start(&slot.request);
        protect(slot);
    }
}

void finish(Part &part) {
    std::vector<SlotState *> under_way;
    std::vector<MPI_Request> requests;
    for (int i = 0; i < slots; ++i) {
        SlotState &slot = part.state.slots[i];
        if ((part.step.mask >> i & 1) == 0) {
            continue;
        }
        if (slot.use == SlotState::Use::late_receive) {
            MPI_Status status = {};
            MPI_Recv(slot.data, slot.count, MPI_INT, slot.peer, slot.tag, part.state.comms[0],
                     &status);
            take(part, slot, status);
            part.pause();
        } else if (slot.request != MPI_REQUEST_NULL) {
            under_way.push_back(&slot);
            requests.push_back(slot.request);
        }
    }
    std::vector<MPI_Status> statuses;
    complete(part, requests, statuses);
    for (size_t i = 0; i < requests.size(); ++i) {
        under_way[i]->request = requests[i];
        take(part, *under_way[i], statuses[i]);
        part.pause();
    }
}

void free_persistent(Part &part) {
    SlotState &slot = part.state.slots[part.step.slot];
    if (slot.use != SlotState::Use::none) {
        MPI_Request_free(&slot.request);
    }
}
