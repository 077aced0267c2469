#pragma once

/// Distributes a batch over threads, which wait for the next call.

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <list>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#if !defined(_WIN32)
#include <pthread.h>
#endif
#if defined(__linux__)
#include <sched.h>
#endif

namespace polhode {

inline constexpr int most_threads = 4096;
/// Pieces of a batch begin at multiples of this number of bodies: whole packs at every level.
inline constexpr std::ptrdiff_t whole_packs = 96;

/// Number of cores that this process may use; a container, a batch queue or taskset may limit it.
inline int usable_cores() {
#if defined(__linux__)
    cpu_set_t cores;  // 1024 cores; with more the call below fails
    if (sched_getaffinity(0, sizeof cores, &cores) == 0) return std::max(1, CPU_COUNT(&cores));
#endif
    return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, most_threads);
}

/// The number of threads in a text of POLHODE_NUM_THREADS: -1 or 1 ... most_threads; 1 if it is
/// empty.
inline int threads_in(std::string_view text) {
    if (text.empty()) return 1;
    int value = 0;
    const char *const begin = text.data(), *const end = begin + text.size();
    const auto [stop, error] = std::from_chars(begin, end, value);
    if (error != std::errc{} || stop != end || value == 0 || value < -1 || value > most_threads) {
        throw std::invalid_argument("POLHODE_NUM_THREADS must be -1 or 1 ... " +
                                    std::to_string(most_threads) + ", not " + std::string(text));
    }
    return value;
}
/// POLHODE_NUM_THREADS as it is now.  Not for calls that other threads may make at the same time:
/// in C, no thread may read the environment while another one changes it.
inline std::string threads_in_environment() {
    const char* text = std::getenv("POLHODE_NUM_THREADS");
    return text == nullptr ? "" : text;
}
/// The same when the library was loaded.
// NOLINTNEXTLINE(bugprone-throwing-static-initialization): without memory at load, nothing is lost.
inline const std::string threads_at_load = threads_in_environment();

/// The requested number of threads: 0 means the default, -1 means all cores.
inline int thread_count(int requested, std::string_view default_threads = threads_at_load) {
    if (requested == 0) requested = threads_in(default_threads);
    if (requested < -1 || requested > most_threads) {
        throw std::invalid_argument("threads must be -1 or 1 ... " + std::to_string(most_threads) +
                                    ", not " + std::to_string(requested));
    }
    return requested > 0 ? requested : usable_cores();
}

/// Threads that help with the work of calls and wait between calls.
///
/// Several calls may use them at once.  A call never waits for a thread that has not begun to help.
/// Before a fork the waiting threads end, so that the process has no threads of which it does not
/// know; the child has none, and makes its own.  They also end before this library is unloaded.
class Helpers {
  public:
    /// The work of a call, which any thread may join; ends when all who joined have left.
    struct Job {
        void (*join)(Job&);  ///< works as long as there is work; throws nothing
        int wanted;          ///< number of helpers that may still join
        int active = 0;
        bool abandoned = false;  ///< in the child of a fork, which has no helpers
        std::fenv_t rounding{};  ///< of the calling thread: results are the same in every thread
        std::condition_variable ended{};
        std::list<Job*>::iterator place{};
    };

    /// Requests helpers, not more than there are cores for them.  Without a new thread where the
    /// system has no more.
    void call(Job& job) {
        std::fegetenv(&job.rounding);
        const int wanted = job.wanted = std::min(job.wanted, std::max(usable_cores() - 1, 1));
        {
            const std::scoped_lock lock(mutex_);
            job.place = jobs_.insert(jobs_.end(), &job);
            wanted_ += wanted;
            try {
                const auto most = static_cast<std::size_t>(usable_cores());
                while (closed_ == 0 && free_ < wanted_ && threads_.size() < most) start();
            } catch (...) {  // NOLINT(bugprone-empty-catch): the helpers that there are, or none.
            }
        }
        for (int k = 0; k < wanted; ++k) called_.notify_one();
    }

