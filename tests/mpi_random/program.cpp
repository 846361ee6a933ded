// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "program.h"

#include "random.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <utility>

Outcome Program::undisturbed() {
    begin();
    Outcome outcome;
    for (int i = 0; i < static_cast<int>(steps_.size()); ++i) {
        outcome.hashes.push_back(step(i, [](const Received &) {}).in_any_order);
    }
    outcome.hash = state_.hash;
    end();
    return outcome;
}

Outcome Program::disturbed(const Outcome *expected, cd_handle inside) {
    begin();
    if (inside != nullptr) {
        enter(inside, 0);
    }
    std::vector<std::unique_ptr<Received>> before(steps_.size());
    received_between_.assign(steps_.size(), {});
    std::map<int, int> visits;
    int at = 0;
    while (at < static_cast<int>(operations_.size())) {
        const Operation &operation = operations_[static_cast<size_t>(at)];
        const int here = at++;
        switch (operation.kind) {
        case Operation::Kind::step: {
            const bool fails = operation.point > 0 && ++visits[here] == operation.visit;
            const std::optional<Received> done = try_step(operation, fails);
            if (!done) {
                at = cds_.back().begin;
                break;
            }
            const Received received = *done;
            std::unique_ptr<Received> &first = before[static_cast<size_t>(operation.step)];
            if (expected != nullptr &&
                received.in_any_order != expected->hashes[static_cast<size_t>(operation.step)]) {
                fail("received something else than in the undisturbed run", operation.step);
            }
            if (first != nullptr && (first->in_this_order != received.in_this_order ||
                                     first->in_any_order != received.in_any_order)) {
                fail("received something else in the re-execution", operation.step);
            }
            first = std::make_unique<Received>(received);
            break;
        }
        case Operation::Kind::open:
            open(at);
            break;
        case Operation::Kind::close:
            close(here);
            break;
        case Operation::Kind::advance:
            advance(at);
            break;
        case Operation::Kind::fail:
            if (++visits[here] == operation.visit) {
                restore(operation.level);
                at = cds_.back().begin;
            }
            break;
        }
        if (prints_as_rank >= 0) {
            std::fprintf(stderr, "rank %d: %d: %s %d%s\n", prints_as_rank, here, name_of(operation),
                         operation.kind == Operation::Kind::fail ? operation.level : operation.step,
                         at <= here ? " restored" : "");
        }
    }
    if (expected != nullptr && state_.hash != expected->hash) {
        fail("ended in another state", at);
    }
    if (inside != nullptr) {
        close(at);
    }
    Outcome outcome;
    outcome.hash = state_.hash;
    for (const std::unique_ptr<Received> &received : before) {
        outcome.order = mix(outcome.order, received->in_this_order);
    }
    end();
    return outcome;
}

const char *Program::name_of(const Operation &operation) const {
    static const char *const operations[] = {"step", "open", "close", "advance", "fail"};
    static const char *const kinds[] = {"batch",
                                        "any_source",
                                        "collective",
                                        "exchange",
                                        "start",
                                        "start_collective",
                                        "init",
                                        "start_again",
                                        "finish",
                                        "free_persistent",
                                        "make_comm",
                                        "free_comm",
                                        "look_at_clock",
                                        "use_objects",
                                        "change_attribute",
                                        "make_window",
                                        "use_window",
                                        "free_window",
                                        "run_siblings"};
    return operation.kind == Operation::Kind::step
               ? kinds[static_cast<int>(steps_[static_cast<size_t>(operation.step)].kind)]
               : operations[static_cast<int>(operation.kind)];
}

void Program::begin() {
    std::memset(&state_, 0, sizeof(State));
    state_.comms[0] = comm_;
}

// Frees the objects of MPI that the steps have left.
void Program::end() {
    if (state_.key != 0) {
        void *value = nullptr;
        int present = 0;
        MPI_Comm_get_attr(comm_, state_.key, &value, &present);
        if (present != 0) {
            MPI_Comm_delete_attr(comm_, state_.key);
        }
        MPI_Comm_free_keyval(&state_.key);
    }
}

Received Program::step(int number, const Between &between) {
    const Received received = do_step(steps_[static_cast<size_t>(number)], number, state_, between);
    state_.hash = mix(state_.hash, received.in_any_order);
    return received;
}

// Nothing if it fails in its midst, where a CD has been restored.
std::optional<Received> Program::try_step(const Operation &operation, bool fails) {
    struct Restored {};
    std::vector<uint64_t> &before = received_between_[static_cast<size_t>(operation.step)];
    size_t points = 0;
    try {
        return step(operation.step, [&](const Received &received) {
            const uint64_t now = mix(received.in_this_order, received.in_any_order);
            if (points < before.size() && before[points] != now) {
                fail("received something else before it failed", operation.step);
            }
            before.resize(std::max(before.size(), points + 1), now);
            if (++points == static_cast<size_t>(operation.point) && fails) {
                restore(operation.level);
                throw Restored();
            }
        });
    } catch (const Restored &) {
        return std::nullopt;
    }
}

void Program::keep(cd_handle cd) {
    const cd_addrspec all = {&state_, sizeof(State), READ_WRITE, GLOBAL};
    if (add_to_cd_via_copy(cd, all, 1) != SUCCESS) {
        fail("add_to_cd_via_copy", 0);
    }
}

void Program::open(int next) {
    const bool root = cds_.empty();
    const cd_handle cd = create_cd(root ? nullptr : cds_.back().handle, nullptr,
                                   root ? MPI_LOGGING_ENABLED : MPI_LOGGING_INHERIT,
                                   root ? "random" : nullptr, nullptr);
    if (cd == nullptr) {
        fail("create_cd", next);
    }
    enter(cd, next);
}

void Program::enter(cd_handle cd, int next) {
    cds_.push_back({cd, next});
    state_.domain = cd;
    keep(cd);
}

void Program::close(int here) {
    if (commit_cd(cds_.back().handle) != SUCCESS) {
        fail("commit_cd", here);
    }
    cds_.pop_back();
    state_.domain = cds_.empty() ? nullptr : cds_.back().handle;
}

void Program::advance(int next) {
    Domain &domain = cds_.back();
    if (advance_cd_point_in_time(domain.handle) != SUCCESS) {
        fail("advance_cd_point_in_time", next);
    }
    domain.begin = next;
    keep(domain.handle);
}

// All is lost that may be.
void Program::restore(int level) {
    destroy();
    if (restore_cd(cds_[static_cast<size_t>(level)].handle) != SUCCESS) {
        fail("restore_cd", level);
    }
    cds_.resize(static_cast<size_t>(level) + 1);
}

// A restore cannot bring back memory that MPI is about to fill.
void Program::destroy() {
    state_.hash = 0x5555555555555555;
    for (MPI_Comm &comm : state_.comms) {
        std::memset(&comm, 0x55, sizeof comm);
    }
    for (SlotState &slot : state_.slots) {
        if (!slot.protect) {
            std::memset(&slot, 0x55, sizeof slot);
        }
    }
}
