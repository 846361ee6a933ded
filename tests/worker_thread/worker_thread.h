// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <fstream>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

// Returns whether a thread of this process waits in the system.
inline bool sleeps(pid_t thread) {
    std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
    std::string number;
    std::string name; // of gtest's programs, without blanks
    std::string state;
    file >> number >> name >> state;
    return state == "S";
}

// A thread that does what it is told, while who tells it waits: a CD of its own can live from one
// time to the next.
class WorkerThread {
public:
    WorkerThread() : thread_([this] { work(); }) {}
    WorkerThread(const WorkerThread &) = delete;
    WorkerThread &operator=(const WorkerThread &) = delete;
    ~WorkerThread() {
        (*this)([this] { ended_ = true; });
        thread_.join();
    }

    // Returns when it has been done.
    void operator()(const std::function<void()> &work) {
        std::unique_lock lock(mutex_);
        work_ = &work;
        changed_.notify_all();
        changed_.wait(lock, [this] { return work_ == nullptr; });
    }

private:
    void work() {
        std::unique_lock lock(mutex_);
        while (!ended_) {
            changed_.wait(lock, [this] { return work_ != nullptr; });
            (*work_)();
            work_ = nullptr;
            changed_.notify_all();
        }
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    const std::function<void()> *work_ = nullptr;
    bool ended_ = false;
    std::thread thread_; // the last: it uses the others
};
