// SPDX-License-Identifier: Apache-2.0
// behaviours: what plain CUDA programs say of behaviours that clweave measures, to compare in the same
// minutes.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 behaviours.cu -o behaviours
//   behaviours        prints "FAMILY.FINDING VALUE UNIT" each, the names as `clweave show FILE --csv` has
//   them
//
// Each number is the median of several launches between two events, or by the host's clock where the host
// takes part.
#include <cooperative_groups.h>
#include <sys/mman.h>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda/atomic>
#include <functional>
#include <utility>
#include <vector>

namespace {

void expect(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "behaviours: %s\n", cudaGetErrorString(error));
  std::exit(1);
}

double median(std::vector<double> of) {
  std::sort(of.begin(), of.end());
  return of[of.size() / 2];
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Returns the median seconds of the work by events, after it has run for 100 ms.
double by_event(const std::function<void()>& work, int samples = 30) {
  cudaEvent_t begin, end;
  expect(cudaEventCreate(&begin));
  expect(cudaEventCreate(&end));
  for (const double start = now(); now() - start < 0.1;) {
    work();
    expect(cudaDeviceSynchronize());
  }
  std::vector<double> times;
  for (int i = 0; i < samples; ++i) {
    expect(cudaEventRecord(begin));
    work();
    expect(cudaEventRecord(end));
    expect(cudaEventSynchronize(end));
    float ms = 0;
    expect(cudaEventElapsedTime(&ms, begin, end));
    times.push_back(1e-3 * ms);
  }
  return median(times);
}

template <class T>
T* allocate(std::size_t n) {
  void* p = nullptr;
  expect(cudaMalloc(&p, n * sizeof(T)));
  expect(cudaMemset(p, 0, n * sizeof(T)));
  return static_cast<T*>(p);
}

int units() {
  int n = 0;
  expect(cudaDeviceGetAttribute(&n, cudaDevAttrMultiProcessorCount, 0));
  return n;
}

// ---- STREAM
// ------------------------------------------------------------------------------------------------

__global__ void triad(float4* a, const float4* b, const float4* c) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const float s = 0.4f;
  const float4 x = b[i], y = c[i];
  a[i] = {x.x + s * y.x, x.y + s * y.y, x.z + s * y.z, x.w + s * y.w};
}

__global__ void fill(float4* a, float s) {
  a[std::size_t{blockIdx.x} * blockDim.x + threadIdx.x] = {s, s, s, s};
}

void stream() {
  const std::size_t n = std::size_t{1} << 27, bytes = n * sizeof(float);
  auto *a = allocate<float4>(n / 4), *b = allocate<float4>(n / 4), *c = allocate<float4>(n / 4);
  const auto blocks = static_cast<unsigned>(n / 4 / 256);
  std::printf("stream.triad_rate %.6g GB/s\n",
              3e-9 * bytes / by_event([&] { triad<<<blocks, 256>>>(a, b, c); }));
  std::printf("stream.fill_rate %.6g GB/s\n", 1e-9 * bytes / by_event([&] { fill<<<blocks, 256>>>(a, 1); }));
  for (auto* p : {a, b, c}) expect(cudaFree(p));
}

// ---- Atomics
// -----------------------------------------------------------------------------------------------

template <cuda::memory_order order, cuda::thread_scope scope>
__global__ void own_counters(unsigned* out, unsigned* counters, volatile unsigned* plain,
                             unsigned iterations) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  cuda::atomic_ref<unsigned, scope> counter(counters[i]);
  unsigned sum = 0;
  for (unsigned k = 0; k < iterations; ++k) {
    plain[i] = k;
    sum += counter.fetch_add(1u, order) - k;
  }
  out[i] = sum;
}

