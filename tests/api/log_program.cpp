// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "log_program.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace log_program {

std::string Task::name() const {
    const char *text = cd_name(cd);
    return text != nullptr ? text : "(none)";
}

bool Task::has_children(bool of_this_thread) const {
    return std::any_of(children.begin(), children.end(), [&](const auto &child) {
        return (child->thread == thread) == of_this_thread;
    });
}

Run::Run(uint64_t seed) : random_(seed) {
    for (int i = 0; i < threads; ++i) {
        start_thread();
    }
    program_ = make_block(depth, 0, "r");
    failures_left_ = 1 + below(6);
    in_thread(0, [&] {
        root_ = std::make_unique<Task>();
        root_->block = program_.get();
        root_->cd = create_cd(nullptr, nullptr, COMM_LOGGING_ENABLED, "program", nullptr);
        EXPECT_NE(root_->cd, nullptr) << last_message();
    });
}

Run::~Run() {
    if (root_ != nullptr) {
        give_up(*root_);
    }
}

// levels: that are left for children. Threads that make children beside each other do so in the
// order of the program, as docs/inside/mpi-log.md asks for.
std::unique_ptr<Block> Run::make_block(int levels, int thread, const std::string &name) {
    auto block = std::make_unique<Block>();
    bool others = false;
    const int count = 1 + below(6);
    for (int i = 0; i < count; ++i) {
        Line line;
        line.text = name + std::to_string(i);
        const int choice = levels > 0 ? below(10) : below(4);
        if (choice >= 8 && !others) {
            line.kind = Line::Kind::others;
            add_children(line, 1 + below(threads - 1), levels, thread);
            others = true;
        } else if (choice >= 7) {
            line.kind = Line::Kind::twins;
            add_children(line, 2, levels, thread);
        } else if (choice >= 4) {
            line.kind = Line::Kind::child;
            add_children(line, 1, levels, thread);
        } else if (choice == 3) {
            line.kind = others ? Line::Kind::join : Line::Kind::advance;
            others = false;
        }
        block->lines.push_back(std::move(line));
    }
    Line join;
    join.kind = Line::Kind::join;
    join.text = name + "j";
    block->lines.push_back(std::move(join));
    return block;
}

void Run::add_children(Line &line, int count, int levels, int thread) {
    const bool others = line.kind == Line::Kind::others;
    for (int i = 0; i < count; ++i) {
        const int runs_in = others ? (thread + 1 + i) % threads : thread;
        line.threads.push_back(runs_in);
        line.blocks.push_back(make_block(levels - 1, runs_in, line.text + "abc"[i]));
    }
}

int Run::start_thread() {
    workers_.push_back(std::make_unique<WorkerThread>());
    return static_cast<int>(workers_.size()) - 1;
}

void Run::in_thread(int thread, const std::function<void()> &work) {
    (*workers_[static_cast<size_t>(thread)])(work);
}

void Run::collect(Task &task, std::vector<Task *> &tasks) {
    tasks.push_back(&task);
    for (const auto &child : task.children) {
        collect(*child, tasks);
    }
}

bool Run::can_go_on(const Task &task) const {
    if (task.has_children(true)) {
        return false;
    }
    const bool waits = task.next == task.block->lines.size() ||
                       task.block->lines[task.next].kind == Line::Kind::join ||
                       task.block->lines[task.next].kind == Line::Kind::advance;
    return !waits || task.children.empty();
}

void Run::to_the_end() {
    while (root_ != nullptr && !testing::Test::HasFailure()) {
        std::vector<Task *> tasks;
        collect(*root_, tasks);
        if (failures_left_ > 0 && below(25) == 0) {
            --failures_left_;
            fail(*tasks[static_cast<size_t>(below(static_cast<int>(tasks.size())))]);
            continue;
        }
        std::erase_if(tasks, [&](Task *task) { return !can_go_on(*task); });
        step(*tasks[static_cast<size_t>(below(static_cast<int>(tasks.size())))]);
    }
}

