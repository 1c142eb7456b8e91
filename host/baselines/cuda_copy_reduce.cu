// SPDX-License-Identifier: Apache-2.0
// cuda_copy_reduce: cudaMemcpy from device to device and CUB's sum, beside clweave's copies and reductions.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 cuda_copy_reduce.cu -o cuda_copy_reduce
//   ./cuda_copy_reduce [n ...]      32-bit words; 2^20, 2^22, 2^24, 2^27 and 2^28 unless told
//
// Prints one CSV row per kernel and size: the median of 101 batches between two events, its quartiles, and
// the same for the host's clock around a single call with its wait. What was computed is checked first.
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cub/cub.cuh>
#include <numeric>
#include <vector>

namespace {

void must(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "cuda_copy_reduce: %s\n", cudaGetErrorString(error));
  std::exit(1);
}

void must_be_right(bool right, const char* kernel) {
  if (right) return;
  std::fprintf(stderr, "cuda_copy_reduce: %s: wrong result\n", kernel);
  std::exit(1);
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <class F>
void measure(const char* kernel, std::size_t n, double bytes, const F& execute) {
  cudaEvent_t start, end;
  must(cudaEventCreate(&start));
  must(cudaEventCreate(&end));
  // As long as clweave's: at least a millisecond and twenty launches.
  const int batch = static_cast<int>(std::clamp(8e9 / bytes, 1.0, 400.0));
  std::vector<double> times, walls;
  for (int i = -10; i < 101; ++i) {
    must(cudaEventRecord(start));
    for (int b = 0; b < batch; ++b) execute();
    must(cudaEventRecord(end));
    must(cudaEventSynchronize(end));
    float ms = 0;
    must(cudaEventElapsedTime(&ms, start, end));
    const double before = now();
    execute();
    must(cudaDeviceSynchronize());
    if (i < 0) continue;
    times.push_back(1e-3 * ms / batch);
    walls.push_back(now() - before);
  }
  std::sort(times.begin(), times.end());
  std::sort(walls.begin(), walls.end());
  std::printf("cuda,%s,uint,%zu,%zu,%.6g,%.6g,%.6g,%.6g,%.0f,%.5g\n", kernel, n, times.size(), times[50],
              times[25], times[75], walls[50], bytes, 1e-9 * bytes / times[50]);
  std::fflush(stdout);
}

void compare(std::size_t n) {
  const std::size_t bytes = 4 * n;
  std::vector<std::uint32_t> host(n), back(n);
  std::uint32_t state = 1;
  for (auto& word : host) word = state = state * 1664525U + 1013904223U;
  std::uint32_t *from = nullptr, *to = nullptr;
  must(cudaMalloc(&from, bytes));
  must(cudaMalloc(&to, bytes));
  must(cudaMemcpy(from, host.data(), bytes, cudaMemcpyHostToDevice));
  must(cudaMemset(to, 0, bytes));
  const auto copy = [&] { must(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice)); };
  copy();
  must(cudaMemcpy(back.data(), to, bytes, cudaMemcpyDeviceToHost));
  must_be_right(host == back, "cudaMemcpy");
  measure("cudaMemcpy", n, 2.0 * static_cast<double>(bytes), copy);

  void* scratch = nullptr;
  std::size_t scratch_bytes = 0;
  must(cub::DeviceReduce::Sum(scratch, scratch_bytes, from, to, n));
  must(cudaMalloc(&scratch, scratch_bytes));
  const auto reduce = [&] { must(cub::DeviceReduce::Sum(scratch, scratch_bytes, from, to, n)); };
  reduce();
  std::uint32_t sum = 0;
  must(cudaMemcpy(&sum, to, 4, cudaMemcpyDeviceToHost));
  must_be_right(sum == std::accumulate(host.begin(), host.end(), std::uint32_t{0}), "cub::DeviceReduce::Sum");
  measure("cub::DeviceReduce::Sum", n, static_cast<double>(bytes), reduce);
  must(cudaFree(scratch));
  must(cudaFree(from));
  must(cudaFree(to));
}

}  // namespace

int main(int argc, char** argv) {
  std::printf("api,kernel,type,n,samples,time_s,p25_s,p75_s,single_wall_s,bytes,gb_per_s\n");
  for (int i = 1; i < argc; ++i) compare(std::strtoull(argv[i], nullptr, 10));
  if (argc == 1) {
    for (const int power : {20, 22, 24, 27, 28}) compare(std::size_t{1} << power);
  }
  return 0;
}
