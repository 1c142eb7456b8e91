// SPDX-License-Identifier: Apache-2.0
// cub_select: cub::DeviceSelect::If, beside clweave's compactions: of n words those that are not zero. Prints CSV.
//
//   nvcc -O3 -std=c++20 -arch=sm_90 -I host host/baselines/cub_select.cu -o cub_select
//   ./cub_select [log2 of n ..]
//
// Each word is kept with the given probability, by itself. Bytes: n words read, the kept ones written. The whole
// output and its count are compared first. The time holds all that a call launches.
#include <cstdint>
#include <cub/cub.cuh>

#include "cuda.hpp"
#include "base/random.hpp"

namespace {

struct NotZero {
  __host__ __device__ bool operator()(std::uint32_t word) const { return word != 0; }
};

void select(std::size_t n, double kept, std::uint32_t* in, std::uint32_t* out, std::uint32_t* count) {
  const clweave::Random<std::uint32_t> value(1, 1), chance(1, 2);
  std::vector<std::uint32_t> host(n), want;
  for (std::size_t i = 0; i < n; ++i) {
    if (static_cast<double>(chance(i)) < kept * 0x1p32) want.push_back(host[i] = value(i) | 1);
  }
  must(cudaMemcpy(in, host.data(), 4 * n, cudaMemcpyHostToDevice), "upload");
  const auto call = [&](void* p, std::size_t& bytes) {
    return cub::DeviceSelect::If(p, bytes, in, out, count, static_cast<std::int64_t>(n), NotZero());
  };
  Scratch scratch(call);
  const auto execute = [&] { must(call(scratch.at, scratch.bytes), "select"); };
  execute();
  std::uint32_t found = 0;
  must(cudaMemcpy(&found, count, 4, cudaMemcpyDeviceToHost), "download");
  std::vector<std::uint32_t> got(want.size());
  must(cudaMemcpy(got.data(), out, 4 * got.size(), cudaMemcpyDeviceToHost), "download");
  const bool right = found == want.size() && got == want;
  const Timing t = timing_of(41, execute);
  const double bytes = 4.0 * static_cast<double>(n + want.size());
  std::printf("cuda,cub::DeviceSelect::If,uint,%zu,%g,%zu,%.6g,%.6g,%.6g,%.6g,%.6g,%.0f,%.5g,%s\n", n, kept, want.size(),
              t.median_s, t.p25_s, t.p75_s, t.span_s, t.wall_s, bytes, 1e-9 * bytes / t.median_s, right ? "yes" : "no");
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** words) {
  std::vector<int> sizes;
  for (int i = 1; i < count; ++i) sizes.push_back(std::atoi(words[i]));
  if (sizes.empty()) sizes = {20, 24, 28};
  std::printf("api,kernel,type,n,kept,kept_n,time_s,p25_s,p75_s,span_s,single_wall_s,bytes,gb_per_s,verified\n");
  for (const int log2_n : sizes) {
    const std::size_t n = std::size_t{1} << log2_n;
    std::uint32_t *in = nullptr, *out = nullptr, *number = nullptr;
    must(cudaMalloc(&in, 4 * n), "malloc");
    must(cudaMalloc(&out, 4 * n), "malloc");
    must(cudaMalloc(&number, 4), "malloc");
    for (const double kept : {0.0, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0}) select(n, kept, in, out, number);
    cudaFree(in);
    cudaFree(out);
    cudaFree(number);
  }
  return 0;
}