void atomic_order() {
  const unsigned groups = 8 * units(), items = groups * 128;
  auto *out = allocate<unsigned>(items), *counters = allocate<unsigned>(items),
       *plain = allocate<unsigned>(items);
  const double relaxed = by_event([&] {
    own_counters<cuda::memory_order_relaxed, cuda::thread_scope_device>
        <<<groups, 128>>>(out, counters, plain, 256);
  });
  const double acq_rel = by_event([&] {
    own_counters<cuda::memory_order_acq_rel, cuda::thread_scope_device>
        <<<groups, 128>>>(out, counters, plain, 256);
  });
  const double seq_cst = by_event([&] {
    own_counters<cuda::memory_order_seq_cst, cuda::thread_scope_device>
        <<<groups, 128>>>(out, counters, plain, 256);
  });
  std::printf("atomic_order.acq_rel_price %.6g ratio\n", acq_rel / relaxed);
  std::printf("atomic_order.seq_cst_price %.6g ratio\n", seq_cst / relaxed);
  for (auto* p : {out, counters, plain}) expect(cudaFree(p));
}

// ---- Instructions
// ------------------------------------------------------------------------------------------

// Executes so many statements in a row: x[k] ^= x[k + 1] + constant, the constants all different.
template <unsigned first, unsigned count>
__device__ __forceinline__ void statements(unsigned (&x)[8]) {
  if constexpr (count == 8) {
#pragma unroll
    for (unsigned k = 0; k < 8; ++k) x[k] ^= x[(k + 1) % 8] + (0xa0000000u + (first + k) * 0x10001u);
  } else {
    statements<first, count / 2>(x);
    statements<first + count / 2, count / 2>(x);
  }
}

template <unsigned count>
__global__ void straight(unsigned* out, unsigned passes) {
  unsigned x[8];
  for (unsigned k = 0; k < 8; ++k) x[k] = out[k * 32 + threadIdx.x];
  for (unsigned pass = 0; pass < passes; ++pass) statements<0, count>(x);
  for (unsigned k = 0; k < 8; ++k) out[k * 32 + threadIdx.x] = x[k];
}

template <unsigned count>
double ns_of_statement(unsigned* out) {
  constexpr unsigned all = 1u << 18;
  return 1e9 / all * by_event([&] { straight<count><<<1, 32>>>(out, all / count); });
}

void instruction_cache() {
  auto* out = allocate<unsigned>(256);
  const double shortest = ns_of_statement<128>(out);
  const std::pair<int, double> longer[] = {{512, ns_of_statement<512>(out)},
                                           {1024, ns_of_statement<1024>(out)},
                                           {2048, ns_of_statement<2048>(out)},
                                           {4096, ns_of_statement<4096>(out)},
                                           {8192, ns_of_statement<8192>(out)}};
  std::printf("# instruction_cache 128 statements: %.4g ns each\n", shortest);
  for (const auto& [count, ns] : longer)
    std::printf("# instruction_cache %d statements: %.4g ns each\n", count, ns);
  std::printf("instruction_cache.long_code_slowdown %.6g ratio\n", longer[4].second / shortest);
  expect(cudaFree(out));
}

// ---- Work-groups that wait for each other
// ------------------------------------------------------------------

__global__ void grid_barriers(unsigned barriers) {
  const auto grid = cooperative_groups::this_grid();
  for (unsigned i = 0; i < barriers; ++i) grid.sync();
}

void grid_barrier() {
  unsigned many = 1000, none = 0;
  const auto run = [&](unsigned& barriers) {
    return by_event([&] {
      void* args[] = {&barriers};
      expect(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(&grid_barriers), units(), 32, args, 0,
                                         nullptr));
    });
  };
  const double empty = run(none);
  std::printf("group_latency.grid_barrier_latency %.6g ns\n", 1e9 * (run(many) - empty) / many);
}

// One thread of block 0 and one of block `with` pass a number to and fro.
__global__ void ping_pong(unsigned* flag, unsigned with, unsigned times) {
  if (threadIdx.x != 0 || (blockIdx.x != 0 && blockIdx.x != with)) return;
  const unsigned mine = blockIdx.x == 0 ? 0 : 1;
  cuda::atomic_ref<unsigned, cuda::thread_scope_device> shared(*flag);
  for (unsigned i = 0; i < times; ++i) {
    const unsigned wanted = 2 * i + mine;
    for (unsigned looks = 0; shared.load(cuda::memory_order_relaxed) != wanted && looks < 1000000; ++looks)
      continue;
    shared.store(wanted + 1, cuda::memory_order_relaxed);
  }
}

