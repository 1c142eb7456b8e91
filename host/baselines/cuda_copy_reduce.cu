// SPDX-License-Identifier: Apache-2.0
// cuda_copy_reduce: cudaMemcpy from device to device and CUB's sum, beside clweave's copies and reductions.
//
//   nvcc -O3 -std=c++20 -arch=sm_90 host/baselines/cuda_copy_reduce.cu -o cuda_copy_reduce
//   ./cuda_copy_reduce [n ...]      32-bit words; 2^20, 2^22, 2^24, 2^27 and 2^28 unless told
//
// Prints one CSV row per kernel and size: the median of 101 batches between two events and its quartiles; the span of
// each call; and the host's clock around a single call with its wait. What was computed is checked first.
#include <cstdint>
#include <cub/cub.cuh>
#include <numeric>

#include "cuda.hpp"

namespace {

void must_be_right(bool right, const char* kernel) {
  if (right) return;
  std::fprintf(stderr, "cuda_copy_reduce: %s: wrong result\n", kernel);
  std::exit(1);
}

template <class F>
void measure(const char* kernel, std::size_t n, double bytes, const F& execute) {
  constexpr int samples = 101;
  const Timing t = timing_of(samples, execute);
  std::printf("cuda,%s,uint,%zu,%d,%.6g,%.6g,%.6g,%.6g,%.6g,%.0f,%.5g\n", kernel, n, samples, t.median_s, t.p25_s, t.p75_s,
              t.span_s, t.wall_s, bytes, 1e-9 * bytes / t.median_s);
  std::fflush(stdout);
}

void compare(std::size_t n) {
  const std::size_t bytes = 4 * n;
  std::vector<std::uint32_t> host(n), back(n);
  std::uint32_t state = 1;
  for (auto& word : host) word = state = state * 1664525U + 1013904223U;
  std::uint32_t *from = nullptr, *to = nullptr;
  must(cudaMalloc(&from, bytes), "cudaMalloc");
  must(cudaMalloc(&to, bytes), "cudaMalloc");
  must(cudaMemcpy(from, host.data(), bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
  must(cudaMemset(to, 0, bytes), "cudaMemset");
  const auto copy = [&] { must(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice), "cudaMemcpyAsync"); };
  copy();
  must(cudaMemcpy(back.data(), to, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
  must_be_right(host == back, "cudaMemcpy");
  measure("cudaMemcpy", n, 2.0 * static_cast<double>(bytes), copy);

  const auto call = [&](void* p, std::size_t& bytes_of) { return cub::DeviceReduce::Sum(p, bytes_of, from, to, n); };
  Scratch scratch(call);
  const auto reduce = [&] { must(call(scratch.at, scratch.bytes), "sum"); };
  reduce();
  std::uint32_t sum = 0;
  must(cudaMemcpy(&sum, to, 4, cudaMemcpyDeviceToHost), "cudaMemcpy");
  must_be_right(sum == std::accumulate(host.begin(), host.end(), std::uint32_t{0}), "cub::DeviceReduce::Sum");
  measure("cub::DeviceReduce::Sum", n, static_cast<double>(bytes), reduce);
  must(cudaFree(from), "cudaFree");
  must(cudaFree(to), "cudaFree");
}

}  // namespace

int main(int argc, char** argv) {
  std::printf("api,kernel,type,n,samples,time_s,p25_s,p75_s,span_s,single_wall_s,bytes,gb_per_s\n");
  for (int i = 1; i < argc; ++i) compare(std::strtoull(argv[i], nullptr, 10));
  if (argc == 1) {
    for (const int power : {20, 22, 24, 27, 28}) compare(std::size_t{1} << power);
  }
  return 0;
}
