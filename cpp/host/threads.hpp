#pragma once

/// @file
/// Distributes a batch over threads.  The threads end with the call, so that a process can fork
/// safely.

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#if defined(__linux__)
#include <sched.h>
#endif

namespace polhode {

inline constexpr int most_threads = 4096;

/// Number of cores that this process may use; a container, a batch queue or taskset may limit it.
inline int usable_cores() {
#if defined(__linux__)
    cpu_set_t cores;  // 1024 cores; with more the call below fails
    if (sched_getaffinity(0, sizeof cores, &cores) == 0) return std::max(1, CPU_COUNT(&cores));
#endif
    return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, most_threads);
}

/// The requested number of threads: 0 means POLHODE_NUM_THREADS or 1, -1 means all cores.
inline int thread_count(int requested) {
    if (requested == 0) {
        const char* text = std::getenv("POLHODE_NUM_THREADS");
        if (text == nullptr || *text == '\0') return 1;
        char* end = nullptr;
        const long value = std::strtol(text, &end, 10);
        if (*end != '\0' || value == 0 || value < -1 || value > most_threads) {
            throw std::invalid_argument("POLHODE_NUM_THREADS must be -1 or 1 ... " +
                                        std::to_string(most_threads) + ", not " + text);
        }
        requested = static_cast<int>(value);
    }
    if (requested < -1 || requested > most_threads) {
        throw std::invalid_argument("threads must be -1 or 1 ... " + std::to_string(most_threads) +
                                    ", not " + std::to_string(requested));
    }
    return requested > 0 ? requested : usable_cores();
}

/// Calls work(begin, end) on shares of 0 ... count - 1, one per thread.  Shares begin at multiples
/// of `grain`, and a share is never smaller than that.  While it waits for the others, this
/// thread calls idle() from time to time.  An exception of a share is rethrown after all have
/// ended.
template <class Work, class Idle>
void share_among_threads(
    std::ptrdiff_t count, int threads, std::ptrdiff_t grain, const Work& work, const Idle& idle) {
    const std::ptrdiff_t grains = (count + grain - 1) / grain;
    const std::ptrdiff_t shares =
        std::clamp<std::ptrdiff_t>(threads, 1, std::max<std::ptrdiff_t>(grains, 1));
    if (shares == 1) {
        work(std::ptrdiff_t{0}, count);
        return;
    }
    const auto bound = [&](std::ptrdiff_t share) {
        return std::min(count, grains * share / shares * grain);
    };
    std::mutex mutex;
    std::condition_variable ended;
    std::ptrdiff_t ends = 0;
    std::exception_ptr error;
    const auto do_share = [&](std::ptrdiff_t share) {
        std::exception_ptr thrown;
        try {
            work(bound(share), bound(share + 1));
        } catch (...) {
            thrown = std::current_exception();
        }
        const std::lock_guard lock(mutex);
        ++ends;
        if (thrown) error = thrown;
        ended.notify_one();
    };
    std::vector<std::thread> helpers;
    helpers.reserve(static_cast<std::size_t>(shares - 1));
    std::ptrdiff_t started = 1;
    try {
        for (; started < shares; ++started) {
            helpers.emplace_back([&do_share, started] { do_share(started); });
        }
    } catch (...) {
        // The system has no more threads: this thread does the remaining work.
    }
    do_share(0);
    for (std::ptrdiff_t share = started; share < shares; ++share) do_share(share);
    const auto all_ended = [&] {
        std::unique_lock lock(mutex);
        constexpr std::chrono::milliseconds now_and_then{50};
        return ended.wait_for(lock, now_and_then, [&] { return ends == shares; });
    };
    while (!all_ended()) idle();
    for (std::thread& helper : helpers) helper.join();
    if (error) std::rethrow_exception(error);
}

}  // namespace polhode