void group_latency() {
  auto* flag = allocate<unsigned>(1);
  const unsigned times = 1000;
  std::vector<double> ns;
  for (int with = 1; with < units(); ++with) {
    cudaEvent_t begin, end;
    expect(cudaEventCreate(&begin));
    expect(cudaEventCreate(&end));
    std::vector<double> some;
    for (int i = 0; i < 3; ++i) {
      expect(cudaMemset(flag, 0, sizeof(unsigned)));
      expect(cudaEventRecord(begin));
      ping_pong<<<units(), 32>>>(flag, with, times);
      expect(cudaEventRecord(end));
      expect(cudaEventSynchronize(end));
      float ms = 0;
      expect(cudaEventElapsedTime(&ms, begin, end));
      some.push_back(1e6 * ms / (2 * times));
    }
    ns.push_back(median(some));
  }
  std::printf("group_latency.group_latency %.6g ns\n", median(ns));
  std::printf("# group_latency least %.6g ns\n", *std::min_element(ns.begin(), ns.end()));
  std::printf("# group_latency most %.6g ns\n", *std::max_element(ns.begin(), ns.end()));
  expect(cudaFree(flag));
}

// ---- Host link
// ---------------------------------------------------------------------------------------------

__global__ void sum(unsigned* out, const unsigned* in, unsigned each) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t all = std::size_t{gridDim.x} * blockDim.x;
  unsigned total = 0;
  for (unsigned k = 0; k < each; ++k) total += in[i + k * all];
  out[i] = total;
}

void host_link() {
  const std::size_t bytes = 64 << 20;
  void *host = nullptr, *seen = nullptr;
  expect(cudaHostAlloc(&host, bytes, cudaHostAllocMapped));
  expect(cudaHostGetDevicePointer(&seen, host, 0));
  auto* device = allocate<unsigned>(bytes / 4);
  const unsigned items = bytes / 4 / 64;
  std::printf(
      "transfer.kernel_read_alloc_host_ptr %.6g GB/s\n",
      1e-9 * bytes / by_event([&] { sum<<<items / 256, 256>>>(device, static_cast<unsigned*>(seen), 64); }));
  const auto read_to = [&](void* to) {
    const double before = now();
    expect(cudaMemcpy(to, device, bytes, cudaMemcpyDeviceToHost));
    return now() - before;
  };
  std::vector<double> again, fresh;
  void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  read_to(pages);
  for (int i = 0; i < 20; ++i) again.push_back(read_to(pages));
  for (int i = 0; i < 20; ++i) {
    madvise(pages, bytes, MADV_DONTNEED);
    fresh.push_back(read_to(pages));
  }
  std::printf("transfer.d2h_untouched %.6g ratio\n", median(fresh) / median(again));
  std::printf("transfer.d2h_pageable %.6g GB/s\n", 1e-9 * bytes / median(again));
  munmap(pages, bytes);
  expect(cudaFreeHost(host));
  expect(cudaFree(device));
}

// Writes an array on the first device and copies it to the second, which has access to it.
void peers() {
  int devices = 0;
  expect(cudaGetDeviceCount(&devices));
  if (devices < 2) return;
  const std::size_t bytes = 64 << 20;
  int able = 0;
  expect(cudaDeviceCanAccessPeer(&able, 1, 0));
  void *from = nullptr, *to = nullptr;
  expect(cudaMalloc(&from, bytes));
  expect(cudaSetDevice(1));
  expect(cudaMalloc(&to, bytes));
  if (able != 0) expect(cudaDeviceEnablePeerAccess(0, 0));
  std::vector<double> times;
  for (int i = 0; i < 20; ++i) {
    const double before = now();
    expect(cudaMemcpyPeer(to, 1, from, 0, bytes));
    expect(cudaDeviceSynchronize());
    times.push_back(now() - before);
  }
  std::printf("# peer access: %d\n", able);
  std::printf("transfer.peer_1 %.6g GB/s\n", 1e-9 * bytes / median(times));
  expect(cudaSetDevice(0));
}

