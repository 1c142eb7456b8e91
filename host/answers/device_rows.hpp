// SPDX-License-Identifier: Apache-2.0
// claims_rows: what results files say of each device, and how sure a number is that follows from several
// rows.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "results/record.hpp"
#include "suite/family.hpp"

namespace clweave {

// Among the axes of a Timed, for rows of different clocks must not be compared: event or host.
inline constexpr const char* timer_axis = "timer";

// A case that was measured on a device by one clock, with all its repetitions.
struct Timed {
  const Record* record = nullptr;           // one of them, with of_ceiling if any has it
  std::map<std::string, std::string> axes;  // without empty cells
  struct Repetition {
    double median_s, low_s, high_s;
  };
  std::vector<Repetition> runs;
  std::size_t index = 0;  // into a Clock
};

// Seconds of each Timed, by its index: as measured, or one of the ways in which they might as well have been.
using Clock = std::span<const double>;

// A number and its 95 % interval.
struct Figure {
  double value = 0, low = 0, high = 0;
};

struct DeviceRows {
  std::string device, platform, driver, type;  // type: cpu, gpu, ..
  std::vector<Timed> timed;                    // `ok`, warm, no exhibits
  std::vector<const Record*> untimed;          // failures and exhibits
  std::int64_t compute_units = 0;              // as far as rows tell; 0: they do not
  std::vector<std::vector<double>> clocks;     // the first is as measured

  // Without what a platform says of its own build.
  std::string name() const {
    return device + ", " + platform.substr(0, platform.find(", ")) + ", driver " + driver;
  }
};

// One per device and driver, in the order met; rows of a device that has time stamps and was timed by the
// host's clock are left out, and so are those with cold caches: they are other measurements. The records must
// outlive it.
std::vector<DeviceRows> device_rows(const std::vector<Record>&);

// What `number` makes of the rows, and the middle 95 % of what it makes of them when the repetitions of each
// case are drawn again, and the median of each drawn repetition from its own interval. No distribution of the
// number itself is assumed. None when the rows as measured give none. The same on every machine.
std::optional<Figure> figure(const DeviceRows&, const std::function<std::optional<double>(Clock)>& number);

// The rows of a family as it sees them, timed by `clock`; those that lack one of its axes are left out.
std::vector<Outcome> outcomes_of(const Family&, std::span<const Timed* const>, Clock);

// The device as far as its rows tell: enough for Family::findings.
DeviceInfo device_of(const DeviceRows&);

}  // namespace clweave