void Run::step(Task &task) {
    if (task.next == task.block->lines.size()) {
        return end(task);
    }
    Line &line = task.block->lines[task.next++];
    switch (line.kind) {
    case Line::Kind::log:
        return log(task, line);
    case Line::Kind::child:
    case Line::Kind::twins:
    case Line::Kind::others:
        return make_children(task, line);
    case Line::Kind::join:
        return;
    case Line::Kind::advance:
        tell("advance " + line.text);
        in_thread(task.thread,
                  [&] { EXPECT_TRUE(succeeds(advance_cd_point_in_time(task.cd))) << line.text; });
        task.begin = task.next;
        return;
    }
}

// Replays a line that was done before, and logs it otherwise.
void Run::log(Task &task, Line &line) {
    tell((line.done ? "replay " : "log ") + line.text);
    in_thread(task.thread, [&] {
        int error = 0;
        size_t length = 0;
        const void *entry = cd_log_next(task.cd, &length, &error);
        const std::string found(static_cast<const char *>(entry), entry != nullptr ? length : 0);
        EXPECT_EQ(found, line.done ? line.text : "") << "in CD " << task.name();
        if (!line.done) {
            const cd_log_part part = {line.text.data(), line.text.size()};
            EXPECT_TRUE(succeeds(cd_log_append(task.cd, &part, 1))) << line.text;
        }
    });
    replayed_ += line.done ? 1 : 0;
    line.done = true;
}

void Run::make_children(Task &parent, Line &line) {
    for (size_t i = 0; i < line.blocks.size(); ++i) {
        make_child(parent, *line.blocks[i], line.threads[i]);
    }
}

// Another thread than the parent's is a new one now and then.
void Run::make_child(Task &parent, Block &block, int planned) {
    const bool in_own = planned == parent.planned;
    const int thread = in_own ? parent.thread : below(2) == 0 ? start_thread() : planned;
    auto child = std::make_unique<Task>();
    child->block = &block;
    child->parent = &parent;
    child->planned = planned;
    child->thread = thread;
    in_thread(thread, [&] {
        child->cd = create_cd(parent.cd, nullptr, COMM_LOGGING_INHERIT, nullptr, nullptr);
        EXPECT_NE(child->cd, nullptr) << last_message();
    });
    if (child->cd == nullptr) {
        return;
    }
    tell("thread " + std::to_string(thread) + " makes " + child->name());
    parent.children.push_back(std::move(child));
}

void Run::end(Task &task) {
    tell("commit " + task.name());
    in_thread(task.thread, [&] { EXPECT_TRUE(succeeds(commit_cd(task.cd))); });
    if (task.parent == nullptr) {
        root_.reset();
    } else {
        std::erase_if(task.parent->children,
                      [&](const auto &child) { return child.get() == &task; });
    }
}

// Commits it and its descendants, wherever they are in their blocks.
void Run::give_up(Task &task) {
    while (!task.children.empty()) {
        give_up(*task.children.back());
    }
    end(task);
}

void Run::give_up_other_threads(Task &task) {
    for (size_t i = task.children.size(); i-- > 0;) {
        if (task.children[i]->thread != task.thread) {
            give_up(*task.children[i]);
        } else {
            give_up_other_threads(*task.children[i]);
        }
    }
}

// The task is restored; or it gives up and its parent is restored, perhaps after others have failed
// by themselves.
void Run::fail(Task &task) {
    Task *restored = &task;
    if (task.parent != nullptr && below(3) == 0) {
        restored = task.parent;
        give_up(task);
    }
    give_up_other_threads(*restored);
    tell("thread " + std::to_string(restored->thread) + " restores " + restored->name());
    in_thread(restored->thread, [&] { EXPECT_TRUE(succeeds(restore_cd(restored->cd))); });
    restored->children.clear();
    restored->next = restored->begin;
    ++restores_;
}

} // namespace log_program
