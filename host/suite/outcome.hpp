// outcome: what a family draws conclusions from, and what these are.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "suite/case.hpp"
#include "suite/measurement.hpp"

namespace clweave::suite {

// A measured case, as a family sees it when it draws conclusions.
struct Outcome : Measurement {
  Outcome() = default;
  Outcome(Case of, double median_s, Number from_s = {}, Number to_s = {})
      : at(std::move(of)), time_s(median_s), low_s(from_s), high_s(to_s) {}

  Case at = {};
  double time_s = 0;               // median of one execution: by the device's clock where that can be trusted
  Number low_s = {}, high_s = {};  // 95 % interval of the median
  bool converged = true;           // the interval became as narrow as was asked for
  bool disturbed = false;  // more than half of the samples were taken while the device was slowed down
  Number idle_w = {};      // power that the device takes anyway, included in energy_j
};

// A conclusion from several cases of one family on one device, such as the inferred lock-step width.
struct Finding {
  std::string name;             // lower_snake, part of the row's case id
  std::optional<double> value;  // empty: undecided, for the reason that `text` gives
  std::string unit;
  std::string text;                           // one sentence for people
  std::optional<double> low = {}, high = {};  // where the value lies, if that is known
  std::string note = {};                      // a few words: what reached the value, or at which size
  // The cases it follows from, among the outcomes that were given and as long as these live; empty: all.
  std::vector<const Outcome*> from = {};
  std::string published = {};  // key of the published figures to be told beside it; empty: none
};

// A finding that is the ratio of two medians, and lies where their intervals leave it.
Finding ratio_of(std::string name, const Outcome& of, const Outcome& to, std::string text);
// The same of their energies, which both have.
Finding energy_ratio_of(std::string name, const Outcome& of, const Outcome& to, std::string text);

}  // namespace clweave::suite
