// SPDX-License-Identifier: Apache-2.0
// cuda_transfer: cudaMemcpy between host and device, beside clweave's family transfer.
//
//   nvcc -O3 -std=c++20 -arch=sm_90 host/baselines/cuda_transfer.cu -o cuda_transfer
//   ./cuda_transfer [bytes ...]     4096 and 2^26 unless told
//
// Prints one CSV row per kernel, memory and size: by the host's clock the median of 51 calls and its
// quartiles; `both` is a copy each way at once, by two streams. What arrived is checked first, and again at
// the end.
#include <cstdint>
#include <cstring>
#include <memory>

#include "cuda.hpp"

namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void fill(std::uint32_t* words, std::size_t n, std::uint32_t state) {
  for (std::size_t i = 0; i < n; ++i) words[i] = state = state * 1664525U + 1013904223U;
}

template <class Move, class Check>
void measure(const char* kernel, const char* memory, std::size_t bytes, double moved, const Move& move,
             const Check& is_right) {
  constexpr int samples = 51;
  const auto must_be_right = [&] {
    if (is_right()) return;
    std::fprintf(stderr, "cuda_transfer: %s of %zu bytes, %s: wrong result\n", kernel, bytes, memory);
    std::exit(1);
  };
  move();
  must_be_right();
  // As many at a time as last 2 ms, as the family does.
  const double before_one = now();
  move();
  const int batch = std::clamp(static_cast<int>(2e-3 / (now() - before_one)), 1, 512);
  std::vector<double> times;
  for (int i = 0; i < samples; ++i) {
    const double before = now();
    for (int k = 0; k < batch; ++k) move();
    times.push_back((now() - before) / batch);
  }
  must_be_right();
  std::sort(times.begin(), times.end());
  std::printf("cuda,%s,%s,%zu,%d,%.6g,%.6g,%.6g,%.5g\n", kernel, memory, bytes, samples, times[samples / 2],
              times[samples / 4], times[3 * samples / 4], 1e-9 * moved / times[samples / 2]);
  std::fflush(stdout);
}

void compare(std::size_t bytes, bool pinned) {
  const char* memory = pinned ? "pinned" : "pageable";
  const std::size_t n = bytes / sizeof(std::uint32_t);
  struct Free {
    bool pinned;
    void operator()(std::uint32_t* at) const { pinned ? static_cast<void>(cudaFreeHost(at)) : std::free(at); }
  };
  const auto allocate = [&] {
    void* at = nullptr;
    if (pinned)
      must(cudaMallocHost(&at, bytes), "cudaMallocHost");
    else
      at = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    std::memset(at, 0, bytes);
    return std::unique_ptr<std::uint32_t, Free>(static_cast<std::uint32_t*>(at), Free{pinned});
  };
  const auto from = allocate(), to = allocate();
  fill(from.get(), n, 1);
  std::vector<std::uint32_t> back(n);
  std::uint32_t *in = nullptr, *out = nullptr;
  must(cudaMalloc(&in, bytes), "cudaMalloc");
  must(cudaMalloc(&out, bytes), "cudaMalloc");
  must(cudaMemset(in, 0, bytes), "cudaMemset");

  measure(
      "write", memory, bytes, static_cast<double>(bytes),
      [&] { must(cudaMemcpy(in, from.get(), bytes, cudaMemcpyHostToDevice), "cudaMemcpy"); },
      [&] {
        must(cudaMemcpy(back.data(), in, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
        return std::memcmp(back.data(), from.get(), bytes) == 0;
      });
  std::vector<std::uint32_t> there(n);
  fill(there.data(), n, 2);
  must(cudaMemcpy(out, there.data(), bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
  measure(
      "read", memory, bytes, static_cast<double>(bytes),
      [&] { must(cudaMemcpy(to.get(), out, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy"); },
      [&] { return std::memcmp(to.get(), there.data(), bytes) == 0; });
  cudaStream_t up, down;
  must(cudaStreamCreate(&up), "stream");
  must(cudaStreamCreate(&down), "stream");
  std::memset(to.get(), 0, bytes);
  must(cudaMemset(in, 0, bytes), "cudaMemset");
  measure(
      "both", memory, bytes, 2.0 * static_cast<double>(bytes),
      [&] {
        must(cudaMemcpyAsync(in, from.get(), bytes, cudaMemcpyHostToDevice, up), "cudaMemcpyAsync");
        must(cudaMemcpyAsync(to.get(), out, bytes, cudaMemcpyDeviceToHost, down), "cudaMemcpyAsync");
        must(cudaStreamSynchronize(up), "synchronize");
        must(cudaStreamSynchronize(down), "synchronize");
      },
      [&] {
        must(cudaMemcpy(back.data(), in, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
        return std::memcmp(back.data(), from.get(), bytes) == 0 &&
               std::memcmp(to.get(), there.data(), bytes) == 0;
      });
  must(cudaStreamDestroy(up), "stream");
  must(cudaStreamDestroy(down), "stream");
  must(cudaFree(in), "cudaFree");
  must(cudaFree(out), "cudaFree");
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::size_t> sizes;
  for (int i = 1; i < argc; ++i) {
    char* end = nullptr;
    const std::size_t bytes = std::strtoull(argv[i], &end, 10);
    if (argv[i][0] < '0' || argv[i][0] > '9' || *end != 0 || bytes == 0 || bytes > std::size_t{1} << 36) {
      std::fprintf(stderr, "%s: write sizes in bytes, from 1 to 68719476736, such as 4096 67108864\n",
                   argv[i]);
      return 2;
    }
    sizes.push_back(bytes);
  }
  if (argc == 1) sizes = {4096, std::size_t{1} << 26};
  std::printf("api,kernel,memory,n,samples,time_s,p25_s,p75_s,gb_per_s\n");
  for (const bool pinned : {false, true}) {
    for (const std::size_t bytes : sizes) compare(bytes, pinned);
  }
  return 0;
}
