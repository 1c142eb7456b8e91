// SPDX-License-Identifier: Apache-2.0
// cub_scan: CUB's device-wide scans, measured as clweave measures its own, whole output checked first, median of
// the samples. Prints CSV.
//
//   nvcc -O3 -std=c++20 -arch=sm_90 -I host host/baselines/cub_scan.cu -o cub_scan
//   ./cub_scan [log2 of n ..]
//
// order q is q scans, one after the other; a tuple is a struct with an operator of its own. The time holds all
// that a call launches, CUB's own initialisation among it.
#include <cstdint>
#include <cub/cub.cuh>

#include "cuda.hpp"
#include "base/random.hpp"

namespace {

template <class T, int size>
struct Tuple {
  T v[size];
};
struct TupleSum {
  template <class T, int size>
  __host__ __device__ Tuple<T, size> operator()(const Tuple<T, size>& l, const Tuple<T, size>& r) const {
    Tuple<T, size> out;
#pragma unroll
    for (int k = 0; k < size; ++k) out.v[k] = l.v[k] + r.v[k];
    return out;
  }
};

// Device memory for the run of one type.
template <class T>
struct Arrays {
  std::vector<T> host;
  T *in = nullptr, *out = nullptr;

  explicit Arrays(std::size_t n) : host(n) {
    const clweave::Random<T> value(1, 1);
    for (std::size_t i = 0; i < n; ++i) host[i] = value(i);
    must(cudaMalloc(&in, n * sizeof(T)), "malloc");
    must(cudaMalloc(&out, n * sizeof(T)), "malloc");
    must(cudaMemcpy(in, host.data(), n * sizeof(T), cudaMemcpyHostToDevice), "upload");
  }
  ~Arrays() {
    cudaFree(in);
    cudaFree(out);
  }
};

template <class F>
Timing timed(const F& execute) {
  return timing_of(15, execute);
}

template <class T>
void report(const char* what, const char* type, int order, int tuple, std::size_t n, const Timing& t, bool right) {
  std::printf("%s,%s,%d,%d,%zu,%.4e,%.4e,%.4e,%.1f,%.2f,%s\n", what, type, order, tuple, n, t.median_s,
              t.span_s, t.wall_s, 2e-9 * sizeof(T) * n / t.median_s, 1e-9 * n / t.median_s, right ? "yes" : "no");
  std::fflush(stdout);
}

// The host's scan of the given order and tuple size, compared with the device's.
template <class T>
bool is_right(const Arrays<T>& a, std::size_t n, int order, int tuple, bool exclusive) {
  std::vector<T> got(n);
  must(cudaMemcpy(got.data(), a.out, n * sizeof(T), cudaMemcpyDeviceToHost), "download");
  std::vector<T> state(static_cast<std::size_t>(order * tuple));
  for (std::size_t i = 0; i < n; ++i) {
    T* s = &state[i % tuple * order];
    T x = a.host[i];
    const T before = s[order - 1];
    for (int k = 0; k < order; ++k) x = s[k] += x;
    if (got[i] != (exclusive ? before : x)) return false;
  }
  return true;
}

template <class T>
void scans(const Arrays<T>& a, const char* type, std::size_t n) {
  const Timing copy = timed([&] { cudaMemcpyAsync(a.out, a.in, n * sizeof(T), cudaMemcpyDeviceToDevice); });
  report<T>("memcpy", type, 0, 1, n, copy, true);
  const auto inclusive = [&](const T* from, void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::InclusiveSum(scratch, bytes, from, a.out, n);
  };
  Scratch scratch([&](void* p, std::size_t& bytes) { return inclusive(a.in, p, bytes); });
  for (const int order : {1, 2, 5, 8}) {
    const auto execute = [&] {
      for (int k = 0; k < order; ++k) must(inclusive(k == 0 ? a.in : a.out, scratch.at, scratch.bytes), "scan");
    };
    execute();
    const bool right = is_right(a, n, order, 1, false);
    report<T>("inclusive", type, order, 1, n, timed(execute), right);
  }
  const auto exclusive = [&](void* p, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(p, bytes, a.in, a.out, n);
  };
  Scratch other(exclusive);
  const auto execute = [&] { must(exclusive(other.at, other.bytes), "scan"); };
  execute();
  const bool right = is_right(a, n, 1, 1, true);
  report<T>("exclusive", type, 1, 1, n, timed(execute), right);
}

template <class T, int size>
void tuples(const Arrays<T>& a, const char* type, std::size_t n) {
  using Element = Tuple<T, size>;
  const std::size_t whole = n / size;
  const auto scan = [&](void* p, std::size_t& bytes) {
    return cub::DeviceScan::InclusiveScan(p, bytes, reinterpret_cast<const Element*>(a.in),
                                          reinterpret_cast<Element*>(a.out), TupleSum(), whole);
  };
  Scratch scratch(scan);
  const auto execute = [&] { must(scan(scratch.at, scratch.bytes), "scan"); };
  execute();
  const bool right = is_right(a, whole * size, 1, size, false);
  report<T>("inclusive", type, 1, size, whole * size, timed(execute), right);
}

template <class T>
void all_of(const char* type, std::size_t n) {
  const Arrays<T> a(n);
  scans(a, type, n);
  tuples<T, 2>(a, type, n);
  tuples<T, 4>(a, type, n);
  tuples<T, 5>(a, type, n);
  tuples<T, 8>(a, type, n);
}

}  // namespace

int main(int count, char** words) {
  std::vector<int> sizes;
  for (int i = 1; i < count; ++i) sizes.push_back(std::atoi(words[i]));
  if (sizes.empty()) sizes = {20, 24, 28};
  std::printf("scan,type,order,tuple,n,time_s,span_s,single_wall_s,gb_per_s,gitems_per_s,verified\n");
  for (const int log2_n : sizes) {
    const std::size_t n = std::size_t{1} << log2_n;
    all_of<std::uint32_t>("uint", n);
    all_of<std::uint64_t>("ulong", n / 2);
  }
  return 0;
}
