// SPDX-License-Identifier: Apache-2.0
// cuda_copy: cudaMemcpy from device to device, beside clweave's copies of the same size.
//
//   nvcc -O3 -std=c++17 cuda_copy.cu -o cuda_copy && ./cuda_copy [bytes...]
//
// Prints one CSV row per size: median of 101 samples by CUDA events, their quartiles. The copy is checked.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

void must(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "cuda_copy: %s\n", cudaGetErrorString(error));
  std::exit(1);
}

void measure(std::size_t bytes) {
  std::vector<std::uint32_t> host(bytes / 4), back(bytes / 4);
  std::uint32_t state = 1;
  for (auto& word : host) word = state = state * 1664525U + 1013904223U;
  void *from = nullptr, *to = nullptr;
  must(cudaMalloc(&from, bytes));
  must(cudaMalloc(&to, bytes));
  must(cudaMemcpy(from, host.data(), bytes, cudaMemcpyHostToDevice));
  must(cudaMemset(to, 0, bytes));
  must(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToDevice));
  must(cudaMemcpy(back.data(), to, bytes, cudaMemcpyDeviceToHost));
  if (host != back) {
    std::fprintf(stderr, "cuda_copy: wrong result\n");
    std::exit(1);
  }
  cudaEvent_t start, end;
  must(cudaEventCreate(&start));
  must(cudaEventCreate(&end));
  // As long as clweave's: batches of at least a millisecond.
  const int batch = static_cast<int>(std::max<std::size_t>(1, (std::size_t{4} << 30) / (bytes + (1 << 20))));
  std::vector<double> times;
  for (int i = -10; i < 101; ++i) {
    must(cudaEventRecord(start));
    for (int b = 0; b < batch; ++b) must(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice));
    must(cudaEventRecord(end));
    must(cudaEventSynchronize(end));
    float ms = 0;
    must(cudaEventElapsedTime(&ms, start, end));
    if (i >= 0) times.push_back(1e-3 * ms / batch);
  }
  std::sort(times.begin(), times.end());
  std::printf("cuda,cudaMemcpy,%zu,%zu,%.6g,%.6g,%.6g,%zu,%.5g\n", bytes, times.size(), times[50], times[25],
              times[75], 2 * bytes, 2e-9 * static_cast<double>(bytes) / times[50]);
  std::fflush(stdout);
  must(cudaFree(from));
  must(cudaFree(to));
}

}  // namespace

int main(int argc, char** argv) {
  std::printf("api,kernel,array_bytes,samples,time_s,p25_s,p75_s,bytes,gb_per_s\n");
  for (int i = 1; i < argc; ++i) measure(std::strtoull(argv[i], nullptr, 10));
  if (argc == 1) {
    for (const std::size_t mib : {64, 512, 1024}) measure(mib << 20);
  }
  return 0;
}
