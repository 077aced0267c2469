#pragma once

/// The text of the last error of each thread, for polhode_error, and the bodies that its last
/// integration lost, for polhode_lost.

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#if !defined(_WIN32)
#include <pthread.h>
#endif

namespace polhode::dispatch {

#if defined(_WIN32)
inline thread_local std::string message;
inline thread_local std::int64_t last_lost = 0;

/// Keeps the text of an error, or none where there is no memory for it.
inline void keep(const char* text) noexcept {
    try {
        message = text;
    } catch (...) {
        message.clear();
    }
}
inline const char* kept() noexcept { return message.c_str(); }
inline void keep_lost(std::int64_t count) noexcept { last_lost = count; }
inline std::int64_t kept_lost() noexcept { return last_lost; }
#else
/// A pointer of each thread.  Not thread_local: at the first use in a thread, that ends the process
/// if it has no memory.
class OfThread {
  public:
    explicit OfThread(void (*release)(void*)) noexcept
        : made_(pthread_key_create(&key_, release) == 0) {}
    ~OfThread() {
        if (made_) pthread_key_delete(key_);
    }
    OfThread(const OfThread&) = delete;
    OfThread& operator=(const OfThread&) = delete;

    void* get() const { return made_ ? pthread_getspecific(key_) : nullptr; }
    /// Whether it is kept.
    bool set(void* value) const { return made_ && pthread_setspecific(key_, value) == 0; }

  private:
    pthread_key_t key_{};
    bool made_;
};
inline const OfThread last_error(std::free), last_lost(nullptr);

/// Keeps the text of an error, or none where there is no memory for it.
inline void keep(const char* text) noexcept {
    void *const before = last_error.get(), *const copy = strdup(text);
    std::free(last_error.set(copy) ? before : copy);
}
inline const char* kept() noexcept {
    const void* const text = last_error.get();
    return text == nullptr ? "" : static_cast<const char*>(text);
}
/// The count itself is in place of the pointer.
inline void keep_lost(std::int64_t count) noexcept {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): nothing is at this address, and nothing reads it
    last_lost.set(reinterpret_cast<void*>(static_cast<std::intptr_t>(count)));
}
inline std::int64_t kept_lost() noexcept {
    return reinterpret_cast<std::intptr_t>(last_lost.get());
}
#endif

}  // namespace polhode::dispatch
