// SPDX-License-Identifier: Apache-2.0
// kept: generates keys of which a predicate keeps some, and the expected result of a compaction.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "families/shared/blocks.hpp"
#include "suite/plan.hpp"

namespace clweave::families {

inline constexpr unsigned key_bits = 29;  // so many keys, at most, are all different in their first words
inline constexpr std::uint64_t most_keys = std::uint64_t{1} << key_bits;
inline constexpr std::uint64_t run_length = 1000;  // of pattern runs: no multiple of any tile

constexpr std::uint64_t inverse_of(std::uint64_t odd) {  // modulo 2^64
  std::uint64_t x = odd;
  for (int i = 0; i < 6; ++i) x *= 2 - odd * x;
  return x;
}
inline constexpr std::array<std::uint64_t, 3> factors = {0xBF58476D1CE4E5B9, 0x94D049BB133111EB,
                                                         0x9E3779B97F4A7C15};
inline constexpr std::array<std::uint64_t, 3> inverses = {inverse_of(factors[2]), inverse_of(factors[1]),
                                                          inverse_of(factors[0])};

// A random permutation of [0, n): of the next power of two, applied until it lands below n. Its steps are
// invertible modulo that power.
class KeyPermutation {
 public:
  KeyPermutation(std::uint64_t n, std::uint64_t seed, std::uint64_t stream)
      : n_(n),
        bits_(std::max(1, static_cast<int>(std::bit_width(n - 1)))),
        mask_((std::uint64_t{1} << bits_) - 1),
        key_(mix_bits(seed ^ mix_bits(stream))) {}

  std::uint64_t operator()(std::uint64_t x) const {
    do x = forward(x);
    while (x >= n_);
    return x;
  }
  std::uint64_t inverse(std::uint64_t x) const {
    do x = backward(x);
    while (x >= n_);
    return x;
  }

 private:
  std::uint64_t folded(std::uint64_t x) const { return x ^ x >> (bits_ + 1) / 2; }  // its own inverse

  std::uint64_t forward(std::uint64_t x) const {
    x = (x + key_) & mask_;
    for (const auto factor : factors) x = folded(x * factor & mask_);
    return x;
  }
  std::uint64_t backward(std::uint64_t x) const {
    for (const auto inverse : inverses) x = folded(x) * inverse & mask_;
    return (x - key_) & mask_;
  }

  std::uint64_t n_;
  int bits_;
  std::uint64_t mask_, key_;
};

enum class Pattern { random, alternating, runs, sorted };
enum class Predicate { nonzero = 1, even, less };  // numbered as in compaction/keys.cl

// Chooses which of n keys are kept. Their number is exact and known beforehand.
class Choice {
 public:
  Choice(Pattern pattern, double fraction, std::uint64_t n, std::uint64_t seed)
      : pattern_(pattern),
        n_(n),
        units_(pattern == Pattern::runs ? ceil_div(n, run_length) : n),
        chosen_(static_cast<std::uint64_t>(std::llround(fraction * static_cast<double>(units_)))),
        order_(units_, seed, 2) {}

  bool keeps(std::uint64_t i) const {
    switch (pattern_) {
      case Pattern::random: return order_(i) < chosen_;
      case Pattern::runs: return order_(i / run_length) < chosen_;
      case Pattern::sorted: return i < chosen_;
      default: return ceil_div((i + 1) * chosen_, n_) > ceil_div(i * chosen_, n_);  // evenly spread
    }
  }
  std::uint64_t count() const {
    if (pattern_ != Pattern::runs) return chosen_;
    const std::uint64_t missing = units_ * run_length - n_;  // of the last run
    return chosen_ * run_length - (keeps(n_ - 1) ? missing : 0);
  }

 private:
  Pattern pattern_;
  std::uint64_t n_, units_, chosen_;
  KeyPermutation order_;
};

using Key = std::array<std::uint32_t, 4>;  // as many words as the type has

// Describes a type of keys. Each kept key contains its index, so that no two are equal.
struct KeyType {
  const char* name;
  const char* cl;
  std::uint64_t words;
  const char *limit, *dropped_even;
};
inline constexpr std::array<KeyType, 4> key_types = {{{"uint", "uint", 1, "0x80000000u", "1"},
                                                      {"ulong", "ulong", 2, "0x8000000000000000ul", "1"},
                                                      {"float", "float", 1, "0.0f", ""},
                                                      {"struct16", "uint4", 4, "0x80000000u", "1"}}};

class Keys {
 public:
  Keys(const KeyType& type, Predicate predicate, const Choice& choice, std::uint64_t n, std::uint64_t seed)
      : type_(type),
        floating_(type.cl == std::string_view("float")),
        predicate_(predicate),
        choice_(choice),
        n_(n),
        places_(most_keys, seed, 3),
        noise_(seed, 4) {}

  std::uint64_t count() const { return choice_.count(); }
  bool keeps(std::uint64_t i) const { return choice_.keeps(i); }

  Key operator()(std::uint64_t i) const { return key(i, choice_.keeps(i)); }
  Key kept(std::uint64_t i) const { return key(i, true); }

  // Returns the index of a kept key, or nothing if there is no such key.
  std::optional<std::uint64_t> place_of(const Key& found) const {
    std::uint32_t place = found[leading()];
    if (floating_)
      place = (place & 0x7FFFFFFF) - float_base;
    else if (predicate_ == Predicate::nonzero)
      place -= 1;
    else if (predicate_ == Predicate::even && leading() == 0)
      place /= 2;
    if (place >= most_keys) return {};
    const std::uint64_t i = places_.inverse(place);
    if (i >= n_ || !keeps(i) || kept(i) != found) return {};
    return i;
  }

