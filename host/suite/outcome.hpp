// outcome: measured cases as a family sees them, and the findings it concludes.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "suite/case.hpp"
#include "suite/measurement.hpp"

namespace clweave::suite {

// Measured case, input of Family::findings and Family::refine.
struct Outcome : Measurement {
  Outcome() = default;
  Outcome(Case of, double median_s, Number from_s = {}, Number to_s = {})
      : at(std::move(of)), time_s(median_s), low_s(from_s), high_s(to_s) {}

  Case at = {};
  double time_s = 0;               // median of one execution, by the device's clock if certified
  Number low_s = {}, high_s = {};  // 95 % interval of the median
  bool converged = true;           // the interval is as narrow as requested
  bool disturbed = false;          // the machine was not quiet meanwhile: its time may be too long
  Number idle_w = {};              // idle power, included in energy_j
  // Seconds of each step, where there are several and the device's clock is certified; else null.
  std::shared_ptr<const std::vector<double>> steps_s = {};
};

// Conclusion from several cases of one family on one device, such as the inferred SIMD width.
struct Finding {
  std::string name;             // lower_snake, part of the row's case id
  std::optional<double> value;  // empty: undecided; `text` says why
  std::string unit;
  std::string text;                           // one sentence
  std::optional<double> low = {}, high = {};  // interval of the value, if known
  std::string note = {};                      // a few words: the kernel or size with this value
  // Points into the outcomes that were passed: the cases it follows from; empty: all.
  std::vector<const Outcome*> from = {};
  std::string published = {};  // key of the published figures to print beside it; empty: none
};

// Says why a number of disturbed rows is undecided, and what to do.
inline constexpr const char* machine_was_busy =
    "the machine was not quiet, as column disturbed of its rows says; clweave run --wait-quiet 5m measures "
    "in "
    "quiet moments";

// Makes a finding of the ratio of two medians, with an interval from theirs.
Finding ratio_of(std::string name, const Outcome& of, const Outcome& to, std::string text);
// Makes a finding of a throughput, `amount` per execution, with an interval from that of the time.
Finding throughput_of(std::string name, double amount, const Outcome& of, std::string unit, std::string text);
// Makes a finding of the ratio of two throughputs. `amounts`: what an execution of `of` does over what one of
// `to` does.
Finding throughput_ratio_of(std::string name, const Outcome& of, const Outcome& to, double amounts,
                            std::string text);
// Makes a finding of the ratio of two energies, which both must have.
Finding energy_ratio_of(std::string name, const Outcome& of, const Outcome& to, std::string text);

}  // namespace clweave::suite
