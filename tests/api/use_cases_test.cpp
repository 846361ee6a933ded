// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "fixture.h"

#include <csignal>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

// The use cases of the seed document, written as it writes them.
namespace {

using UseCases = CdTest;

// "Simple API Use Example": state of a GPU, updated every N_CD steps of an inner loop.
class SimpleLoop {
public:
    // fails(i, j): whether the kernel fails there. It is asked once per run of the kernel.
    template <typename Fails> int run(Fails fails) {
        constexpr int n_cd = 10;
        int error;
        int i = 1, j = 1;
        cd_addrspec as[4] = {
            {&gpu_state_, sizeof(gpu_state_), READ_WRITE, GLOBAL},
            {&node_copy_of_result_, sizeof(node_copy_of_result_), READ_WRITE, GLOBAL},
            {&i, sizeof(i), READ_WRITE, GLOBAL},
            {&j, sizeof(j), READ_WRITE, GLOBAL}};
        cd_handle cd = create_cd(nullptr, nullptr, COMM_LOGGING_ENABLED, "root", &error);
        for (i = 1; i <= 20; ++i) {
            EXPECT_TRUE(succeeds(add_to_cd_via_copy(cd, as, 4)));
            error = 0;
            for (j = 1; j <= n_cd; ++j) {
                ++kernels_run_;
                gpu_state_ = gpu_state_ * 31 + static_cast<unsigned>(i * 100 + j);
                error = fails(i, j);
                if (error) {
                    gpu_state_ = 0xDEAD; // the reboot
                    EXPECT_TRUE(succeeds(restore_cd(cd)));
                    break;
                }
                node_copy_of_result_ = gpu_state_;
            }
            if (!error && advance_cd_point_in_time(cd) == FAILURE) {
                restore_cd(cd);
            }
        }
        EXPECT_TRUE(succeeds(commit_cd(cd)));
        return kernels_run_;
    }

    unsigned result() const { return node_copy_of_result_; }

private:
    unsigned gpu_state_ = 1;
    unsigned node_copy_of_result_ = 0;
    int kernels_run_ = 0;
};

TEST_F(UseCases, SimpleLoopGivesTheUndisturbedResultAfterAFailure) {
    SimpleLoop undisturbed;
    EXPECT_EQ(undisturbed.run([](int, int) { return 0; }), 200);

    SimpleLoop disturbed;
    bool failed = false;
    const int kernels = disturbed.run([&](int i, int j) {
        const bool now = !failed && i == 7 && j == 4;
        failed = failed || now;
        return now ? 1 : 0;
    });
    EXPECT_EQ(disturbed.result(), undisturbed.result());
    EXPECT_EQ(kernels, 204) << "only the inner loop that failed is run again";
}

TEST_F(UseCases, SimpleLoopSurvivesAFailureInEveryOuterStep) {
    SimpleLoop undisturbed;
    undisturbed.run([](int, int) { return 0; });

    SimpleLoop disturbed;
    int failed_at = 1;
    disturbed.run([&](int i, int j) {
        if (i <= failed_at || j != 10)
            return 0;
        failed_at = i;
        return 1;
    });
    EXPECT_EQ(failed_at, 20);
    EXPECT_EQ(disturbed.result(), undisturbed.result());
}

// "One CD used to recover from a transient CPU failure".
TEST_F(UseCases, OneCdRecoversFromATransientCpuFailure) {
    int data = 0, done = 0, compute_done = 0, error;
    int computations = 0;
    const auto compute = [&] {
        data += 1;
        if (++computations % 3 == 0) {
            data = -1000; // the transient failure leaves garbage
            return 1;
        }
        compute_done = data == 10;
        return 0;
    };
    cd_addrspec addrlist[2] = {{&data, sizeof(data), READ_WRITE, GLOBAL},
                               {&compute_done, sizeof(compute_done), READ_WRITE, GLOBAL}};
    cd_handle cd = create_cd(nullptr, nullptr, COMM_LOGGING_DISABLED, "root", &error);
    while (!done) {
        ASSERT_TRUE(succeeds(add_to_cd_via_copy(cd, addrlist, 2)));
        if (compute()) {
            ASSERT_TRUE(succeeds(restore_cd(cd)));
        } else if (compute_done) {
            done = 1;
        } else {
            ASSERT_TRUE(succeeds(advance_cd_point_in_time(cd)));
        }
    }
    EXPECT_TRUE(succeeds(commit_cd(cd)));
    EXPECT_EQ(data, 10);
    EXPECT_EQ(computations, 14) << "10 good ones and each third one failed";
}

// "STATIC 1: Child CD stores changed data which is not used during a commit/restore." Up to time
// T4.
class Static1 : public CdTest {
protected:
    void SetUp() override {
        CdTest::SetUp();
        root = make_root(COMM_LOGGING_ENABLED);
        cd_a = make_child(root);
        cd_addrspec addrlist[1] = {{&x, sizeof(x), READ_WRITE, GLOBAL}};
        ASSERT_TRUE(succeeds(add_to_cd_via_copy(cd_a, addrlist, 1)));
        x += 1;
        cd_b = make_child(cd_a);
        ASSERT_TRUE(succeeds(add_to_cd_via_copy(cd_b, addrlist, 1)));
        x += 1;
    }

