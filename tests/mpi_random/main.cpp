// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Random programs: each is run undisturbed, and once more with CDs and failures.
//   cd_mpi_random [--seed N] [--programs N] [--print 1]
#include "random.h"
#include "state.h"

#include "cd/cd.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <unistd.h>
#include <vector>

namespace {

int rank = 0;
uint64_t seed = 0;
bool printing = false;

// Says which program it was, and ends the job.
[[noreturn]] void fail(const char *what, int where) {
    std::fprintf(stderr, "rank %d: %s (at %d; %s)\nto repeat: --seed %llu --programs 1\n", rank,
                 what, where, cd_last_error_message(), static_cast<unsigned long long>(seed));
    std::fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, 1);
    _exit(1);
}

void fail_in_mpi(MPI_Comm *, int *error, ...) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(*error, text, &length);
    fail(text, -1);
}

void takes_too_long(int) {
    char text[128];
    const int length = std::snprintf(
        text, sizeof text, "rank %d: takes too long\nto repeat: --seed %llu --programs 1\n", rank,
        static_cast<unsigned long long>(seed));
    if (write(STDERR_FILENO, text, static_cast<size_t>(length)) < 0) {
        _exit(2);
    }
    std::abort();
}

struct Outcome {
    std::vector<uint64_t> hashes; // of the steps
    uint64_t hash = 0;            // of the state at the end
};

class Program {
public:
    explicit Program(uint64_t its_seed)
        : steps_(plan_of(its_seed)), state_(std::make_unique<State>()) {
        operations_ = operations_of(its_seed, rank, static_cast<int>(steps_.size()));
    }

    Outcome undisturbed() {
        begin();
        Outcome outcome;
        for (int i = 0; i < static_cast<int>(steps_.size()); ++i) {
            outcome.hashes.push_back(step(i, [](const Received &) {}).in_any_order);
        }
        outcome.hash = state_->hash;
        end();
        return outcome;
    }

    // Has to come to the same.
    void disturbed(const Outcome &expected) {
        begin();
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
                if (received.in_any_order != expected.hashes[static_cast<size_t>(operation.step)]) {
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
                if (commit_cd(cds_.back().handle) != SUCCESS) {
                    fail("commit_cd", here);
                }
                cds_.pop_back();
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
            if (printing) {
                std::fprintf(stderr, "rank %d: %d: %s %d%s\n", rank, here, name_of(operation),
                             operation.kind == Operation::Kind::fail ? operation.level
                                                                     : operation.step,
                             at <= here ? " restored" : "");
            }
        }
        if (state_->hash != expected.hash) {
            fail("ended in another state", at);
        }
        end();
    }

private:
    struct Domain {
        cd_handle handle;
        int begin; // where a restore goes on
    };

    const char *name_of(const Operation &operation) const {
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
                                            "free_window"};
        return operation.kind == Operation::Kind::step
                   ? kinds[static_cast<int>(steps_[static_cast<size_t>(operation.step)].kind)]
                   : operations[static_cast<int>(operation.kind)];
    }

    // Nobody is in the run before any more, which has the same tags.
    void begin() {
        MPI_Barrier(MPI_COMM_WORLD);
        std::memset(state_.get(), 0, sizeof(State));
        state_->comms[0] = MPI_COMM_WORLD;
    }

    // What the steps leave to MPI.
    void end() {
        if (state_->key != 0) {
            void *value = nullptr;
            int present = 0;
            MPI_Comm_get_attr(MPI_COMM_WORLD, state_->key, &value, &present);
            if (present != 0) {
                MPI_Comm_delete_attr(MPI_COMM_WORLD, state_->key);
            }
            MPI_Comm_free_keyval(&state_->key);
        }
    }

    Received step(int number, const Between &between) {
        const Received received =
            do_step(steps_[static_cast<size_t>(number)], number, *state_, between);
        state_->hash = mix(state_->hash, received.in_any_order);
        return received;
    }

    // Nothing if it fails in its midst, where a CD has been restored.
    std::optional<Received> try_step(const Operation &operation, bool fails) {
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

    void keep(cd_handle cd) {
        const cd_addrspec all = {state_.get(), sizeof(State), READ_WRITE, GLOBAL};
        if (add_to_cd_via_copy(cd, all, 1) != SUCCESS) {
            fail("add_to_cd_via_copy", 0);
        }
    }

    void open(int next) {
        const bool root = cds_.empty();
        const cd_handle cd = create_cd(root ? nullptr : cds_.back().handle, nullptr,
                                       root ? MPI_LOGGING_ENABLED : MPI_LOGGING_INHERIT,
                                       root ? "random" : nullptr, nullptr);
        if (cd == nullptr) {
            fail("create_cd", next);
        }
        cds_.push_back({cd, next});
        keep(cd);
    }

    void advance(int next) {
        Domain &domain = cds_.back();
        if (advance_cd_point_in_time(domain.handle) != SUCCESS) {
            fail("advance_cd_point_in_time", next);
        }
        domain.begin = next;
        keep(domain.handle);
    }

    // All is lost that may be.
    void restore(int level) {
        destroy();
        if (restore_cd(cds_[static_cast<size_t>(level)].handle) != SUCCESS) {
            fail("restore_cd", level);
        }
        cds_.resize(static_cast<size_t>(level) + 1);
    }

    // What MPI is about to fill cannot be brought back by anybody.
    void destroy() {
        state_->hash = 0x5555555555555555;
        for (MPI_Comm &comm : state_->comms) {
            std::memset(&comm, 0x55, sizeof comm);
        }
        for (SlotState &slot : state_->slots) {
            if (!slot.protect) {
                std::memset(&slot, 0x55, sizeof slot);
            }
        }
    }

    std::vector<Step> steps_;
    std::vector<Operation> operations_;
    std::unique_ptr<State> state_;
    std::vector<Domain> cds_;
    std::vector<std::vector<uint64_t>> received_between_; // by step, at each point
};

int argument(int argc, char **argv, const char *name, int otherwise) {
    for (int i = 1; i + 1 < argc; ++i) {
        if (std::strcmp(argv[i], name) == 0) {
            return std::atoi(argv[i + 1]);
        }
    }
    return otherwise;
}

} // namespace

int main(int argc, char **argv) {
    const int first = argument(argc, argv, "--seed", 1);
    const int programs = argument(argc, argv, "--programs", 100);
    printing = argument(argc, argv, "--print", 0) != 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Comm_create_errhandler(fail_in_mpi, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    std::vector<char> buffer(1 << 20);
    MPI_Buffer_attach(buffer.data(), static_cast<int>(buffer.size()));
    std::signal(SIGALRM, takes_too_long);

    for (int i = 0; i < programs; ++i) {
        seed = static_cast<uint64_t>(first + i);
        alarm(30);
        Program program(seed);
        const Outcome expected = program.undisturbed();
        program.disturbed(expected);
    }
    alarm(0);
    if (rank == 0) {
        std::printf("%d programs from seed %d\n", programs, first);
    }
    void *detached = nullptr;
    int size = 0;
    MPI_Buffer_detach(&detached, &size);
    MPI_Errhandler_free(&handler);
    MPI_Finalize();
    return 0;
}
