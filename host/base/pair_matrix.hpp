// SPDX-License-Identifier: Apache-2.0
// pair_matrix: a number for each pair of units, such as a latency, and the clusters that the numbers show.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace clweave::base {

// A symmetric matrix without its diagonal.
class PairMatrix {
 public:
  // `values` of the pairs (0, 1), (0, 2), .., (1, 2), ..; empty unless they are as many as some units have,
  // and positive.
  static std::optional<PairMatrix> of(std::span<const double> values);

  std::size_t units() const { return units_; }
  double at(std::size_t a, std::size_t b) const;  // a and b differ
  const std::vector<double>& values() const { return values_; }

 private:
  PairMatrix(std::size_t units, std::vector<double> values) : units_(units), values_(std::move(values)) {}
  std::size_t units_;
  std::vector<double> values_;
};

// Returns a cluster's number for each unit, the one of the least mean value 0; all 0 if there are none.
//
// Two units are alike if they see all others alike: by the mean difference of the logarithms of their values.
// So units of one die are found, whose pairs are fast, and units near to what all share, whose pairs are fast
// with everybody. Clusters are told apart only where each has two units at least, and the most
// unlike units of one are less unlike than the most alike ones of two: by 4 %, of fewer than 16 units by
// half. Of fewer than 8 units there are none.
std::vector<std::size_t> clusters_of(const PairMatrix&);

}  // namespace clweave::base
