// SPDX-License-Identifier: Apache-2.0
// cuda: what the CUDA baselines share. They are timed as clweave times its own: a batch of executions between
// two events, where an execution may begin before the one before has ended. As HIP, it takes hip.hpp's names.
#pragma once
#ifdef __HIPCC__
#include "hip.hpp"
#else
#include <cuda_runtime.h>
#endif

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

inline void must(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  std::exit(1);
}

// Seconds of one of so many executions back to back, between two events.
template <class F>
double batch_seconds(int batch, const F& execute) {
  static const auto made = [] {
    cudaEvent_t event;
    must(cudaEventCreate(&event), "event");
    return event;
  };
  static const cudaEvent_t begin = made(), end = made();
  must(cudaEventRecord(begin), "record");
  for (int i = 0; i < batch; ++i) execute();
  must(cudaEventRecord(end), "record");
  must(cudaEventSynchronize(end), "synchronize");
  float ms = 0;
  must(cudaEventElapsedTime(&ms, begin, end), "elapsed");
  return 1e-3 * ms / batch;
}

// Seconds of one execution: median and quartiles over the batches.
struct Timing {
  double median_s, p25_s, p75_s;
};

template <class F>
Timing timing_of(int samples, const F& execute) {
  batch_seconds(3, execute);
  const int batch = std::clamp(static_cast<int>(2e-3 / batch_seconds(3, execute)), 1, 512);
  std::vector<double> times;
  for (int i = 0; i < samples; ++i) times.push_back(batch_seconds(batch, execute));
  std::sort(times.begin(), times.end());
  const auto at = [&](int quarter) { return times[quarter * (samples - 1) / 4]; };
  return {at(2), at(1), at(3)};
}
