// SPDX-License-Identifier: Apache-2.0
// blocks: what precedes each block of a long sequence, so that a check may begin anywhere.
#pragma once
#include <algorithm>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "base/parallel.hpp"

namespace clweave::families {

// Holds the state before each block of `size` elements of n, computed on first use.
template <class State>
class Blocks {
 public:
  Blocks(std::uint64_t n, std::uint64_t size) : n_(n), size_(size) {}

  std::uint64_t size() const { return size_; }
  // Returns the states. `first` precedes all; of(begin, end) is the state of a block alone, joined(l, r) that
  // of two consecutive ones.
  template <class Of, class Joined>
  const std::vector<State>& before(const State& first, const Of& of, const Joined& joined) const {
    std::call_once(once_, [&] {
      before_.assign(n_ / size_ + 1, first);
      for_stretches(before_.size(), 1, [&](std::uint64_t begin, std::uint64_t end) {
        for (std::uint64_t b = begin; b < end; ++b) before_[b] = of(b * size_, std::min(n_, (b + 1) * size_));
      });
      State carry = first;
      for (auto& state : before_) {
        std::swap(state, carry);
        carry = joined(state, carry);
      }
    });
    return before_;
  }

 private:
  std::uint64_t n_, size_;
  mutable std::once_flag once_;
  mutable std::vector<State> before_;
};

}  // namespace clweave::families
