// SPDX-License-Identifier: Apache-2.0
// reference: generates the input of scans, and computes the expected results on the host.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "families/shared/blocks.hpp"

namespace clweave::families {

inline constexpr std::int64_t initial_value = 12345;  // of exclusive scans

enum class Op { sum = 1, max, xor_, affine };  // numbered as in elements.cl

template <class T>
T combined(Op op, T l, T r) {
  if (op == Op::max) return std::max(l, r);
  if constexpr (std::is_integral_v<T>) {
    using Wraps = std::make_unsigned_t<T>;
    if (op == Op::xor_) return l ^ r;
    return static_cast<T>(static_cast<Wraps>(l) + static_cast<Wraps>(r));
  } else {
    return l + r;
  }
}

template <class T>
T identity_of(Op op) {
  return op == Op::max ? std::numeric_limits<T>::lowest() : T(0);
}

template <class T>
// NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): a Random cannot be left out
struct ScanInput {
  Random<T> random;
  Random<std::uint64_t> bits;
  Op op = Op::sum;
  std::uint64_t n = 0;

  T operator()(std::uint64_t i) const {
    if (op == Op::max) {
      // Generates rising values, because the maximum of random ones would soon be constant and hide a lost
      // carry.
      if constexpr (std::is_floating_point_v<T>) {
        return static_cast<T>(static_cast<double>(i + bits(i) % 64) / static_cast<double>(n) - 0.5);
      } else {
        using Wraps = std::make_unsigned_t<T>;
        const auto step = static_cast<Wraps>(std::numeric_limits<Wraps>::max() / (n + 64) / 2);
        const auto height =
            static_cast<Wraps>(static_cast<Wraps>(i) * step + bits(i) % (64 * std::uint64_t{step}));
        return static_cast<T>(height + static_cast<Wraps>(std::numeric_limits<T>::lowest()) + 1);
      }
    }
    if constexpr (std::is_floating_point_v<T>)
      return static_cast<T>(static_cast<int>(bits(i) % 128) * 2 - 127);
    return random(i);
  }
};

// Generates a signal that suits delta coding: TUPLE channels, each of two tones and a little noise, in 16
// bits; or the pixels of a photograph, repeated, from an offset that depends on the seed.
template <class T>
// NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): a Random cannot be left out
struct Signal {
  Random<std::uint64_t> bits;
  std::uint64_t channels = 1;
  std::string_view pixels;  // empty: tones
  std::uint64_t start = pixels.empty() ? 0 : bits(0) % pixels.size();

  T operator()(std::uint64_t i) const {
    if (!pixels.empty())
      return static_cast<T>(static_cast<unsigned char>(pixels[(start + i) % pixels.size()]));
    const std::uint64_t step = i / channels;
    const auto time = static_cast<double>(step), channel = static_cast<double>(i % channels);
    const double tones =
        20000 * std::sin(time * (0.01 + 0.002 * channel)) + 9000 * std::sin(time * 0.0731 + channel);
    return static_cast<T>(static_cast<std::int64_t>(tones) + static_cast<std::int64_t>(bits(i) % 64));
  }
};

// Returns differences of an order between values that are a tuple apart.
template <class T>
T encoded(const Signal<T>& signal, std::uint64_t i, std::uint64_t order) {
  std::uint64_t sum = 0, binomial = 1;  // C(order, k), of alternating sign
  for (std::uint64_t k = 0; k <= order && i >= k * signal.channels; ++k) {
    const auto value = static_cast<std::uint64_t>(signal(i - k * signal.channels));
    sum += k % 2 == 0 ? binomial * value : -(binomial * value);
    binomial = binomial * (order - k) / (k + 1);
  }
  return static_cast<T>(sum);
}

// Holds C(m + e - 1, e) for e below `order`, modulo 2^64, the coefficients of (1 - z)^-m. They carry the last
// values of the scans of all orders over m zeros.
using Weights = std::vector<std::uint64_t>;
Weights weights(std::int64_t m, std::uint64_t order);
Weights product(const Weights&, const Weights&);

// Computes any value of the scan. A state holds the last value of each order of each slot; that of an affine
// scan is the map's factor and shift.
template <class T>
class ScanReference {
 public:
  ScanReference(const ScanInput<T>& input, bool exclusive, std::uint64_t n, std::uint64_t order,
                std::uint64_t tuple)
      : input_(input),
        exclusive_(exclusive),
        order_(order),
        tuple_(tuple),
        blocks_(n, 4096 / tuple * tuple) {}

  // Returns the scanned values one after the other, from `first` on.
  class Iterator {
   public:
    Iterator(std::shared_ptr<const ScanReference> of, std::uint64_t first)
        : of_(std::move(of)),
          state_(of_->before().at(first / of_->blocks_.size())),
          i_(first / of_->blocks_.size() * of_->blocks_.size()) {
      while (i_ < first) (void)(*this)();
    }
    T operator()() {
      const T value = of_->step(state_, i_++, slot_);
      if (++slot_ == of_->tuple_) slot_ = 0;
      return value;
    }

   private:
    std::shared_ptr<const ScanReference> of_;
    std::vector<T> state_;
    std::uint64_t i_, slot_ = 0;
  };

 private:
  using State = std::vector<T>;

  const std::vector<State>& before() const {
    State first = identity();
    if (exclusive_) std::ranges::fill(first, static_cast<T>(initial_value));
    const Weights across = weights(static_cast<std::int64_t>(blocks_.size() / tuple_), order_);
    return blocks_.before(
        first,
        [this](std::uint64_t begin, std::uint64_t end) {
          State state = identity();
          for (std::uint64_t i = begin; i < end; ++i) (void)step(state, i, i % tuple_);
          return state;
        },
        [&](const State& l, const State& r) { return joined(l, r, across); });
  }

  State identity() const {
    if (input_.op == Op::affine) return {1, 0};
    return State(order_ * tuple_, identity_of<T>(input_.op));
  }
  State joined(const State& l, const State& r, const Weights& across) const {
    State both = r;
    if (input_.op == Op::affine) {
      both = {static_cast<T>(r[0] * l[0]), static_cast<T>(r[0] * l[1] + r[1])};
    } else if (order_ == 1) {
      for (std::size_t i = 0; i < both.size(); ++i) both[i] = combined(input_.op, l[i], r[i]);
    } else {
      for (std::size_t i = 0; i < both.size(); ++i) {
        for (std::size_t j = i / order_ * order_; j <= i; ++j)
          both[i] = static_cast<T>(static_cast<std::uint64_t>(both[i]) +
                                   across[i - j] * static_cast<std::uint64_t>(l[j]));
      }
    }
    return both;
  }
  // Scans value i; of an affine map, the values 2k and 2k + 1 are its factor and its shift.
  T step(State& state, std::uint64_t i, std::uint64_t slot) const {
    if (input_.op == Op::affine) {
      if (i % 2 == 0) state = joined(state, {input_(i), input_(i + 1)}, {});
      return state[i % 2];
    }
    T* const own = &state[slot * order_];
    const T before = own[order_ - 1];
    T x = input_(i);
    for (std::size_t k = 0; k < order_; ++k) x = own[k] = combined(input_.op, own[k], x);
    return exclusive_ ? before : x;
  }

  ScanInput<T> input_;
  bool exclusive_;
  std::uint64_t order_, tuple_;
  Blocks<State> blocks_;
};

}  // namespace clweave::families
