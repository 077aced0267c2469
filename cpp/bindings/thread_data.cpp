/// A library that module.cpp opens before anything else and that does nothing.  With
/// -ftls-model=initial-exec its reference makes the loader put the thread-local data of libstdc++
/// into the static block of each thread: then an exception in a thread without memory does not end
/// the process.  If other modules have used that data before, it stays elsewhere, and the loader
/// refuses this library instead of polhode._core.

#include <mutex>

extern "C" void** polhode_thread_data();
extern "C" void** polhode_thread_data() { return &std::__once_callable; }