    int x = 0;
    cd_handle root, cd_a, cd_b;
};

TEST_F(Static1, Normal) {
    EXPECT_EQ(x, 2);
    EXPECT_EQ(info_of(cd_b).bytes, sizeof x);
    EXPECT_EQ(info_of(cd_a).bytes, sizeof x);
}

TEST_F(Static1, RestoreOfBGivesOneAndKeepsBoth) {
    ASSERT_TRUE(succeeds(restore_cd(cd_b)));
    EXPECT_EQ(x, 1);
    x = 7;
    ASSERT_TRUE(succeeds(restore_cd(cd_b)));
    EXPECT_EQ(x, 1) << "CD_B still contains 1";
    ASSERT_TRUE(succeeds(restore_cd(cd_a)));
    EXPECT_EQ(x, 0) << "CD_A still contains 0";
}

TEST_F(Static1, RestoreOfAGivesZeroAndDiscardsB) {
    ASSERT_TRUE(succeeds(restore_cd(cd_a)));
    EXPECT_EQ(x, 0) << "parent wins";
    EXPECT_TRUE(is_gone(cd_b));
    x = 7;
    ASSERT_TRUE(succeeds(restore_cd(cd_a)));
    EXPECT_EQ(x, 0) << "CD_A still contains 0";
}

TEST_F(Static1, CommitOfBLeavesMemoryAloneAndAKeepsZero) {
    ASSERT_TRUE(succeeds(commit_cd(cd_b)));
    EXPECT_EQ(x, 2);
    EXPECT_TRUE(is_gone(cd_b));
    ASSERT_TRUE(succeeds(restore_cd(cd_a)));
    EXPECT_EQ(x, 0) << "parent wins";
}

TEST_F(Static1, CommitOfAGivesTheEmptyRootTheChildsData) {
    ASSERT_TRUE(succeeds(commit_cd(cd_b)));
    ASSERT_TRUE(succeeds(commit_cd(cd_a)));
    EXPECT_EQ(x, 2);
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(x, 0) << "child wins";
}

// "STATIC 2: Child CD stores new, unchanged data which is used during a commit/restore." Up to
// time T4; the parameter says whether z was added, which the document leaves to a condition.
class Static2 : public CdTest, public testing::WithParamInterface<bool> {
protected:
    void SetUp() override {
        CdTest::SetUp();
        root = make_root(COMM_LOGGING_ENABLED);
        cd_a = make_child(root);
        ASSERT_TRUE(succeeds(add_to_cd_via_copy(cd_a, {rw(x)}, 1)));
        x += 1;
        cd_b = make_child(cd_a);
        ASSERT_TRUE(succeeds(add_to_cd_via_copy(cd_b, {rw(x), rw(y)}, 2)));
        ASSERT_TRUE(succeeds(add_to_cd_via_copy(cd_b, {rw(z)}, with_z ? 1 : 0)));
        x += 1;
        y += 1;
        if (with_z)
            z += 1;
    }

    void expect(int wanted_x, int wanted_y, int wanted_z) const {
        EXPECT_EQ(x, wanted_x);
        EXPECT_EQ(y, wanted_y);
        EXPECT_EQ(z, with_z ? wanted_z : 0);
    }

