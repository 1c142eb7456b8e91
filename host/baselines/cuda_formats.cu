// SPDX-License-Identifier: Apache-2.0
// cuda_formats: CUDA's own half2, __dp4a, wmma and mma.sync, beside clweave's family formats.
//
//   nvcc -O3 -std=c++20 -arch=sm_90 host/baselines/cuda_formats.cu -o cuda_formats
//   ./cuda_formats
//
// As many chains, steps and groups as the family's `quick` has. Prints one CSV row per kernel: the median of
// 51 batches between two events and its quartiles. All that was computed is checked first.
#include <cuda_fp16.h>
#include <mma.h>

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "cuda.hpp"

namespace {

constexpr int ilp = 8, group = 256, groups_per_unit = 16, trips = 512;
constexpr std::size_t distinct = 256;  // items repeat, as the host takes far longer for a chain

__device__ std::uint32_t step(std::uint32_t x, std::uint32_t m, std::uint32_t c, std::true_type) {
  const __half2 y = __hfma2(*reinterpret_cast<const __half2*>(&x), *reinterpret_cast<const __half2*>(&m),
                            *reinterpret_cast<const __half2*>(&c));
  return *reinterpret_cast<const std::uint32_t*>(&y);
}

__device__ std::uint32_t step(std::uint32_t x, std::uint32_t m, std::uint32_t c, std::false_type) {
  return static_cast<std::uint32_t>(__dp4a(static_cast<int>(x), static_cast<int>(m), static_cast<int>(c)));
}

template <bool halves>
__global__ void __launch_bounds__(group)
    chains(std::uint32_t* __restrict__ out, const std::uint32_t* __restrict__ in, std::uint32_t m,
           std::uint32_t c, int turns) {
  const std::size_t item = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  std::uint32_t x[ilp];
#pragma unroll
  for (int k = 0; k < ilp; ++k) x[k] = in[item * ilp + k];
  for (int i = 0; i < turns; ++i) {
#pragma unroll
    for (int k = 0; k < ilp; ++k) x[k] = step(x[k], m, c, std::bool_constant<halves>());
  }
  std::uint32_t sum = 0;
#pragma unroll
  for (int k = 0; k < ilp; ++k) sum = sum * 31U + x[k];
  out[item] = sum;
}

constexpr int side = 16;

// Adds A * B to each of a warp's sums, `turns` times.
template <class In, class Sum>
__global__ void __launch_bounds__(group) matrices(Sum* out, const In* a, const In* b, int turns) {
  using namespace nvcuda::wmma;
  fragment<matrix_a, side, side, side, In, row_major> left;
  fragment<matrix_b, side, side, side, In, col_major> right;
  load_matrix_sync(left, a, side);
  load_matrix_sync(right, b, side);
  fragment<accumulator, side, side, side, Sum> sums[ilp];
#pragma unroll
  for (int k = 0; k < ilp; ++k) fill_fragment(sums[k], static_cast<Sum>(k + 1));
  for (int i = 0; i < turns; ++i) {
#pragma unroll
    for (int k = 0; k < ilp; ++k) mma_sync(sums[k], left, right, sums[k]);
  }
  const std::size_t warp = (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
#pragma unroll
  for (int k = 0; k < ilp; ++k)
    store_matrix_sync(out + (warp * ilp + k) * side * side, sums[k], side, mem_row_major);
}

// mma.sync: of 16 rows by 8 columns, a lane holds two of a row and two of the row eight below.
constexpr int mma_columns = 8, mma_words = 8;  // words that a row of A, or a column of B, is packed in

__device__ void multiply_add(float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__device__ void multiply_add(int (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

template <class Sum>
__global__ void __launch_bounds__(group)
    mma_matrices(Sum* __restrict__ out, const std::uint32_t* __restrict__ left,
                 const std::uint32_t* __restrict__ right, int turns) {
  const std::size_t item = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const int lane = threadIdx.x % 32, row = lane / 4, word = lane % 4;
  const std::uint32_t a[4] = {left[row * mma_words + word], left[(row + 8) * mma_words + word],
                              left[row * mma_words + word + 4], left[(row + 8) * mma_words + word + 4]};
  const std::uint32_t b[2] = {right[row * mma_words + word], right[row * mma_words + word + 4]};
  Sum d[ilp][4];
#pragma unroll
  for (int k = 0; k < ilp; ++k) {
#pragma unroll
    for (int j = 0; j < 4; ++j) d[k][j] = static_cast<Sum>(k + 1);
  }
  for (int i = 0; i < turns; ++i) {
#pragma unroll
    for (int k = 0; k < ilp; ++k) multiply_add(d[k], a, b);
  }
#pragma unroll
  for (int k = 0; k < ilp; ++k) {
    Sum* to = out + (item / 32 * ilp + k) * side * mma_columns + row * mma_columns + word * 2;
    to[0] = d[k][0];
    to[1] = d[k][1];
    to[8 * mma_columns] = d[k][2];
    to[8 * mma_columns + 1] = d[k][3];
  }
}

void must_be_right(bool right, const char* kernel) {
  if (right) return;
  std::fprintf(stderr, "cuda_formats: %s: wrong result\n", kernel);
  std::exit(1);
}

template <class F>
void measure(const char* kernel, double operations, const F& execute) {
  constexpr int samples = 51;
  const Timing t = timing_of(samples, execute);
  std::printf("cuda,%s,%d,%d,%d,%d,%d,%.6g,%.6g,%.6g,%.6g,%.5g\n", kernel, ilp, group, groups_per_unit, trips,
              samples, t.median_s, t.p25_s, t.p75_s, operations, 1e-9 * operations / t.median_s);
  std::fflush(stdout);
}

double half_at(std::uint32_t word, int shift) {
  return static_cast<double>(__half2float(__ushort_as_half(static_cast<unsigned short>(word >> shift))));
}

std::uint32_t host_step(std::uint32_t x, std::uint32_t m, std::uint32_t c, bool halves) {
  if (halves) {
    std::uint32_t out = 0;
    for (const int shift : {0, 16}) {  // the product of halves and its sum with one are exact in double
      const __half y = __double2half(half_at(x, shift) * half_at(m, shift) + half_at(c, shift));
      out |= static_cast<std::uint32_t>(__half_as_ushort(y)) << shift;
    }
    return out;
  }
  for (int i = 0; i < 32; i += 8)
    c += static_cast<std::uint32_t>(static_cast<std::int8_t>(x >> i) * static_cast<std::int8_t>(m >> i));
  return c;
}

template <bool halves>
void compare_chains(const char* kernel, int groups) {
  const std::size_t items = std::size_t{group} * groups;
  std::vector<std::uint32_t> in(items * ilp), expected(distinct), back(items);
  std::uint32_t state = 1;
  for (std::size_t i = 0; i < distinct * ilp; ++i) {
    state = state * 1664525U + 1013904223U;
    in[i] = halves ? (state & 0x83FF83FFU) | 0x3C003C00U : state;
  }
  for (std::size_t i = distinct * ilp; i < in.size(); ++i) in[i] = in[i - distinct * ilp];
  const std::uint32_t m = halves ? 0xBBFE3BFEU : 0x9E3779B1U, c = halves ? 0x34003500U : 0x7F4A7C15U;
  for (std::size_t i = 0; i < distinct; ++i) {
    for (int k = 0; k < ilp; ++k) {
      std::uint32_t x = in[i * ilp + k];
      for (int t = 0; t < trips; ++t) x = host_step(x, m, c, halves);
      expected[i] = expected[i] * 31U + x;
    }
  }
  std::uint32_t *from = nullptr, *to = nullptr;
  must(cudaMalloc(&from, 4 * in.size()), "cudaMalloc");
  must(cudaMalloc(&to, 4 * items), "cudaMalloc");
  must(cudaMemcpy(from, in.data(), 4 * in.size(), cudaMemcpyHostToDevice), "cudaMemcpy");
  const auto launch = [&] {
    chains<halves><<<groups, group>>>(to, from, m, c, trips);
    must(cudaGetLastError(), kernel);
  };
  launch();
  must(cudaMemcpy(back.data(), to, 4 * items, cudaMemcpyDeviceToHost), "cudaMemcpy");
  for (std::size_t i = 0; i < items; ++i) must_be_right(back[i] == expected[i % distinct], kernel);
  measure(kernel, static_cast<double>(items) * ilp * trips * (halves ? 4 : 8), launch);
  must(cudaFree(from), "cudaFree");
  must(cudaFree(to), "cudaFree");
}

// A of `side` rows, B of so many columns, both of the same depth: A by rows, B by columns.
template <class In, class Sum, class Launch>
void compare_matrices(const char* kernel, int groups, int columns, int depth, const Launch& launch_with) {
  const std::size_t tiles = std::size_t{group} / 32 * groups * ilp, tile = side * columns;
  std::vector<In> a(side * depth), b(columns * depth);
  std::vector<int> ints_a(a.size()), ints_b(b.size());
  std::uint32_t state = 1;
  const auto small = [&](int least) {
    state = state * 1664525U + 1013904223U;
    return static_cast<int>(state >> 28) + least;
  };
  const auto as_in = [](int value) {
    if constexpr (std::is_same_v<In, __half>)
      return __float2half(static_cast<float>(value));
    else
      return static_cast<In>(value);
  };
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = as_in(ints_a[i] = small(0));
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = as_in(ints_b[i] = small(-8) / 2);
  std::vector<int> product(tile);
  for (int row = 0; row < side; ++row) {
    for (int column = 0; column < columns; ++column) {
      for (int k = 0; k < depth; ++k)
        product[row * columns + column] += ints_a[row * depth + k] * ints_b[column * depth + k];
    }
  }
  In *left = nullptr, *right = nullptr;
  Sum* sums = nullptr;
  must(cudaMalloc(&left, a.size() * sizeof(In)), "cudaMalloc");
  must(cudaMalloc(&right, b.size() * sizeof(In)), "cudaMalloc");
  must(cudaMalloc(&sums, tiles * tile * sizeof(Sum)), "cudaMalloc");
  must(cudaMemcpy(left, a.data(), a.size() * sizeof(In), cudaMemcpyHostToDevice), "cudaMemcpy");
  must(cudaMemcpy(right, b.data(), b.size() * sizeof(In), cudaMemcpyHostToDevice), "cudaMemcpy");
  const auto launch = [&] {
    launch_with(sums, left, right);
    must(cudaGetLastError(), kernel);
  };
  launch();
  std::vector<Sum> back(tiles * tile);
  must(cudaMemcpy(back.data(), sums, back.size() * sizeof(Sum), cudaMemcpyDeviceToHost), "cudaMemcpy");
  for (std::size_t i = 0; i < back.size(); ++i)
    must_be_right(
        back[i] == static_cast<Sum>(product[i % tile] * trips + static_cast<int>(i / tile % ilp) + 1),
        kernel);
  measure(kernel, static_cast<double>(tiles) * trips * 2 * tile * depth, launch);
  must(cudaFree(left), "cudaFree");
  must(cudaFree(right), "cudaFree");
  must(cudaFree(sums), "cudaFree");
}

template <class In, class Sum>
void compare_wmma(const char* kernel, int groups) {
  compare_matrices<In, Sum>(kernel, groups, side, side, [=](Sum* to, const In* left, const In* right) {
    matrices<In, Sum><<<groups, group>>>(to, left, right, trips);
  });
}

template <class In, class Sum>
void compare_mma(const char* kernel, int groups) {
  constexpr int depth = mma_words * 4 / sizeof(In);
  compare_matrices<In, Sum>(
      kernel, groups, mma_columns, depth, [=](Sum* to, const In* left, const In* right) {
        mma_matrices<<<groups, group>>>(to, reinterpret_cast<const std::uint32_t*>(left),
                                        reinterpret_cast<const std::uint32_t*>(right), trips);
      });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) {
    std::fprintf(stderr, "%s: this program takes no arguments; its CSV goes to stdout\n", argv[1]);
    return 2;
  }
  int units = 0;
  must(cudaDeviceGetAttribute(&units, cudaDevAttrMultiProcessorCount, 0), "units");
  const int groups = units * groups_per_unit;
  std::printf("api,kernel,ilp,group,groups_per_cu,trips,samples,time_s,p25_s,p75_s,operations,gop_per_s\n");
  compare_chains<true>("half", groups);
  compare_chains<false>("dot8", groups);
  compare_wmma<__half, float>("matrix_half", groups);
  compare_wmma<signed char, int>("matrix_int8", groups);
  compare_mma<__half, float>("matrix_half_mma", groups);
  compare_mma<signed char, int>("matrix_int8_mma", groups);
  return 0;
}
