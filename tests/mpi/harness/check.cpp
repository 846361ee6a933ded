// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "harness/check.h"

#include "harness/arena.h"
#include "harness/live.h"
#include "harness/recorded.h"
#include "harness/table.h"

#include "cd/cd.h"

#include <cstdio>

namespace cd::scenarios {
namespace {

constexpr bool choices_too = true;

class Checker {
public:
    Checker(const Scenario &scenario, const std::string &file, int turn)
        : scenario_(scenario), file_(file) {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        MPI_Comm_size(MPI_COMM_WORLD, &size_);
        chosen_ = turn % size_;
    }

    int check() {
        try {
            check_all();
        } catch (const Failure &failure) {
            report(failure.what());
            MPI_Abort(MPI_COMM_WORLD, 1); // the others wait for this rank
        }
        return failures_;
    }

private:
    void check_all() {
        way_ = "without a CD";
        undisturbed_ = execution(Place::here);
        talk_live();
        root_ = create_cd(nullptr, nullptr, COMM_LOGGING_ENABLED, scenario_.name.c_str(), nullptr);
        demand(root_ != nullptr);
        if (scenario_.refuses.empty()) {
            check_replay();
        } else {
            way("refused", [&] { execution_like_undisturbed(); });
        }
        demand(commit_cd(root_) == CD_SUCCESS);
        check_claims();
    }

    void check_claims() {
        for (const std::string &name : recorded_nowhere(scenario_.proves, recorded_)) {
            const Row *const row = row_of(name);
            if (row == nullptr || !row->leaves_no_entry()) {
                report("claims to prove " + name + ", which is in no rank's log");
            } else if (!undisturbed_.has_call_of(name)) {
                report("claims to prove " + name + ", of which it has no output");
            }
        }
    }

    void check_replay() {
        way("all ranks restored", [&] {
            const Outputs first = execution_like_undisturbed();
            recorded_ = functions_in_log(root_);
            restore_and_repeat(root_, first, Place::here);
        });
        for (int rank = 0; rank < size_; ++rank) {
            way_alone("the root restored", rank, [&](bool fails) {
                const Outputs first = execution_like_undisturbed();
                if (fails) {
                    restore_and_repeat(root_, first,
                                       rank == chosen_ ? Place::elsewhere : Place::here);
                }
            });
        }
        way("all ranks restored half way", [&] { restore_half_way(true); });
        way_alone("restored half way", chosen_, [&](bool fails) { restore_half_way(fails); });
        for (size_t quarter = 1; quarter <= 3; ++quarter) {
            way_alone("failing on the way", (chosen_ + static_cast<int>(quarter)) % size_,
                      [&](bool fails) { fail_on_the_way(fails, quarter); });
        }
        way_alone("the root restored after a child's commit", chosen_, [&](bool fails) {
            const Outputs first = execution_in_child();
            if (fails) {
                demand(restore_cd(root_) == CD_SUCCESS);
                expect_same(first, execution_in_child());
                expect_used_up();
            }
        });
        way_alone("a child restored", chosen_, [&](bool fails) {
            const cd_handle child = begin_child();
            const Outputs first = execution_like_undisturbed();
            if (fails) {
                restore_and_repeat(child, first, Place::elsewhere);
            }
            demand(commit_cd(child) == CD_SUCCESS);
        });
    }

    // After each way of failing MPI is alive, and the log begins anew.
    void way(const std::string &name, const std::function<void()> &fail) {
        way_ = name;
        fail();
        talk_live();
        demand(advance_cd_point_in_time(root_) == CD_SUCCESS);
    }

    void way_alone(const std::string &name, int rank, const std::function<void(bool)> &fail) {
        way("rank " + std::to_string(rank) + " alone, " + name, [&] { fail(rank == rank_); });
    }

    void restore_and_repeat(cd_handle cd, const Outputs &first, Place place) {
        demand(restore_cd(cd) == CD_SUCCESS);
        expect_same(first, execution(place));
        expect_used_up();
    }

    void restore_half_way(bool fails) {
        const Outputs first = execution_like_undisturbed();
        if (!fails) {
            return;
        }
        for (const size_t limit : {first.count() / 3, 2 * first.count() / 3, size_t{0}}) {
            demand(restore_cd(root_) == CD_SUCCESS);
            execution(limit % 2 == 0 ? Place::elsewhere : Place::here, limit);
        }
        restore_and_repeat(root_, first, Place::here);
    }

    // The re-execution begins with the log, and goes on live.
    void fail_on_the_way(bool fails, size_t quarter) {
        if (!fails) {
            execution_like_undisturbed();
            return;
        }
        const Outputs before = execution(Place::here, quarter * undisturbed_.count() / 4);
        demand(restore_cd(root_) == CD_SUCCESS);
        const Outputs after = execution_like_undisturbed();
        expect_same(before, after.beginning(before.count()));
    }

    cd_handle begin_child() {
        const cd_handle child = create_cd(root_, nullptr, COMM_LOGGING_INHERIT, nullptr, nullptr);
        demand(child != nullptr);
        return child;
    }

    Outputs execution_in_child() {
        const cd_handle child = begin_child();
        Outputs outputs = execution_like_undisturbed();
        demand(commit_cd(child) == CD_SUCCESS);
        return outputs;
    }

    Outputs execution(Place place, size_t limit = static_cast<size_t>(-1)) {
        begin_arena(scenario_.buffers_stay ? Place::here : place);
        Outputs outputs;
        outputs.interrupt_after(limit);
        Run run{outputs, rank_, size_, file_};
        try {
            scenario_.run(run);
        } catch (const Interruption &) {
        }
        return outputs;
    }

    Outputs execution_like_undisturbed() {
        Outputs outputs = execution(Place::here);
        report_difference("recording changes", undisturbed_.difference(outputs, !choices_too));
        return outputs;
    }

    void expect_same(const Outputs &first, const Outputs &second) {
        report_difference("the re-execution changes", first.difference(second, choices_too));
    }

    void expect_used_up() {
        cd_info info = {};
        demand(cd_query(root_, &info) == CD_SUCCESS);
        if (info.log_remaining != 0) {
            report(std::to_string(info.log_remaining) + " entries are left in the log");
        }
    }

    void report_difference(const char *what, const std::string &difference) {
        if (!difference.empty()) {
            report(what + (" " + difference));
        }
    }

    void report(const std::string &what) {
        ++failures_;
        std::fprintf(stderr, "rank %d: %s.%s, %s: %s\n", rank_, scenario_.family.c_str(),
                     scenario_.name.c_str(), way_.c_str(), what.c_str());
    }

    static void demand(bool succeeded) {
        if (!succeeded) {
            throw Failure(cd_last_error_message());
        }
    }

    const Scenario &scenario_;
    const std::string file_;
    int rank_ = 0;
    int size_ = 1;
    int chosen_ = 0;
    int failures_ = 0;
    std::string way_;
    cd_handle root_ = nullptr;
    Outputs undisturbed_;
    std::map<std::string, int> recorded_;
};

} // namespace

int check(const Scenario &scenario, const std::string &file, int turn) {
    return Checker(scenario, file, turn).check();
}

} // namespace cd::scenarios
