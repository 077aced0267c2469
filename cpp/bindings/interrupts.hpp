#pragma once

/// @file Work without the interpreter lock, and long work that Ctrl-C interrupts within a second.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <thread>

#include <pybind11/pybind11.h>

#include "polhode/batch_arguments.hpp"
#include "threads.hpp"

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

/// Checks for signals during long work, a tenth of a second after the last check.
class Watch {
  public:
    Watch() = default;
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

    /// The stop condition that iterations of the core check; valid during the lifetime of this
    /// object.
    const StopRequest* request() const { return &request_; }

    /// Calls work(idle) without the interpreter lock; work calls idle() while this thread has
    /// nothing to do.
    template <class Work>
    void unlocked(const Work& work) {
        const Unlocked release(state_);
        work([this] { stops(); });
    }
    /// Throws the exception that a signal handler raised during a check of the iterations.
    void check_asked() {
        if (stopped_.exchange(false)) throw pybind11::error_already_set();
    }
    /// Throws the exception that a signal handler raised before or raises now.
    void check() {
        check_asked();
        if (PyErr_CheckSignals() != 0) throw pybind11::error_already_set();
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

    const std::thread::id caller_ = std::this_thread::get_id();
    const StopRequest request_{asked, this};
    PyThreadState* state_ = nullptr;  ///< null: this thread has the lock
    Clock::time_point next_{};
    std::atomic<bool> stopped_{false};
};

/// The number of units of work (steps of bodies) between two checks for Ctrl-C.  It is adjusted by
/// the clock to about a tenth of a second, since the cost of methods differs by a factor of a
/// hundred.
class Slice {
  public:
    std::ptrdiff_t units() const { return units_; }
    Watch& watch() { return watch_; }

    /// Calls work(begin, end) on shares of 0 ... count - 1 without the interpreter lock, `units` of
    /// work for each element, and checks for signals after each share; throws KeyboardInterrupt.
    template <class Work>
    void run(std::ptrdiff_t count,
             int threads,
             std::ptrdiff_t grain,
             std::ptrdiff_t units,
             const Work& work) {
        const auto begun = std::chrono::steady_clock::now();
        watch_.unlocked(
            [&](const auto& idle) { share_among_threads(count, threads, grain, work, idle); });
        const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begun;
        watch_.check();
        constexpr double wanted = 0.1;
        const double growth = wanted / std::max(spent.count(), 1e-9);
        const double done = static_cast<double>(count) * static_cast<double>(units);
        const double most = 10.0 * static_cast<double>(units_);
        units_ = static_cast<std::ptrdiff_t>(std::clamp(growth * done, 1.0, most));
    }

    /// The same in pieces of one slice each, which begin at multiples of `grain`.
    template <class Work>
    void run_in_pieces(std::ptrdiff_t count,
                       int threads,
                       std::ptrdiff_t grain,
                       std::ptrdiff_t units,
                       const Work& work) {
        for (std::ptrdiff_t first = 0; first < count;) {
            const std::ptrdiff_t grains =
                std::max<std::ptrdiff_t>(units_ / units / grain, std::max(threads, 1));
            const std::ptrdiff_t left = count - first;
            const std::ptrdiff_t size = grains < left / grain + 1 ? grains * grain : left;
            const std::ptrdiff_t piece = std::min(size, left);
            run(piece, threads, grain, units, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
                work(first + begin, first + end);
            });
            first += piece;
        }
    }

  private:
    Watch watch_;
    /// Less than half a second for any method, except for iterations that check the watch.
    std::ptrdiff_t units_ = 400'000;
};

}  // namespace polhode::bindings
