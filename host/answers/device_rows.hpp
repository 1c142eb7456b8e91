// SPDX-License-Identifier: Apache-2.0
// device_rows: the times of a device that count, and how sure a number is that follows from several of them.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "results/results_set.hpp"
#include "suite/family.hpp"

namespace clweave {

// Among the axes of a Timed, for rows of different clocks must not be compared: event or host.
inline constexpr const char* timer_axis = "timer";

// A case that was measured on a device by one clock, with all its repetitions.
struct Timed {
  const CaseName* name = nullptr;
  std::vector<const RunTime*> runs;
  const RunTime* any = nullptr;  // one of them, with of_ceiling if any has it
  double median_s = 0;
  std::size_t index = 0;  // into a Clock

  const std::string& family() const { return name->family; }
  const Value* axis(std::string_view) const;         // null: it has none
  std::string cell(std::string_view axis) const;     // as text; empty: it has none
  std::int64_t number(std::string_view axis) const;  // 0: it is none
  bool is(std::string_view axis, std::string_view word) const;
};

using Picked = std::vector<const Timed*>;

struct DeviceRows;

// Seconds of each Timed, by its index: as measured, or one of the ways in which they might as well have been.
class Clock {
 public:
  Clock(const DeviceRows& rows, std::size_t draw) : rows_(&rows), draw_(draw) {}
  double operator[](std::size_t index) const;

 private:
  const DeviceRows* rows_;
  std::size_t draw_;
};

// A number and its 95 % interval.
struct Figure {
  double value = 0, low = 0, high = 0;
};

struct DeviceRows {
  const DeviceResults* results = nullptr;
  std::vector<Timed> timed;  // those that count, in the order met
  std::map<std::string, Picked> by_family;
  mutable std::vector<std::vector<double>> drawn;  // per Timed, once asked for

  DeviceRows() = default;
  DeviceRows(DeviceRows&&) = default;  // by_family shows timed: a copy would show another's
  DeviceRows& operator=(DeviceRows&&) = default;

  // Without what a platform says of its own build.
  std::string name() const {
    return results->name + ", " + results->platform.substr(0, results->platform.find(", ")) + ", driver " +
           results->driver;
  }
  const Picked& of(const std::string& family) const;
  Clock measured() const { return {*this, 0}; }
};

// One per measured device, in the order met. The set must outlive it.
std::vector<DeviceRows> device_rows(const ResultsSet&);

// What `number` makes of the rows, and the middle 95 % of what it makes of them when the repetitions of each
// case are drawn again, and the median of each drawn repetition from its own interval. No distribution of the
// number itself is assumed. None when the rows as measured give none. The same on every machine.
std::optional<Figure> figure(const DeviceRows&, const std::function<std::optional<double>(Clock)>& number);

// The rows of a family as it sees them, timed by `clock`; those that lack one of its axes are left out.
std::vector<Outcome> outcomes_of(const Family&, std::span<const Timed* const>, Clock clock);

// The device as far as its rows tell: enough for Family::findings.
DeviceInfo device_of(const DeviceRows&);

}  // namespace clweave
