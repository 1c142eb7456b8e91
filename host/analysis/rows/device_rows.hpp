// SPDX-License-Identifier: Apache-2.0
// device_rows: the times of a device that count, and bootstrap intervals of numbers that follow from them.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "results/results_set.hpp"
#include "suite/family.hpp"

namespace clweave::rows {

// An axis of every TimedCase, event or host: times of different clocks must not be compared.
inline constexpr const char* timer_axis = "timer";

// A case that was measured on a device by one clock, with all its repetitions; or a baseline program there.
struct TimedCase {
  const CaseName* name = nullptr;
  std::string_view api = {};  // of a baseline; empty: OpenCL, ours
  bool tuned = false;         // in the configuration that tuning found for this device
  std::vector<const RunTime*> runs;
  const RunTime* representative = nullptr;  // one of `runs`, with fraction_of_peak if any has it
  const CaseTimes* at = nullptr;            // null: of a baseline
  double median_s = 0;
  std::size_t index = 0;  // into a Resample

  const std::string& family() const { return name->family; }
  const Value* axis(std::string_view) const;           // null: it has none
  std::string cell(std::string_view wanted) const;     // as text; empty: it has none
  std::int64_t number(std::string_view wanted) const;  // 0: it is none
  bool is(std::string_view wanted, std::string_view word) const;
  // Returns whether at least half of its runs were disturbed: else their median is that of quiet ones.
  bool is_disturbed() const;
};

using RowSelection = std::vector<const TimedCase*>;

struct DeviceRows;

// One bootstrap sample: seconds of each TimedCase by its index, as measured or resampled.
class Resample {
 public:
  Resample(const DeviceRows& rows, std::size_t draw, std::size_t draws)
      : rows_(&rows), draw_(draw), draws_(draws) {}
  double operator[](std::size_t index) const;
  // The fraction of its peak at that time. Each repetition stands beside the peak of its own run; none
  // where no run had one.
  Number fraction_of_peak(const TimedCase&) const;
  Number counted(const TimedCase&) const;     // value that the check of the case measured
  std::size_t draw() const { return draw_; }  // 0: as measured
  void count(std::size_t reads) const;        // accounts for reads that a cached result saved

 private:
  Number median_of(const TimedCase&, Number RunTime::*,
                   const std::function<double(double value, double slower)>& at) const;

  const DeviceRows* rows_;
  std::size_t draw_, draws_;
};

// An estimated number and its 95 % interval.
struct Estimate {
  double value = 0, low = 0, high = 0;
};

struct DeviceRows {
  const DeviceResults* results = nullptr;
  std::vector<TimedCase> timed;  // those that count, in the order met; then those of baselines
  std::map<std::string, RowSelection> by_family, tuned_by_family;
  RowSelection baselines;
  mutable std::vector<std::vector<double>> drawn;  // per TimedCase, filled when first needed
  mutable std::size_t reads = 0;                   // of times, by all draws

  DeviceRows() = default;
  ~DeviceRows() = default;
  DeviceRows(DeviceRows&&) = default;
  DeviceRows& operator=(DeviceRows&&) = default;
  DeviceRows(const DeviceRows&) = delete;  // its by_family would show the other's timed
  DeviceRows& operator=(const DeviceRows&) = delete;

  // Returns device, platform without its build details, and driver.
  std::string name() const {
    return results->name + results->called() + ", " +
           results->platform.substr(0, results->platform.find(", ")) + ", driver " + results->driver;
  }
  // Returns the rows of default configurations: conclusions about launch parameters need the same ones on
  // every device.
  const RowSelection& of(const std::string& family) const;
  RowSelection with_tuned(const std::string& family) const;
  Resample measured() const { return {*this, 0, 0}; }
};

// Returns one per measured device, in the order met. The set must outlive them.
std::vector<DeviceRows> device_rows(const ResultsSet&);

// Computes `number` from the rows as measured, and its bootstrap interval (Efron 1979) of this level: each
// draw resamples the repetitions of each case and draws the time of each from its own interval, widened by
// what the repetitions lack to the spread between processes (prior.hpp). No distribution of the number itself
// is assumed. Returns nothing if the rows as measured give no number. Deterministic on every machine.
//
// `number` is called for each draw, so it selects its rows before. One that reads more than 20000 times gets
// fewer draws than 200, at least 20, so that a million rows take seconds.
std::optional<Estimate> estimate(const DeviceRows&,
                                 const std::function<std::optional<double>(Resample)>& number,
                                 double level = 0.95);

// Returns nothing for a row that lacks one of the family's axes.
std::optional<Case> case_of(const Family&, const CaseName&);

// Computes a family's findings from its rows at the times of a draw. Rows that lack one of its axes are left
// out.
class Conclusions {
 public:
  // Tells whether measured times have their intervals, or count as exact, as those of a draw do.
  enum class Times { with_intervals, without_intervals };
  Conclusions(const Family&, std::span<const TimedCase* const>, const DeviceRows&,
              Times = Times::with_intervals);

  // Computes each draw once.
  const std::vector<Finding>& by(Resample) const;
  const Finding* find(const std::string& finding, Resample) const;  // returns null if there is none
  RowSelection rows_of(const Finding&) const;                       // the rows of Finding::from

 private:
  const Family* family_;
  DeviceInfo device_;
  Times times_;
  RowSelection rows_;                                 // of outcomes_
  std::vector<std::pair<double, double>> intervals_;  // as measured; times of a draw are exact
  mutable std::vector<Outcome> outcomes_;             // at the times of the last draw
  mutable std::map<std::size_t, std::vector<Finding>> by_draw_;
};

}  // namespace clweave::rows
