// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

// A thread that does what it is told, while who tells it waits: a CD of its own can live from one
// time to the next.
class Helper {
public:
    Helper() : thread_([this] { work(); }) {}
    Helper(const Helper &) = delete;
    Helper &operator=(const Helper &) = delete;
    ~Helper() {
        (*this)(nullptr);
        thread_.join();
    }

    void operator()(const std::function<void()> &work) {
        std::unique_lock lock(mutex_);
        work_ = &work;
        changed_.notify_all();
        changed_.wait(lock, [this] { return work_ == nullptr; });
    }

private:
    void work() {
        std::unique_lock lock(mutex_);
        for (bool goes_on = true; goes_on;) {
            changed_.wait(lock, [this] { return work_ != nullptr; });
            goes_on = *work_ != nullptr;
            if (goes_on) {
                (*work_)();
            }
            work_ = nullptr;
            changed_.notify_all();
        }
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    const std::function<void()> *work_ = nullptr;
    std::thread thread_; // the last: it uses the others
};
