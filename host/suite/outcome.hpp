// outcome: what a family draws conclusions from, and what these are.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "suite/case.hpp"

namespace clweave::suite {

// A measured case, as a family sees it when it draws conclusions.
struct Outcome {
  Case at;
  double time_s = 0;  // the median of one execution: by the device's clock where it is to be trusted
  std::optional<double> low_s = {}, high_s = {};  // where the median lies with 95 %
  std::optional<double> min_s = {};
  bool converged = true;   // the interval became as narrow as was asked for
  bool disturbed = false;  // more than half of the samples were taken while the device was slowed down
  std::uint64_t bytes = 0, flops = 0, items = 0;  // the plan's cost
  std::optional<double> of_ceiling = {};          // not at smoke sizes, which have no ceilings
  std::optional<double> call_s = {};    // of one that is waited for before the next, by the host's clock
  std::optional<double> measured = {};  // by the plan's check that has a unit, at most in any run
  std::optional<double> energy_j = {}, energy_low_j = {}, energy_high_j = {};  // of one execution
  std::optional<double> idle_w = {};  // of that energy the device takes so much anyway
};

// A conclusion from several cases of one family on one device, such as the inferred lock-step width.
struct Finding {
  std::string name;             // lower_snake, part of the row's case id
  std::optional<double> value;  // empty: undecided, for the reason that `text` gives
  std::string unit;
  std::string text;                           // one sentence for people
  std::optional<double> low = {}, high = {};  // where the value lies, if that is known
};

// A finding that is the ratio of two medians, and lies where their intervals leave it.
Finding ratio_of(std::string name, const Outcome& of, const Outcome& to, std::string text);
// The same of their energies, which both have.
Finding energy_ratio_of(std::string name, const Outcome& of, const Outcome& to, std::string text);

}  // namespace clweave::suite
