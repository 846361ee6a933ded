// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "runtime/observer.h"

#include "base/callback_guard.h"

namespace cd {
namespace {

std::atomic<Observer *> latest = nullptr; // keeps the earlier ones reachable
std::atomic<int> observer_news = 0;       // what wait_for_calls_of() looks at has changed
constinit thread_local Observer *called_by_this_thread = nullptr;

// Returns the observer with this function, a known one or a new one.
Observer *found_or_made(cd_event_fn notify, void *context) {
    for (Observer *known = latest; known != nullptr; known = known->previous) {
        if (known->notify == notify && known->context == context) {
            return known;
        }
    }
    auto *newest = new Observer{notify, context, latest};
    while (!latest.compare_exchange_weak(newest->previous, newest)) {
    }
    return newest;
}

void tell_who_waits() {
    ++observer_news;
    observer_news.notify_all();
}

// Waits for the calls of an observer, unless another thread sets it again meanwhile.
void wait_for_calls_of(Observer &replaced) {
    for (int seen = observer_news; replaced.running != 0 && observer != &replaced;
         seen = observer_news) {
        observer_news.wait(seen);
    }
}

// A running call, for whose end cd_observe waits.
class Call {
public:
    explicit Call(Observer &listener) : listener_(listener) {
        ++listener_.running;
        called_by_this_thread = &listener_;
    }
    Call(const Call &) = delete;
    Call &operator=(const Call &) = delete;
    ~Call() {
        called_by_this_thread = nullptr;
        if (--listener_.running == 0) {
            tell_who_waits();
        }
    }

private:
    Observer &listener_;
};

} // namespace

void set_observer(cd_event_fn notify, void *context) {
    observer = notify != nullptr ? found_or_made(notify, context) : nullptr;
    tell_who_waits();
    for (Observer *earlier = latest; earlier != nullptr; earlier = earlier->previous) {
        wait_for_calls_of(*earlier);
    }
}

void notify(Observer &listener, const cd_event &event) {
    const Call call(listener);
    if (observer == &listener) {
        call_application([&] { listener.notify(&event, listener.context); });
    }
}

void forget_other_threads_notifications() {
    for (Observer *any = latest; any != nullptr; any = any->previous) {
        any->running = any == called_by_this_thread ? 1 : 0;
    }
}

} // namespace cd
