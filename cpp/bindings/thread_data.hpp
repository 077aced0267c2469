#pragma once

/// Included first in every source of the module, whose thread-local data is in the static block of
/// each thread (-ftls-model=initial-exec).  The data of std::call_once belongs to libstdc++.  If
/// another module has used that data before, it is not in the static block, and the loader would
/// refuse this module.

#include <mutex>

// NOLINTBEGIN(*-namespace-modification,*-reserved-identifier,*-redundant-declaration): as <mutex>
namespace std {
[[gnu::tls_model("global-dynamic")]] extern __thread void* __once_callable;
[[gnu::tls_model("global-dynamic")]] extern __thread void (*__once_call)();
}  // namespace std
// NOLINTEND(*-namespace-modification,*-reserved-identifier,*-redundant-declaration)
