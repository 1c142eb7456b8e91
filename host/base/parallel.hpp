// SPDX-License-Identifier: Apache-2.0
// parallel: host-side fills and checks on every core.
#pragma once
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstdint>

#if defined(__SANITIZE_THREAD__)
#define CLWEAVE_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CLWEAVE_TSAN 1
#endif
#endif
#ifdef CLWEAVE_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace clweave {

// libtbb is not instrumented: ThreadSanitizer has to be told what its tasks wait for.
class HandOver {
 public:
#ifdef CLWEAVE_TSAN
  void give() { __tsan_release(this); }
  void take() { __tsan_acquire(this); }
#else
  void give() {}
  void take() {}
#endif
};

// Calls f(begin, end) on disjoint stretches of [0, n), each but the last a multiple of `grain` long, on all
// cores. f must not throw. What f makes on first use, for all, goes through tbb::collaborative_call_once: who
// waits in std::call_once is not there for stretches of the maker's.
template <class F>
void for_stretches(std::uint64_t n, std::uint64_t grain, const F& f) {
  using Range = tbb::blocked_range<std::uint64_t>;
  HandOver begun, done;
  begun.give();
  tbb::parallel_for(Range(0, (n + grain - 1) / grain), [&](const Range& range) {
    begun.take();
    f(range.begin() * grain, std::min(n, range.end() * grain));
    done.give();
  });
  done.take();
}

}  // namespace clweave
