// SPDX-License-Identifier: Apache-2.0
// cuda: what the CUDA baselines share. They are timed as clweave times its own: a batch of executions between
// two events, where an execution may begin before the one before has ended. Beside that, by themselves: the
// span of each execution by the device's time stamps, and a call with its wait.
#pragma once
#include <cuda_runtime.h>

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

// Seconds of one execution: median and quartiles over the batches, the median of spans (one execution between
// two events), and the median by the host's clock of a call with its wait.
struct Timing {
  double median_s, p25_s, p75_s, span_s, wall_s;
};

template <class F>
Timing timing_of(int samples, const F& execute) {
  const auto now = [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  };
  cudaEvent_t begin, end;
  must(cudaEventCreate(&begin), "event");
  must(cudaEventCreate(&end), "event");
  const auto batch_seconds = [&](int batch) {
    must(cudaEventRecord(begin), "record");
    for (int i = 0; i < batch; ++i) execute();
    must(cudaEventRecord(end), "record");
    must(cudaEventSynchronize(end), "synchronize");
    float ms = 0;
    must(cudaEventElapsedTime(&ms, begin, end), "elapsed");
    return 1e-3 * ms / batch;
  };
  batch_seconds(3);
  const int batch = std::clamp(static_cast<int>(2e-3 / batch_seconds(3)), 1, 512);
  // Of each execution alone; the mean over a batch.
  std::vector<cudaEvent_t> marks(2 * static_cast<std::size_t>(batch));
  for (auto& mark : marks) must(cudaEventCreate(&mark), "event");
  const auto span_seconds = [&] {
    for (std::size_t i = 0; i < marks.size(); i += 2) {
      must(cudaEventRecord(marks[i]), "record");
      execute();
      must(cudaEventRecord(marks[i + 1]), "record");
    }
    must(cudaDeviceSynchronize(), "synchronize");
    double sum_s = 0;
    for (std::size_t i = 0; i < marks.size(); i += 2) {
      float ms = 0;
      must(cudaEventElapsedTime(&ms, marks[i], marks[i + 1]), "elapsed");
      sum_s += 1e-3 * ms;
    }
    return sum_s / batch;
  };
  std::vector<double> times, spans, walls;
  for (int i = 0; i < samples; ++i) {
    times.push_back(batch_seconds(batch));
    spans.push_back(span_seconds());
    const double before = now();
    execute();
    must(cudaDeviceSynchronize(), "synchronize");
    walls.push_back(now() - before);
  }
  std::sort(times.begin(), times.end());
  std::sort(spans.begin(), spans.end());
  std::sort(walls.begin(), walls.end());
  const auto at = [&](const std::vector<double>& sorted, int quarter) {
    return sorted[quarter * (samples - 1) / 4];
  };
  for (auto mark : marks) must(cudaEventDestroy(mark), "event");
  must(cudaEventDestroy(begin), "event");
  must(cudaEventDestroy(end), "event");
  return {at(times, 2), at(times, 1), at(times, 3), at(spans, 2), at(walls, 2)};
}

// The temporary memory of a call to CUB, call(memory, bytes).
struct Scratch {
  void* at = nullptr;
  std::size_t bytes = 0;
  template <class F>
  explicit Scratch(const F& call) {
    must(call(nullptr, bytes), "size of scratch");
    must(cudaMalloc(&at, bytes), "malloc");
  }
  ~Scratch() { cudaFree(at); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
};