    const bool with_z = GetParam();
    int x = 0, y = 0, z = 0;
    cd_handle root, cd_a, cd_b;
};

TEST_P(Static2, Normal) {
    expect(2, 1, 1);
    EXPECT_EQ(info_of(cd_b).bytes, sizeof(int) * (with_z ? 3 : 2));
    EXPECT_EQ(info_of(cd_a).bytes, sizeof(int));
}

TEST_P(Static2, RestoreOfBTakesAllItHolds) {
    ASSERT_TRUE(succeeds(restore_cd(cd_b)));
    expect(1, 0, 0);
    EXPECT_EQ(info_of(cd_a).bytes, sizeof(int)) << "CD_A still contains x only";
    x = y = z = 7;
    ASSERT_TRUE(succeeds(restore_cd(cd_b)));
    EXPECT_EQ(x, 1) << "CD_B is still there";
}

TEST_P(Static2, RestoreOfATakesWhatItLacksFromB) {
    ASSERT_TRUE(succeeds(restore_cd(cd_a)));
    expect(0, 0, 0);
    EXPECT_TRUE(is_gone(cd_b));
    EXPECT_EQ(info_of(cd_a).bytes, sizeof(int)) << "the child's entries are not added to CD_A";
    x = y = 7;
    ASSERT_TRUE(succeeds(restore_cd(cd_a)));
    EXPECT_EQ(x, 0);
    EXPECT_EQ(y, 7) << "CD_A does not contain y";
}

TEST_P(Static2, CommitOfBAddsWhatALacks) {
    ASSERT_TRUE(succeeds(commit_cd(cd_b)));
    expect(2, 1, 1);
    EXPECT_TRUE(is_gone(cd_b));
    EXPECT_EQ(info_of(cd_a).bytes, sizeof(int) * (with_z ? 3 : 2));
    ASSERT_TRUE(succeeds(restore_cd(cd_a)));
    expect(0, 0, 0);
}

TEST_P(Static2, RootHoldsAllAfterBothCommits) {
    ASSERT_TRUE(succeeds(commit_cd(cd_b)));
    ASSERT_TRUE(succeeds(commit_cd(cd_a)));
    EXPECT_EQ(info_of(root).bytes, sizeof(int) * (with_z ? 3 : 2));
    ASSERT_TRUE(succeeds(restore_cd(root)));
    expect(0, 0, 0);
}

INSTANTIATE_TEST_SUITE_P(Z, Static2, testing::Bool(),
                         [](const auto &test) { return test.param ? "Added" : "NotAdded"; });

// "Delete_from_cd": a function that borrows its caller's CD for an automatic variable.
class DeleteFromCd : public CdTest {
protected:
    int calculator(cd_handle cd, int failures) {
        int y = 0;
        EXPECT_TRUE(succeeds(add_to_cd_via_copy(cd, {&y, sizeof(y), READ_WRITE, GLOBAL}, 1)));
        for (;;) {
            y += 1;
            if (failures-- == 0)
                break;
            y = 99;
            EXPECT_TRUE(succeeds(restore_cd(cd)));
        }
        EXPECT_TRUE(succeeds(delete_from_cd(cd, {&y, sizeof(y), READ_WRITE, GLOBAL}, 1)));
        return y;
    }
};

TEST_F(DeleteFromCd, AutomaticVariableIsUsedForRecoveryAndDeletedBeforeItsFrameEnds) {
    int x = 0;
    const cd_handle root = make_root();
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {&x, sizeof(x), READ_WRITE, GLOBAL}, 1)));
    EXPECT_EQ(calculator(root, 2), 1);
    EXPECT_EQ(info_of(root).bytes, sizeof x) << "root contains x only";
    x += 1;
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(x, 0);
    EXPECT_EQ(calculator(root, 0), 1);
}

// "Sibling CDs", part for part: what each process or thread of the example does.
int calculate_with_one_error(cd_handle parent, int *data) {
    const cd_handle child = create_cd(parent, nullptr, MPI_LOGGING_INHERIT, nullptr, nullptr);
    if (child == nullptr)
        return -1;
    const int initial = *data;
    if (add_to_cd_via_copy(child, {data, sizeof(int), READ_WRITE, GLOBAL}, 1) != SUCCESS)
        return -2;
    for (int tries = 0;; ++tries) {
        *data = *data * 2 + 1;
        if (tries == 1)
            break;
        if (restore_cd(child) != SUCCESS || *data != initial)
            return -3;
    }
    if (commit_cd(child) != SUCCESS)
        return -4;
    return *data == initial * 2 + 1 ? 0 : -5;
}