 private:
  static constexpr std::uint32_t float_base = 0x20000000, sign = 0x80000000;  // normal numbers

  std::size_t leading() const { return type_.words == 2 ? 1 : 0; }  // the word that tells the place

  Key key(std::uint64_t i, bool kept) const {
    const std::uint64_t noise = noise_(i);
    const auto place = static_cast<std::uint32_t>(places_(i)), low = static_cast<std::uint32_t>(noise);
    Key out = {};
    if (type_.words == 4) out = {0, low, low ^ 0x5A5A5A5A, static_cast<std::uint32_t>(noise >> 32)};
    if (floating_) {
      // Makes half of the zeros negative, which kernels must treat as zeros, too.
      if (predicate_ == Predicate::nonzero)
        out[0] = (kept ? float_base + place : 0) | (low & sign);
      else
        out[0] = (float_base + place) | (kept ? sign : 0);
      return out;
    }
    std::uint32_t& leads = out[leading()];
    if (predicate_ == Predicate::nonzero) {
      leads = kept ? place + 1 : 0;
      if (type_.words == 2) out[0] = kept ? low : 0;
    } else if (predicate_ == Predicate::less) {
      leads = kept ? place : sign | place;
      if (type_.words == 2) out[0] = low;
    } else if (type_.words == 2) {
      leads = place;
      out[0] = (low & ~1U) | (kept ? 0 : 1);
    } else {
      leads = 2 * place | (kept ? 0 : 1);
    }
    return out;
  }

  const KeyType& type_;
  bool floating_;  // decided once, not for every key
  Predicate predicate_;
  Choice choice_;
  std::uint64_t n_;
  KeyPermutation places_;
  Random<std::uint64_t> noise_;
};

// ---- Checks --------------------------------------------------------------------------------------------

// Computes the indices of the kept keys in order, from a table of how many there are before each block.
class KeptReference {
 public:
  KeptReference(const Keys& keys, std::uint64_t n) : keys_(keys), n_(n), blocks_(n, 4096) {}

  // Returns the index of one kept key after the other; after the last, n.
  class Iterator {
   public:
    Iterator(std::shared_ptr<const KeptReference> of, std::uint64_t rank) : of_(std::move(of)) {
      const auto& before = of_->before();
      const auto block = std::ranges::upper_bound(before, rank) - before.begin() - 1;
      next_ = static_cast<std::uint64_t>(block) * of_->blocks_.size();
      for (std::uint64_t skip = rank - before[static_cast<std::size_t>(block)]; skip > 0; --skip)
        (void)(*this)();
    }
    std::uint64_t operator()() {
      while (next_ < of_->n_ && !of_->keys_.keeps(next_)) ++next_;
      return next_ < of_->n_ ? next_++ : of_->n_;
    }

   private:
    std::shared_ptr<const KeptReference> of_;
    std::uint64_t next_ = 0;
  };

  const Keys& keys() const { return keys_; }

 private:
  const std::vector<std::uint64_t>& before() const {
    return blocks_.before(
        0,
        [this](std::uint64_t begin, std::uint64_t end) {
          std::uint64_t kept = 0;
          for (std::uint64_t i = begin; i < end; ++i) kept += keys_.keeps(i) ? 1 : 0;
          return kept;
        },
        std::plus<>());
  }

  Keys keys_;
  std::uint64_t n_;
  Blocks<std::uint64_t> blocks_;
};

// Expects every kept key once, in any order. Remembers the keys found from one part of the buffer to the next
// until all of it was compared.
class KeptMultiset {
 public:
  KeptMultiset(const Keys& keys, std::uint64_t n, std::uint64_t words)
      : keys_(keys), count_(keys.count()), n_(n), words_(words) {}

  ComparisonResult compare(std::uint64_t offset, std::span<const std::byte> bytes) {
    std::call_once(once_, [this] { seen_ = std::vector<std::atomic<std::uint64_t>>(n_ / 64 + 1); });
    ComparisonResult tally;
    const std::uint64_t key_bytes = 4 * words_, first = offset / key_bytes;
    for (std::uint64_t i = 0; i < bytes.size() / key_bytes; ++i) {
      Key got = {};
      std::memcpy(got.data(), &bytes[i * key_bytes], key_bytes);
      const auto place = keys_.place_of(got);
      const bool twice =
          place && (seen_[*place / 64].fetch_or(std::uint64_t{1} << *place % 64) >> *place % 64 & 1) != 0;
      ++tally.elements;
      tally.written +=
          std::memcmp(got.data(), &poison[i * key_bytes % poison.size()], key_bytes) != 0 ? 1 : 0;
      if (place && !twice) continue;
      if (tally.wrong++ == 0) {
        tally.first_wrong = first + i;
        tally.first_text =
            fmt::format("[{}] is {}", first + i,
                        twice ? fmt::format("element {} a second time", *place) : "no kept element");
      }
    }
    if (compared_.fetch_add(tally.elements) + tally.elements == count_) {
      for (auto& word : seen_) word = 0;
      compared_ = 0;
    }
    return tally;
  }

 private:
  Keys keys_;
  std::uint64_t count_, n_, words_;
  std::once_flag once_;
  std::vector<std::atomic<std::uint64_t>> seen_;
  std::atomic<std::uint64_t> compared_ = 0;
};

}  // namespace clweave::families