    /// Waits for the helpers that have joined, and calls idle() from time to time.
    template <class Idle>
    void finish(Job& job, const Idle& idle) {
        constexpr std::chrono::milliseconds now_and_then{50};
        std::unique_lock lock(mutex_);
        if (!job.abandoned) wanted_ -= std::exchange(job.wanted, 0);
        while (!job.ended.wait_for(
            lock, now_and_then, [&] { return job.active == 0 || job.abandoned; })) {
            lock.unlock();
            idle();
            lock.lock();
        }
        if (job.abandoned) throw std::runtime_error("forked during a call in several threads");
        jobs_.erase(job.place);
    }

    static Helpers& instance() { return *the_; }

  private:
    /// Signals are for the threads that Python knows, except those for an error of this thread.
    struct Blocked {
#if defined(_WIN32)
        Blocked() {}  // no signal comes to a thread of ours
#else
        Blocked() {
            sigset_t blocked;
            sigfillset(&blocked);
            for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) sigdelset(&blocked, own);
            pthread_sigmask(SIG_SETMASK, &blocked, &before);
        }
        ~Blocked() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }
        sigset_t before;
#endif
    };

    void start() {
        const Blocked signals;
        std::list<std::thread> one(1);
        const auto self = one.begin();
        *self = std::thread([this, self] { serve(self); });
        threads_.splice(threads_.end(), one);
        ++free_;
    }

    void serve(std::list<std::thread>::iterator self) {
        std::unique_lock lock(mutex_);
        while (closed_ == 0) {
            const auto found = std::find_if(
                jobs_.begin(), jobs_.end(), [](const Job* job) { return job->wanted > 0; });
            if (found == jobs_.end()) {
                called_.wait(lock);
                continue;
            }
            Job& job = **found;
            --job.wanted, --wanted_, --free_, ++job.active;
            lock.unlock();
            std::fesetenv(&job.rounding);
            job.join(job);
            lock.lock();
            ++free_;
            if (--job.active == 0) job.ended.notify_one();
        }
        --free_;
        ended_.splice(ended_.end(), threads_, self);
        all_ended_.notify_all();  // several threads may fork, or one at the end of another
    }

    /// Ends the waiting threads; none starts until `closed_` is reduced.
    std::unique_lock<std::mutex> close() {
        std::unique_lock lock(mutex_);
        ++closed_;
        called_.notify_all();
        all_ended_.wait(lock, [&] { return free_ == 0; });
        for (std::thread& thread : ended_) thread.join();
        ended_.clear();
        return lock;
    }
    struct AtEnd {
        ~AtEnd() {
#if !defined(_WIN32)  // which has ended them when this runs, and never unloads a module of Python
            the_->close();
#endif
        }
    };

    static void before_fork() { the_->close().release(); }
    static void after_fork_in_parent() {
        --the_->closed_;
        the_->mutex_.unlock();
    }
    /// Threads that helped in other calls do not exist here, and left what they held as it was.
    /// So a call during which its own thread forks, in idle(), ends with an error in the child.
    static void after_fork_in_child() {
        for (Job* job : the_->jobs_) job->abandoned = true;
        the_->mutex_.unlock();
        new (the_) Helpers;
    }

    static Helpers* make() {
#if !defined(_WIN32)
        pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
#endif
        return new Helpers;
    }

    static Helpers* const the_;  ///< never destroyed: threads that work may outlive other objects
    static const AtEnd at_end_;

    std::mutex mutex_;
    std::condition_variable called_, all_ended_;
    std::list<Job*> jobs_;
    std::list<std::thread> threads_, ended_;
    int wanted_ = 0;  ///< by all calls
    int free_ = 0;    ///< number of threads without work
    int closed_ = 0;  ///< above 0 during a fork and at the end
};
// NOLINTNEXTLINE(bugprone-throwing-static-initialization): without memory at load, nothing is lost.
inline Helpers* const Helpers::the_ = Helpers::make();
inline const Helpers::AtEnd Helpers::at_end_{};

