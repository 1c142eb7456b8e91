// SPDX-License-Identifier: Apache-2.0
// median_cases: rows as people look at them: per device and case the run with the median time.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "results/record.hpp"

namespace clweave {

// One row of a case.
struct Look {
  Status status = Status::none;
  bool exhibit = false;    // a published form known to be wrong
  bool cached = false;     // the buffers fit a cache: no measure of memory
  bool disturbed = false;  // most of its samples were taken while the device ran slow
  bool unsettled = false;  // the median is not known as well as was asked
  Ceiling ceiling = Ceiling::none;
  Number time_s, gb_per_s, gop_per_s, gitems_per_s, of_ceiling;
  bool of_operations = false;  // its speed is in operations, not in bytes
  Number value;                // of a finding
  std::string reason;

  bool ok() const { return status == Status::ok; }
  bool failed() const { return !ok() && status != Status::unsupported && !exhibit; }
  bool doubtful() const { return ok() && (disturbed || unsettled); }
  Number rate() const { return of_operations ? gop_per_s : gb_per_s; }
};

struct MedianCase {
  std::string id, family;
  std::vector<std::pair<std::string, std::string>> axes;  // with a value
  bool tuned = false, cold = false;
  std::string finding, unit;  // of a conclusion, which has no time
  std::vector<Look> looks;

  const std::string& axis(std::string_view name) const;  // empty: it has none
  // Of repetitions the one with the median time or value; the first that is not ok, where there is one.
  const Look& look() const { return looks.at(median); }
  std::size_t median = 0;
};

struct MedianDevice {
  std::string key;
  std::string name, platform, driver;
  std::map<Ceiling, double> ceilings;  // best rate
  std::vector<MedianCase> cases;       // in the order met
  std::size_t rows = 0;                // without findings

  std::unordered_map<std::string, std::size_t> by_id;
};

// Devices in the order met. Rows of other programs than clweave are left out.
class MedianCases {
 public:
  void add(const Record&);
  // The rows of a file, with the later axes of these families. Throws `io` as RecordReader does.
  void add_file(const std::string& path, const std::vector<Family>&);
  // Call it once, when all rows are there.
  void settle();

  const std::vector<MedianDevice>& devices() const { return devices_; }
  const std::vector<std::string>& notes() const { return notes_; }  // what a reader should know about a file

 private:
  std::vector<std::string> notes_;
  std::vector<MedianDevice> devices_;
};

}  // namespace clweave