// ---- Loads
// -------------------------------------------------------------------------------------------------

__global__ void follow(const unsigned* next, unsigned* out, unsigned steps) {
  unsigned at = 0;
  for (unsigned i = 0; i < steps; ++i) at = __ldcg(next + at);
  *out = at;
}

// Goes through one load, past the L1 cache, which needs no TLB, per page of 2 MiB, in a random order, over growing reaches.
void tlb() {
  const std::size_t most = std::size_t{16} << 30, page = 2 << 20;
  auto* next = allocate<unsigned>(most / 4);
  auto* out = allocate<unsigned>(1);
  for (std::size_t reach = 32 << 20; reach <= most; reach *= 2) {
    const std::size_t pages = reach / page;
    std::vector<unsigned> order(pages);
    for (std::size_t i = 0; i < pages; ++i) order[i] = static_cast<unsigned>(i);
    std::uint64_t state = 1;
    for (std::size_t i = pages - 1; i > 0; --i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      std::swap(order[i], order[(state >> 33) % (i + 1)]);
    }
    // Each page is used at another line, so that the lines spread over the sets of caches.
    const auto place = [&](unsigned p) {
      return static_cast<unsigned>((p * page + std::uint64_t{p} % 1024 * 128) / 4);
    };
    for (std::size_t i = 0; i < pages; ++i) {
      const unsigned to = place(order[(i + 1) % pages]);
      expect(cudaMemcpy(next + place(order[i]), &to, 4, cudaMemcpyHostToDevice));
    }
    const unsigned first = place(order[0]);
    expect(cudaMemcpy(next, &first, 4, cudaMemcpyHostToDevice));
    const unsigned steps = 20000;
    const double s = by_event([&] { follow<<<1, 1>>>(next, out, steps); }, 5);
    std::printf("# tlb %zu MiB: %.4g ns a load\n", reach >> 20, 1e9 * s / steps);
  }
  expect(cudaFree(next));
  expect(cudaFree(out));
}

// ---- Over time
// ---------------------------------------------------------------------------------------------

__global__ void multiply_add(float* out, float a, unsigned iterations) {
  float x[8];
  for (int k = 0; k < 8; ++k) x[k] = static_cast<float>(threadIdx.x + k);
  for (unsigned i = 0; i < iterations; ++i) {
#pragma unroll
    for (int k = 0; k < 8; ++k) x[k] = fmaf(x[k], a, a);
  }
  float all = 0;
  for (int k = 0; k < 8; ++k) all += x[k];
  out[blockIdx.x * blockDim.x + threadIdx.x] = all;
}

void sustained() {
  const unsigned blocks = 16 * units(), iterations = 20000;
  auto* out = allocate<float>(blocks * 256);
  const double flops = 2.0 * 8 * iterations * blocks * 256;
  std::vector<double> rates;
  expect(cudaDeviceSynchronize());
  for (const double start = now(); now() - start < 3;) {
    const double before = now();
    multiply_add<<<blocks, 256>>>(out, 0.5f, iterations);
    expect(cudaDeviceSynchronize());
    rates.push_back(1e-12 * flops / (now() - before));
  }
  std::vector<double> last(rates.begin() + static_cast<std::ptrdiff_t>(rates.size() / 2), rates.end());
  std::printf("sustained.plateau %.6g TFLOP/s\n", median(last));
  expect(cudaFree(out));
}

}  // namespace

int main() {
  stream();
  atomic_order();
  instruction_cache();
  grid_barrier();
  group_latency();
  host_link();
  sustained();
  tlb();
  peers();
}