TEST_F(UseCases, SiblingsInForkedProcessesRecoverAloneAndTheParentRestoresWhenOneDies) {
    constexpr int rank_count = 4;
    int x = 0, y = 0, z = 0;
    int data[rank_count] = {10, 20, 30, 40};
    cd_addrspec addrlist[3] = {{&x, sizeof(x), READ_WRITE, GLOBAL},
                               {&y, sizeof(y), READ_WRITE, GLOBAL},
                               {&z, sizeof(z), READ_ONLY, GLOBAL}};
    const cd_handle root = make_root(COMM_LOGGING_ENABLED);
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, addrlist, 3)));
    int rounds = 0;
    bool abnormal = true;
    while (abnormal) {
        ++rounds;
        x += 1;
        y += 1;
        pid_t children[rank_count];
        for (int i = 0; i < rank_count; ++i) {
            children[i] = fork();
            if (children[i] == 0) {
                if (rounds == 1 && i == 2)
                    raise(SIGKILL);
                _exit(calculate_with_one_error(root, &data[i]) == 0 ? 0 : 1);
            }
        }
        abnormal = false;
        for (const pid_t child : children) {
            int status = 0;
            ASSERT_EQ(waitpid(child, &status, 0), child);
            if (!WIFEXITED(status)) {
                abnormal = true;
            } else {
                EXPECT_EQ(WEXITSTATUS(status), 0);
            }
        }
        if (abnormal) {
            ASSERT_TRUE(succeeds(restore_cd(root)));
            EXPECT_EQ(x, 0);
            EXPECT_EQ(y, 0);
        }
    }
    EXPECT_EQ(rounds, 2);
    EXPECT_EQ(info_of(root).bytes, sizeof x + sizeof y + sizeof z)
        << "what the children's processes committed stayed in their processes";
}

TEST_F(UseCases, SiblingsInThreadsRecoverAloneAndGiveTheirInitialDataToTheParent) {
    constexpr int rank_count = 4;
    int data[rank_count] = {10, 20, 30, 40};
    const cd_handle root = make_root(COMM_LOGGING_ENABLED);
    int results[rank_count];
    std::vector<std::thread> threads;
    threads.reserve(rank_count);
    for (int i = 0; i < rank_count; ++i) {
        threads.emplace_back([&, i] { results[i] = calculate_with_one_error(root, &data[i]); });
    }
    for (auto &thread : threads)
        thread.join();
    for (int i = 0; i < rank_count; ++i) {
        EXPECT_EQ(results[i], 0);
        EXPECT_EQ(data[i], (i + 1) * 20 + 1);
    }
    EXPECT_EQ(info_of(root).bytes, sizeof data);
    ASSERT_TRUE(succeeds(restore_cd(root)));
    for (int i = 0; i < rank_count; ++i)
        EXPECT_EQ(data[i], (i + 1) * 10);
}

// "Committing CDs": the columns of its table one after the other.
TEST_F(UseCases, CommittingFromTheLeafUpAccumulatesTheInitialData) {
    int x = 0, y = 0;
    const cd_handle root = make_root();
    const cd_handle cd_a = make_child(root);
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(cd_a, {rw(x)}, 1)));
    x = 1;
    const cd_handle cd_b = make_child(cd_a);
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(cd_b, {rw(x), rw(y)}, 2)));
    x = 2;
    y = 1;
    EXPECT_EQ(info_of(cd_b).bytes, 2 * sizeof(int)) << "normal: X=1, Y=0";
    EXPECT_EQ(info_of(cd_a).bytes, sizeof(int)) << "normal: X=0";
    EXPECT_EQ(info_of(root).bytes, 0U) << "normal: empty";

    ASSERT_TRUE(succeeds(commit_cd(cd_b)));
    EXPECT_TRUE(is_gone(cd_b));
    EXPECT_EQ(info_of(cd_a).bytes, 2 * sizeof(int));
    EXPECT_EQ(info_of(root).bytes, 0U);

    ASSERT_TRUE(succeeds(commit_cd(cd_a)));
    EXPECT_TRUE(is_gone(cd_a));
    EXPECT_EQ(info_of(root).bytes, 2 * sizeof(int));
    EXPECT_EQ(x, 2);
    EXPECT_EQ(y, 1);
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(x, 0) << "child wins over the empty root, after the parent won over CD_B";
    EXPECT_EQ(y, 0);

    ASSERT_TRUE(succeeds(commit_cd(root)));
    EXPECT_TRUE(is_gone(root));
    EXPECT_EQ(x, 0);
}