/// Work on 0 ... count - 1 in pieces of whole grains, which become smaller towards the end.
template <class Work>
class Pieces : public Helpers::Job {
  public:
    Pieces(std::ptrdiff_t count, int threads, std::ptrdiff_t grain, const Work& work)
        : Job{join_pieces, threads - 1},
          count_(count),
          grain_(grain),
          most_(std::max<std::ptrdiff_t>(usual / grain, 1) * grain),
          threads_(threads),
          work_(work) {}

    /// Works on the next piece of at most `most` elements; false if there is none.
    bool work(std::ptrdiff_t most) {
        std::ptrdiff_t begin = next_.load(std::memory_order_relaxed), end;
        do {
            if (begin >= count_) return false;
            end = begin + std::min(most, count_ - begin);
        } while (!next_.compare_exchange_weak(begin, end, std::memory_order_relaxed));
        try {
            work_(begin, end);
        } catch (...) {
            const std::scoped_lock lock(error_mutex_);
            error_ = std::current_exception();
            stop();
        }
        return true;
    }
    /// The size of a piece if `sharing` threads work.
    std::ptrdiff_t size(int sharing) const {
        if (sharing == 1) return most_;
        const std::ptrdiff_t share = left() / (2 * sharing) / grain_ * grain_;
        return std::clamp(share, grain_, most_);
    }
    std::ptrdiff_t left() const { return count_ - next_.load(std::memory_order_relaxed); }
    void stop() { next_.store(count_, std::memory_order_relaxed); }
    void rethrow() const {
        if (error_) std::rethrow_exception(error_);
    }

  private:
    static constexpr std::ptrdiff_t usual = 4096;

    static void join_pieces(Job& job) {
        auto& self = static_cast<Pieces&>(job);
        while (self.work(self.size(self.threads_))) {
        }
    }

    const std::ptrdiff_t count_, grain_, most_;
    const int threads_;
    const Work& work_;
    std::atomic<std::ptrdiff_t> next_{0};
    std::mutex error_mutex_;
    std::exception_ptr error_;
};

/// Calls work(begin, end) on pieces of 0 ... count - 1 that begin at multiples of `grain`, in up to
/// `threads` threads.  Which thread works on a piece, and how large it is, depends on the time.
///
/// An element takes at least `units` steps of a body.  Other threads are called if that is long, or
/// after a first piece according to its time.  After each of its pieces, and while it waits for the
/// others, this thread calls idle(), and no thread begins another piece once that is true.  Nor
/// after an exception, which is rethrown when all have ended.
template <class Work, class Idle>
void share_among_threads(std::ptrdiff_t count,
                         int threads,
                         std::ptrdiff_t grain,
                         std::ptrdiff_t units,
                         const Work& work,
                         const Idle& idle) {
    using Clock = std::chrono::steady_clock;
    // To wake a thread and to wait for it takes 10 to 50 microseconds.
    constexpr double many_steps = 1e5;
    constexpr std::chrono::duration<double> long_time{100e-6};
    const std::ptrdiff_t most = std::max<std::ptrdiff_t>(count / grain, 1);
    threads = static_cast<int>(std::clamp<std::ptrdiff_t>(threads, 1, most));
    Pieces pieces(count, threads, grain, work);
    bool shared = false;
    const auto share = [&](bool worth) {
        if (shared || !worth) return;
        Helpers::instance().call(pieces);
        shared = true;
    };
    std::ptrdiff_t size = pieces.size(1);
    if (threads > 1) {
        share(static_cast<double>(count) * static_cast<double>(units) >= many_steps);
        size = grain;
    }
    const auto begun = Clock::now();
    while (pieces.work(shared ? pieces.size(threads) : size)) {
        if (idle()) pieces.stop();
        if (threads == 1 || shared) continue;
        const std::ptrdiff_t left = pieces.left();
        const double rest = static_cast<double>(left) / static_cast<double>(count - left);
        share((Clock::now() - begun) * rest >= long_time);
        size = pieces.size(1);
    }
    if (shared) Helpers::instance().finish(pieces, idle);
    pieces.rethrow();
}

}  // namespace polhode
