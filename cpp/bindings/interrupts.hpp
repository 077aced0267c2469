#pragma once

/// Work in several threads without the interpreter lock, which Ctrl-C interrupts within a
/// second; threads.hpp has the threads.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <thread>

#include <pybind11/pybind11.h>

#include "polhode/batch_arguments.hpp"
#include "polhode/threads.hpp"

namespace polhode::bindings {

/// PyEval_RestoreThread for C++.  During shutdown of the interpreter, Python 3.11 to 3.13 call
/// pthread_exit in a thread that requests the lock.  In glibc this is an exception that must not
/// pass a destructor and that no handler may catch.  Here the thread waits for the end of the
/// process instead, as in Python 3.14.
inline void take_lock(PyThreadState* state) {
    try {
        PyEval_RestoreThread(state);
    } catch (...) {
        for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
    }
}

/// The number of threads of a call.  The environment is read under the interpreter lock, as
/// os.environ changes it.
inline int threads_of_call(int requested) {
    return requested == 0 ? thread_count(0, threads_in_environment()) : thread_count(requested);
}

/// With fewer steps of bodies, releasing the interpreter lock costs more time than it saves.
inline constexpr std::ptrdiff_t few_steps = 32;

/// Checks for signals during long work, a tenth of a second after the last check.
class Watch {
  public:
    Watch() = default;
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

    /// The stop condition that iterations of the core check; valid during the lifetime of this
    /// object.
    const StopRequest* request() const { return &request_; }

    /// Calls work(begin, end) on pieces of 0 ... count - 1 that begin at multiples of `piece`, with
    /// at least `units` steps of a body for each element; without the interpreter lock, unless they
    /// are few.  Throws the exception that a signal handler raises in this time.
    template <class Work>
    void share(std::ptrdiff_t count,
               int threads,
               std::ptrdiff_t piece,
               std::ptrdiff_t units,
               const Work& work) {
        if (std::max<std::ptrdiff_t>(units, 1) <= few_steps / std::max<std::ptrdiff_t>(count, 1)) {
            work(std::ptrdiff_t{0}, count);
            check_asked();
            return;
        }
        {
            const Unlocked release(state_);
            share_among_threads(count, threads, piece, units, work, [this] { return stops(); });
        }
        check_asked();
        if (PyErr_CheckSignals() != 0) throw pybind11::error_already_set();
    }
    /// Throws the exception that a signal handler raised during a check of the iterations.
    void check_asked() {
        if (stopped_.exchange(false)) throw pybind11::error_already_set();
    }
    /// True if a signal handler has raised an exception; checks for signals in the calling thread.
    bool stops() {
        if (stopped_.load(std::memory_order_relaxed)) return true;
        if (std::this_thread::get_id() != caller_) return false;
        const auto now = Clock::now();
        if (next_ == Clock::time_point{}) next_ = now + period;
        if (now < next_) return false;
        const bool released = state_ != nullptr;
        if (released) take_lock(state_);
        stopped_ = PyErr_CheckSignals() != 0;
        if (released) state_ = PyEval_SaveThread();
        next_ = Clock::now() + period;
        return stopped_;
    }

  private:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::milliseconds period{100};

    class Unlocked {
      public:
        explicit Unlocked(PyThreadState*& state) : state_(state) { state_ = PyEval_SaveThread(); }
        ~Unlocked() {
            take_lock(state_);
            state_ = nullptr;
        }
        Unlocked(const Unlocked&) = delete;
        Unlocked& operator=(const Unlocked&) = delete;

      private:
        PyThreadState*& state_;
    };

    static bool asked(void* self) { return static_cast<Watch*>(self)->stops(); }

    const std::thread::id caller_ = std::this_thread::get_id();
    const StopRequest request_{asked, this};
    PyThreadState* state_ = nullptr;  ///< null: this thread has the lock
    Clock::time_point next_{};
    std::atomic<bool> stopped_{false};
};

}  // namespace polhode::bindings