// "Preserving a CD's Ability to Restore its point in time".
TEST_F(UseCases, AdvanceOfAParentWithAnUncommittedChildIsRefused) {
    int x = 0, y = 0;
    const cd_handle parent = make_root(COMM_LOGGING_ENABLED);
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(parent, {rw(x)}, 1)));
    x += 1;
    const cd_handle child = make_child(parent);
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(child, {rw(y)}, 1)));
    y += 1;
    EXPECT_TRUE(fails_with(CD_ERROR_HAS_CHILDREN, advance_cd_point_in_time(parent)));
    EXPECT_EQ(info_of(parent).epoch, 0U);

    ASSERT_TRUE(succeeds(commit_cd(child)));
    ASSERT_TRUE(succeeds(advance_cd_point_in_time(parent)));
    x = y = 9;
    ASSERT_TRUE(succeeds(restore_cd(parent)));
    EXPECT_EQ(x, 1) << "time T1";
    EXPECT_EQ(y, 1) << "time T1";
}

// "CDs do not need to know the entire state that needs to be saved."
TEST_F(UseCases, FunctionsAddWhatTheyModifyToTheCurrentCd) {
    int x = 1, y = 2;
    const auto modify_y = [&] {
        ASSERT_TRUE(succeeds(add_to_cd_via_copy(CURRENT_CD, {rw(y)}, 1)));
        y = 20;
    };
    const cd_handle root = make_root();
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(CURRENT_CD, {rw(x)}, 1)));
    x = 10;
    modify_y();
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(x, 1);
    EXPECT_EQ(y, 2);
}

// The example under advance_cd_point_in_time: 1 GB, then 9 bytes. With 1 MiB in place of 1 GB.
TEST_F(UseCases, AnAdvanceCopiesOnlyWhatWasAddedAgainSinceTheLastOne) {
    std::vector<uint8_t> data(1 << 20, 1);
    size_t copied = 0;
    const auto note_advance = [](const cd_event *event, void *context) {
        if (event->operation == CD_OP_ADVANCE) {
            *static_cast<size_t *>(context) = event->bytes;
        }
    };
    const cd_handle root = make_root();
    ASSERT_TRUE(succeeds(cd_observe(note_advance, &copied)));
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {bytes(data.data(), data.size())}, 1)));
    ASSERT_TRUE(succeeds(advance_cd_point_in_time(root)));
    EXPECT_EQ(copied, data.size());
    EXPECT_EQ(info_of(root).read_write, 0U);

    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {bytes(&data[1000], 9)}, 1)));
    EXPECT_EQ(info_of(root).read_write, 9U);
    std::fill_n(data.begin() + 1000, 9, uint8_t{2});
    ASSERT_TRUE(succeeds(advance_cd_point_in_time(root)));
    EXPECT_EQ(copied, 9U);
    ASSERT_TRUE(succeeds(advance_cd_point_in_time(root)));
    EXPECT_EQ(copied, 0U);
    copied = 99;
    const cd_handle child = make_child(root);
    ASSERT_TRUE(succeeds(add_to_cd_via_parent(child, {bytes(data.data(), 9)}, 1)));
    ASSERT_TRUE(succeeds(advance_cd_point_in_time(child)));
    EXPECT_EQ(copied, 0U) << "the data are the parent's";
    ASSERT_TRUE(succeeds(cd_observe(nullptr, nullptr)));

    std::fill(data.begin(), data.end(), uint8_t{3});
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(data[999], 1);
    EXPECT_EQ(data[1000], 2);
    EXPECT_EQ(data[1008], 2);
    EXPECT_EQ(data[1009], 1);
}

} // namespace
