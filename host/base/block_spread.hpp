// SPDX-License-Identifier: Apache-2.0
// block_spread: where the median of further samples may lie, by how medians of successive samples differ.
#pragma once
#include <optional>
#include <span>
#include <utility>

#include "base/namespaces.hpp"

namespace clweave::base {

// Returns the range of the medians of the three thirds of the samples, in the order measured; where blocks, a
// fifth or a tenth of the samples each, differ by more than chance lets independent ones, the range in which
// the median of one more block lies, too. The autocorrelation of neighbours alone does not tell of slow
// changes, such as a machine's other work, that their own noise covers.
//
// Compares the variance of the blocks' mean ranks with that of all ranks, as batch means do (Law and Carson,
// "A sequential procedure for determining the length of a steady-state simulation", 1979), at 5 % by
// chi-square; the range is Student's prediction interval of a normal logarithm. `z` is the normal quantile of
// its level. Returns std::nullopt for fewer than 9 samples and if one is not positive.
std::optional<std::pair<double, double>> block_spread(std::span<const double> samples, double z);

}  // namespace clweave::base
