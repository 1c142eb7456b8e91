// SPDX-License-Identifier: Apache-2.0
#include "base/block_spread.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/stats.hpp"

namespace clweave::base {

namespace {

struct Blocks {
  std::size_t count;
  double most_by_chance;  // chi-square over its degrees, exceeded in 5 % of independent sequences
  double student;         // quantile of Student's t for 95 %, of one degree of freedom fewer than blocks
};
constexpr std::array<Blocks, 2> all_blocks = {{{5, 9.488 / 4, 2.776}, {10, 16.919 / 9, 2.262}}};

// Returns the variance of the mean ranks of the last blocks over that of independent ranks.
double variance_ratio(std::span<const double> ranks, const Blocks& blocks) {
  const std::size_t length = ranks.size() / blocks.count, skipped = ranks.size() - length * blocks.count;
  const double centre = 0.5 * static_cast<double>(ranks.size() + 1);
  double all = 0, between = 0;
  for (const double rank : ranks) all += (rank - centre) * (rank - centre);
  if (all == 0) return 0;
  for (std::size_t k = 0; k < blocks.count; ++k) {
    double sum = 0;
    for (const double rank : ranks.subspan(skipped + k * length, length)) sum += rank - centre;
    between += sum * sum;
  }
  return between / static_cast<double>(length * (blocks.count - 1)) /
         (all / static_cast<double>(ranks.size()));
}

// Returns the interval in which the median of one more block lies.
std::pair<double, double> of_next_block(std::span<const double> samples, const Blocks& blocks, double z) {
  const std::size_t length = samples.size() / blocks.count, skipped = samples.size() - length * blocks.count;
  const auto count = static_cast<double>(blocks.count);
  std::vector<double> logs;
  double centre = 0, squares = 0;
  for (std::size_t k = 0; k < blocks.count; ++k) {
    logs.push_back(std::log(median(samples.subspan(skipped + k * length, length))));
    centre += logs.back() / count;
  }
  for (const double value : logs) squares += (value - centre) * (value - centre);
  const double reach = blocks.student * z / 1.96 * std::sqrt(squares / (count - 1) * (1 + 1 / count));
  return {std::exp(centre - reach), std::exp(centre + reach)};
}

}  // namespace

std::optional<std::pair<double, double>> block_spread(std::span<const double> samples, double z) {
  constexpr std::size_t thirds = 3;
  if (samples.size() < thirds * thirds || std::ranges::any_of(samples, [](double x) { return x <= 0; }))
    return {};
  std::pair<double, double> out = {HUGE_VAL, 0};
  const auto widen = [&out](double low, double high) {
    out = {std::min(out.first, low), std::max(out.second, high)};
  };
  const std::size_t length = samples.size() / thirds;
  for (std::size_t k = 0; k < thirds; ++k) {
    const double middle = median(samples.subspan(k * length, length));
    widen(middle, middle);
  }
  const std::vector<double> ranks = average_ranks(samples);
  for (const auto& blocks : all_blocks) {
    if (samples.size() < 3 * blocks.count || variance_ratio(ranks, blocks) <= blocks.most_by_chance) continue;
    const auto [low, high] = of_next_block(samples, blocks, z);
    widen(low, high);
  }
  return out;
}

}  // namespace clweave::base
