// SPDX-License-Identifier: Apache-2.0
// known_kernels: operations per byte of kernels that everybody knows, by formula, for their places on a
// roofline.
//
// Vuduc, "GPU tuning, part 1" (2014), slides 24 to 26, has sparse matrix-vector products and stencils below
// the balance of a device, Fourier transforms about it and dense matrix products above, without numbers;
// slides 12 and 13 say what the places follow from: W operations, Q(Z) bytes between memory and a cache of Z
// bytes, and the intensity I = W / Q. Each formula below is the highest intensity that the algorithm allows,
// where each byte crosses between memory and cache as seldom as can be.
#pragma once
#include <array>
#include <cmath>

namespace clweave::suite {

struct KnownKernel {
  const char* key;   // part of a finding's name
  const char* mark;  // in a chart
  const char* name;
  const char* formula;  // s: bytes of an element; Z: bytes of the cache
  const char* source;
  bool needs_cache;  // Z is part of the formula
  // Returns operations per byte. Elements of the transform are complex, of two values of `element_bytes`.
  double (*intensity)(double element_bytes, double cache_bytes);
};

inline constexpr std::array known_kernels = {
    // A product and a sum of each nonzero value, which is read with a 32-bit column (CSR); vectors stay in
    // the cache.
    KnownKernel{"spmv", "SpMV", "sparse matrix by vector", "2 / (s + 4)",
                "Williams, Waterman, Patterson 2009: 0.17 to 0.25 of double", false,
                [](double element_bytes, double) { return 2 / (element_bytes + 4); }},
    // Six sums and two products of each point, which is read once and written once.
    KnownKernel{"stencil", "stencil", "7-point stencil", "8 / 2s",
                "Williams, Waterman, Patterson 2009: 0.33 to 0.5 of double", false,
                [](double element_bytes, double) { return 8 / (2 * element_bytes); }},
    // 5 m log2 m operations of each m = Z / 2s points that fit the cache, which are read and written once.
    KnownKernel{"fft", "FFT", "Fourier transform", "5 log2(Z / 2s) / 4s",
                "Frigo, Leiserson, Prokop, Ramachandran 1999: a pass does all that a cache has room for",
                true,
                [](double element_bytes, double cache_bytes) {
                  return 5 * std::log2(cache_bytes / (2 * element_bytes)) / (4 * element_bytes);
                }},
    // 2 b^3 operations of two b x b blocks that are read, where three fit the cache: b = sqrt(Z / 3s).
    KnownKernel{"gemm", "GEMM", "dense matrix product", "sqrt(Z / 3s) / s",
                "Hong, Kung 1981: no order of the operations moves fewer than n^3 / sqrt(Z) elements, to a "
                "factor",
                true, [](double element_bytes, double cache_bytes) {
                  return std::sqrt(cache_bytes / (3 * element_bytes)) / element_bytes;
                }}};

}  // namespace clweave::suite
