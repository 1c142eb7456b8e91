// SPDX-License-Identifier: Apache-2.0
// parallel: host-side fills and checks on every core.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <future>
#include <thread>
#include <vector>

#include "base/default_floats.hpp"
#include "base/namespaces.hpp"

namespace clweave::base {

// Calls f(begin, end) on disjoint stretches of [0, n), each but the last a multiple of `grain` long, on as
// many threads as there is work for. Throws what one of them throws, after all have ended. Uses plain threads
// and no library's pool, because OpenCL drivers for CPUs bring their own oneTBB, and a process can hold only
// one libtbb (Intel's runtime does not load beside an older one). f computes with DefaultFloats.
template <class F>
void for_stretches(std::uint64_t n, std::uint64_t grain, const F& f) {
  const std::uint64_t grains = (n + grain - 1) / grain;
  const std::uint64_t threads =
      std::clamp<std::uint64_t>(std::thread::hardware_concurrency(), 1, std::max<std::uint64_t>(grains, 1));
  const auto edge = [&](std::uint64_t t) { return std::min(n, grains * t / threads * grain); };
  std::vector<std::exception_ptr> failures(threads);
  const auto part = [&](std::uint64_t t) {
    try {
      const DefaultFloats floats;
      f(edge(t), edge(t + 1));
    } catch (...) {
      failures[t] = std::current_exception();
    }
  };
  std::vector<std::jthread> workers;
  for (std::uint64_t t = 1; t < threads; ++t) workers.emplace_back([&, t] { part(t); });
  part(0);
  workers.clear();  // waits for them
  for (const auto& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

// Runs `work` on another thread and calls beat() at that interval meanwhile. Throws what `work` throws.
template <class Work, class Beat>
void with_heartbeat(std::chrono::milliseconds every, const Work& work, const Beat& beat) {
  auto done = std::async(std::launch::async, work);
  while (done.wait_for(every) == std::future_status::timeout) beat();
  done.get();
}

}  // namespace clweave::base
