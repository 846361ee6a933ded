// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "mpi_log_fixture.h"
#include "worker_thread.h"

#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

// Random programs of several threads whose CDs log, fail and are restored by the threads that
// created them. Each line of a program does the same each time it runs, as a program under MPI has
// to; the next thread to run is chance. So each CD must find in its log what it has done before, in
// order, and nothing more.
namespace log_program {

struct Block;

// One line of a block.
struct Line {
    enum class Kind {
        log,     // an entry, which names the line
        child,   // a child that runs blocks[0]
        twins,   // two children of this thread beside each other
        others,  // children that other threads make, one each; this thread goes on meanwhile
        join,    // waits for these
        advance, // of the CD that runs the block
    };
    Kind kind = Kind::log;
    std::string text;
    bool done = false; // since the program began
    std::vector<std::unique_ptr<Block>> blocks;
    std::vector<int> threads; // of the others
};

// The lines that a CD runs from its creation to its commit.
struct Block {
    std::vector<Line> lines;
};

// A CD that runs a block.
struct Task {
    Block *block = nullptr;
    Task *parent = nullptr;
    int planned = 0; // thread, as the program has it
    int thread = 0;  // the one that runs it
    cd_handle cd = nullptr;
    size_t next = 0;  // line
    size_t begin = 0; // the first line that a restore does again
    std::vector<std::unique_ptr<Task>> children;

    std::string name() const;
    bool has_children(bool of_this_thread) const;
};

// One program, from its seed.
class Run {
public:
    explicit Run(uint64_t seed);
    Run(const Run &) = delete;
    Run &operator=(const Run &) = delete;
    ~Run();

    // Stops at the first failed expectation.
    void to_the_end();

    std::string history() const { return history_; }
    int restores() const { return restores_; }
    int replayed() const { return replayed_; }

private:
    static constexpr int threads = 3;
    static constexpr int depth = 4;

    int below(int bound) { return static_cast<int>(random_() % static_cast<uint64_t>(bound)); }

    std::unique_ptr<Block> make_block(int levels, int thread, const std::string &name);
    void add_children(Line &line, int count, int levels, int thread);

    void tell(const std::string &event) { history_ += event + "\n"; }
    int start_thread();
    void in_thread(int thread, const std::function<void()> &work);
    void collect(Task &task, std::vector<Task *> &tasks);
    bool can_go_on(const Task &task) const;
    void step(Task &task);
    void log(Task &task, Line &line);
    void make_children(Task &parent, Line &line);
    void make_child(Task &parent, Block &block, int planned);
    void end(Task &task);
    void give_up_other_threads(Task &task);
    void give_up(Task &task);
    void fail(Task &task);

    std::mt19937_64 random_;
    std::vector<std::unique_ptr<WorkerThread>> workers_; // the first ones last to the end
    std::unique_ptr<Block> program_;
    std::unique_ptr<Task> root_;
    std::string history_;
    int failures_left_ = 0;
    int restores_ = 0;
    int replayed_ = 0;
};

} // namespace log_program
