// SPDX-License-Identifier: Apache-2.0
#include "base/pair_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace clweave::base {

namespace {

// Units joined step by step (union-find).
class Groups {
 public:
  explicit Groups(std::size_t units) : parent_(units), size_(units, 1) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  }
  std::size_t of(std::size_t unit) {
    while (parent_[unit] != unit) unit = parent_[unit] = parent_[parent_[unit]];
    return unit;
  }
  void join(std::size_t a, std::size_t b) {
    a = of(a);
    b = of(b);
    if (a == b) return;
    // Counts the pairs that are of one group now.
    inner_pairs_ += size_[a] * size_[b];
    singles_ -= (size_[a] == 1 ? 1 : 0) + (size_[b] == 1 ? 1 : 0);
    parent_[b] = a;
    size_[a] += size_[b];
    --groups_;
  }
  std::size_t inner_pairs() const { return inner_pairs_; }
  std::size_t singles() const { return singles_; }
  std::size_t groups() const { return groups_; }

 private:
  std::vector<std::size_t> parent_, size_;
  std::size_t inner_pairs_ = 0, singles_ = parent_.size(), groups_ = parent_.size();
};

struct Unlike {
  double by;
  std::size_t a, b;
};

// Returns how unlike two units are, for each pair, the most alike first.
std::vector<Unlike> unlike_pairs(const PairMatrix& matrix) {
  const std::size_t units = matrix.units();
  std::vector<double> logs(units * units, 0);
  for (std::size_t a = 0; a < units; ++a) {
    for (std::size_t b = 0; b < units; ++b)
      if (a != b) logs[a * units + b] = std::log(matrix.at(a, b));
  }
  std::vector<Unlike> out;
  for (std::size_t a = 0; a < units; ++a) {
    for (std::size_t b = a + 1; b < units; ++b) {
      double sum = 0;
      for (std::size_t c = 0; c < units; ++c)
        if (c != a && c != b) sum += std::abs(logs[a * units + c] - logs[b * units + c]);
      out.push_back({sum / static_cast<double>(units - 2), a, b});
    }
  }
  std::ranges::sort(out, {}, &Unlike::by);
  return out;
}

// Numbers the groups by their mean value.
std::vector<std::size_t> numbered(const PairMatrix& matrix, Groups& groups) {
  const std::size_t units = matrix.units();
  std::vector<double> sums(units, 0), counts(units, 0);
  for (std::size_t a = 0; a < units; ++a) {
    for (std::size_t b = 0; b < units; ++b) {
      if (a == b) continue;
      sums[groups.of(a)] += matrix.at(a, b);
      counts[groups.of(a)] += 1;
    }
  }
  std::vector<std::size_t> roots;
  for (std::size_t unit = 0; unit < units; ++unit) {
    if (groups.of(unit) == unit) roots.push_back(unit);
  }
  std::ranges::stable_sort(roots, {}, [&](std::size_t root) { return sums[root] / counts[root]; });
  std::vector<std::size_t> out;
  for (std::size_t unit = 0; unit < units; ++unit)
    out.push_back(static_cast<std::size_t>(std::ranges::find(roots, groups.of(unit)) - roots.begin()));
  return out;
}

}  // namespace

std::optional<PairMatrix> PairMatrix::of(std::span<const double> values) {
  std::size_t units = 2;
  while (units * (units - 1) / 2 < values.size()) ++units;
  if (values.empty() || units * (units - 1) / 2 != values.size()) return {};
  if (!std::ranges::all_of(values, [](double value) { return value > 0 && std::isfinite(value); })) return {};
  return PairMatrix(units, {values.begin(), values.end()});
}

double PairMatrix::at(std::size_t a, std::size_t b) const {
  if (a > b) std::swap(a, b);
  return values_[a * (2 * units_ - a - 1) / 2 + b - a - 1];
}

std::vector<std::size_t> clusters_of(const PairMatrix& matrix) {
  constexpr std::size_t least_units = 8;  // fewer fall into clean clusters by chance
  constexpr std::size_t many_units = 16;  // hardly ever fall into clean clusters by chance
  const std::size_t units = matrix.units();
  std::vector<std::size_t> none(units, 0);
  if (units < least_units) return none;
  const auto pairs = unlike_pairs(matrix);
  // Joins the most alike first. Groups are clusters where no pair within is left to come.
  Groups groups(units);
  double widest = units < many_units ? 1.5 : 1.04;
  std::size_t joined = 0;
  for (std::size_t i = 0; i + 1 < pairs.size(); ++i) {
    groups.join(pairs[i].a, pairs[i].b);
    const bool clean = groups.inner_pairs() == i + 1 && groups.singles() == 0 && groups.groups() > 1;
    if (!clean || pairs[i + 1].by < widest * pairs[i].by) continue;
    widest = pairs[i + 1].by / std::max(pairs[i].by, 1e-12);
    joined = i + 1;
  }
  if (joined == 0) return none;
  Groups found(units);
  for (std::size_t i = 0; i < joined; ++i) found.join(pairs[i].a, pairs[i].b);
  return numbered(matrix, found);
}

}  // namespace clweave::base
