// SPDX-License-Identifier: Apache-2.0
// device_rows: the times of a device that count, and how sure a number is that follows from several of them.
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

// Among the axes of a Timed, for rows of different clocks must not be compared: event or host.
inline constexpr const char* timer_axis = "timer";

// A case that was measured on a device by one clock, with all its repetitions; or what a native baseline took
// there.
struct Timed {
  const CaseName* name = nullptr;
  std::string_view api = {};  // of a native baseline; empty: ours
  bool tuned = false;         // launched as tune found best on this device, not as on every other
  std::vector<const RunTime*> runs;
  const RunTime* any = nullptr;   // one of them, with of_ceiling if any has it
  const CaseTimes* at = nullptr;  // of its file; null: of a native baseline
  double median_s = 0;
  std::size_t index = 0;  // into a Clock

  const std::string& family() const { return name->family; }
  const Value* axis(std::string_view) const;           // null: it has none
  std::string cell(std::string_view wanted) const;     // as text; empty: it has none
  std::int64_t number(std::string_view wanted) const;  // 0: it is none
  bool is(std::string_view wanted, std::string_view word) const;
};

using RowSelection = std::vector<const Timed*>;

struct DeviceRows;

// Seconds of each Timed, by its index: as measured, or one of the ways in which they might as well have been.
class Resample {
 public:
  Resample(const DeviceRows& rows, std::size_t draw, std::size_t draws)
      : rows_(&rows), draw_(draw), draws_(draws) {}
  double operator[](std::size_t index) const;
  // The fraction of its ceiling at that time. Each repetition stands beside the ceiling of its own run; none
  // where no run had one.
  Number of_ceiling(const Timed&) const;
  Number counted(const Timed&) const;         // what the check of the case measured
  std::size_t draw() const { return draw_; }  // 0: as measured
  void count(std::size_t reads) const;        // that something remembered spared

 private:
  Number median_of(const Timed&, Number RunTime::*,
                   const std::function<double(double value, double slower)>& at) const;

  const DeviceRows* rows_;
  std::size_t draw_, draws_;
};

// A number and its 95 % interval.
struct Figure {
  double value = 0, low = 0, high = 0;
};

struct DeviceRows {
  const DeviceResults* results = nullptr;
  std::vector<Timed> timed;  // those that count, in the order met; then the native ones
  std::map<std::string, RowSelection> by_family, tuned_by_family;
  RowSelection natives;
  mutable std::vector<std::vector<double>> drawn;  // per Timed, once asked for
  mutable std::size_t reads = 0;                   // of a Clock

  DeviceRows() = default;
  ~DeviceRows() = default;
  DeviceRows(DeviceRows&&) = default;
  DeviceRows& operator=(DeviceRows&&) = default;
  DeviceRows(const DeviceRows&) = delete;  // its by_family would show the other's timed
  DeviceRows& operator=(const DeviceRows&) = delete;

  // Without what a platform says of its own build.
  std::string name() const {
    return results->name + results->called() + ", " +
           results->platform.substr(0, results->platform.find(", ")) + ", driver " + results->driver;
  }
  // What concludes from how launches differ compares those that were chosen alike on every device: without
  // what was tuned.
  const RowSelection& of(const std::string& family) const;
  RowSelection with_tuned(const std::string& family) const;
  Resample measured() const { return {*this, 0, 0}; }
};

// One per measured device, in the order met. The set must outlive it.
std::vector<DeviceRows> device_rows(const ResultsSet&);

// What `number` makes of the rows, and the middle 95 % of what it makes of them when the repetitions of each
// case are drawn again, and the median of each drawn repetition from its own interval, which of one or two
// is widened by what processes differ by (prior.hpp). No distribution of the number itself is assumed. None
// when the rows as measured give none. The same on every machine.
//
// The function is called for each draw: what rows it needs is to be selected before. One that reads more than
// 20000 times gets fewer draws than 200, but 20 at least, so that a million rows take seconds.
std::optional<Figure> estimate(const DeviceRows&,
                               const std::function<std::optional<double>(Resample)>& number);

// Returns nothing for a row that lacks one of the family's axes.
std::optional<Case> case_of(const Family&, const CaseName&);

// What a family concludes from its rows, timed by a clock; those that lack one of its axes are left out.
class Conclusions {
 public:
  Conclusions(const Family&, std::span<const Timed* const>, const DeviceRows&);

  // Drawn once by each clock, whoever asks.
  const std::vector<Finding>& by(Resample) const;
  const Finding* find(const std::string& finding, Resample) const;  // null: there is none
  RowSelection rows_of(const Finding&) const;                       // of Finding::from

 private:
  const Family* family_;
  DeviceInfo device_;
  RowSelection rows_;                                 // of outcomes_
  std::vector<std::pair<double, double>> intervals_;  // as measured; what is drawn is known exactly
  mutable std::vector<Outcome> outcomes_;             // by the last clock
  mutable std::map<std::size_t, std::vector<Finding>> by_draw_;
};

}  // namespace clweave::rows
