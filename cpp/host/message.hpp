#pragma once

/// @file
/// The text of the last error of each thread, for polhode_error.

#include <cstdlib>
#include <cstring>
#include <string>

#if !defined(_WIN32)
#include <pthread.h>
#endif

namespace polhode::dispatch {

#if defined(_WIN32)
inline thread_local std::string message;

/// Keeps the text of an error, or none where there is no memory for it.
inline void keep(const char* text) noexcept {
    try {
        message = text;
    } catch (...) {
        message.clear();
    }
}
inline const char* kept() noexcept { return message.c_str(); }
#else
/// The text of the last error of each thread.  Not thread_local: at the first use in a thread, that
/// ends the process if it has no memory.
class Messages {
  public:
    Messages() noexcept : made_(pthread_key_create(&key_, std::free) == 0) {}
    ~Messages() {
        if (made_) pthread_key_delete(key_);
    }
    Messages(const Messages&) = delete;
    Messages& operator=(const Messages&) = delete;

    char* get() const { return made_ ? static_cast<char*>(pthread_getspecific(key_)) : nullptr; }
    void set(const char* text) const {
        if (!made_) return;
        char *const before = get(), *const copy = strdup(text);
        std::free(pthread_setspecific(key_, copy) == 0 ? before : copy);
    }

  private:
    pthread_key_t key_{};
    bool made_;
};
inline const Messages messages;

/// Keeps the text of an error, or none where there is no memory for it.
inline void keep(const char* text) noexcept { messages.set(text); }
inline const char* kept() noexcept {
    const char* const text = messages.get();
    return text == nullptr ? "" : text;
}
#endif

}  // namespace polhode::dispatch
