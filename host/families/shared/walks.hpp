// SPDX-License-Identifier: Apache-2.0
// walks: through a cycle of memory in scattered order, in which every load waits for the one before.
//
// One node to 128 bytes, so that neither caches' lines nor prefetchers help. The cycle is a full-period
// congruential sequence, so the end of any walk is known without walking.
#pragma once
#include "base/random.hpp"
#include "suite/plan.hpp"

namespace clweave {

// i -> (factor * i + term) mod 2^k: visits every number below 2^k, as factor % 4 == 1 and term is odd.
struct Cycle {
  std::uint32_t factor, term, mask;

  Cycle(std::uint64_t seed, std::uint64_t nodes)
      : factor((Random<std::uint32_t>(seed, 2)(0) & ~std::uint32_t{7}) | 5),
        term(Random<std::uint32_t>(seed, 2)(1) | 1),
        mask(static_cast<std::uint32_t>(nodes - 1)) {}

  std::uint32_t next(std::uint32_t i) const { return (factor * i + term) & mask; }
  std::uint32_t after(std::uint32_t i, std::uint64_t hops) const {
    std::uint32_t f = factor, t = term, all_f = 1, all_t = 0;
    for (; hops > 0; hops /= 2) {
      if (hops % 2 == 1) {
        all_t = all_t * f + t;
        all_f *= f;
      }
      t = t * f + t;
      f *= f;
    }
    return (all_f * i + all_t) & mask;
  }
};

// `groups` walks of `hops` loads each through `bytes` of memory, a power of two; the kernel is in latency.cl.
Plan plan_of_walks(std::uint64_t seed, std::uint64_t bytes, std::uint64_t hops, std::uint64_t groups);

}  // namespace clweave
