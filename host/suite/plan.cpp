// SPDX-License-Identifier: Apache-2.0
#include "suite/plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/random.hpp"

namespace clweave::suite {

namespace {

constexpr std::size_t most_samples = 16;

// Elements are taken in an order that looks random and is always the same.
bool comes_first(const WrongElement& a, const WrongElement& b) {
  return mix_bits(a.index) < mix_bits(b.index);
}

}  // namespace

bool ComparisonResult::samples(std::uint64_t index) const {
  return sample.size() < most_samples || mix_bits(index) < mix_bits(sample.back().index);
}

void ComparisonResult::add_sample(WrongElement one) {
  if (!samples(one.index)) return;
  sample.insert(std::ranges::upper_bound(sample, one, comes_first), std::move(one));
  if (sample.size() > most_samples) sample.pop_back();
}

void ComparisonResult::merge(const ComparisonResult& other) {
  elements += other.elements;
  written += other.written;
  wrong += other.wrong;
  measured = std::max(measured, other.measured);  // std::nullopt compares less than any value
  if (other.first_wrong < first_wrong) {
    first_wrong = other.first_wrong;
    first_text = other.first_text;
  }
  if (of_all.empty()) of_all = other.of_all;
  for (const auto& one : other.sample) add_sample(one);
  if (other.hash) hash = hash.value_or(0) + *other.hash;
}

std::string ComparisonResult::text() const {
  if (!of_all.empty()) return fmt::format("{}; {} of {} elements written", of_all, written, elements);
  std::string text = fmt::format("{} of {} elements correct, {} written; first wrong: {}", elements - wrong,
                                 elements, written, first_text);
  constexpr std::uint64_t few = 10'000;  // one in this many
  if (written > 0 && written + wrong == elements)
    text += "; what is wrong was never written, as by items that did not run";
  else if (wrong <= elements / few)
    text += "; so few are wrong where memory or a transfer loses bits, or where items race";
  return text;
}

std::string Plan::mismatch_text(std::uint64_t index, long double got, long double want) {
  return fmt::format("[{}] is {}, expected {}", index, got, want);
}

}  // namespace clweave::suite
