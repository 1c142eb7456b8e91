// SPDX-License-Identifier: Apache-2.0
// compare_results: results files reduced to what comparing takes: per device and case the time of each run.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "results/record.hpp"

namespace clweave {

inline constexpr const char* several_clocks = "several clocks";

// One process' look at a case.
struct RunTime {
  std::uint32_t file = 0, run = 0;  // numbers within the set
  double time_s = 0;                // its median
  double log_variance = 0;          // of the median's logarithm, by its interval; 0: not known
  Number of_ceiling;
  Number wall_s = {};      // its median by the host's clock, launch and wait included
  std::int64_t batch = 0;  // executions that share a launch and a wait
  bool slowed = false;     // most of its samples were taken while the canary ran slow
};

// Everything that one side says about a case.
struct CaseTimes {
  std::string id;  // case_id; with /tuned behind it for a row of `run --tuned`
  std::string family;
  std::vector<std::pair<std::string, std::string>> axes;  // of the id
  Status status = Status::ok;                              // the first that was not ok, if any
  std::string reason;                                     // of that one
  std::string clock;            // "event, warm": times of different ones do not compare
  std::string cache;            // warm or cold
  std::string work;             // bytes, operations and items: nor do those of different work
  std::string items;            // items, or else bytes: what variants have in common
  bool each_by_itself = false;  // executions of a batch were timed so once: other times than those of today
  bool exhibit = false;
  bool bounded = false;  // a ceiling is named: its kernel is one way of doing something
  std::uint32_t rows = 0, bad = 0;
  std::vector<RunTime> runs;  // of the rows that were ok

  bool ok() const { return status == Status::ok; }
  double median_s() const;  // over the runs
  // The same by the host's clock, however executions were batched; none where a run has no such time.
  Number host_median_s() const;
  Number of_ceiling() const;
  // Itself by the host's clock, for a comparison to the percent: none, too, where its runs' batches differ or
  // an event at each launch made the host wait.
  std::optional<CaseTimes> by_host() const;
};

struct DeviceResults {
  std::string platform, name, id, driver, version;  // version of clweave
  std::string cpu;
  bool published = false;                  // figures of a text, not measured here
  std::map<Ceiling, double> ceilings;  // best rate by name
  std::vector<CaseTimes> cases;
  std::unordered_map<std::string, std::size_t> by_id;
  std::size_t findings = 0;  // rows that hold conclusions, not times

  const CaseTimes* find(const std::string& case_id) const;
  // "NVIDIA H200", "AMD EPYC": without what drivers put round the product's name.
  std::string label() const;
};

// One side: the devices of one or more files, in the order met.
struct ResultsSet {
  std::vector<std::string> files;
  std::vector<DeviceResults> devices;
  std::vector<std::string> notes;  // what a reader should know about a file
  std::uint32_t runs = 0;          // distinct processes

  // Adds the rows of one file, by its text: a CSV of clweave run, or the published figures. Samples beside it
  // (an empty text: there are none) replace the medians and intervals of the rows. Throws `io` with file and
  // line for text that is malformed, foreign, of another schema or cut off, for a footer that counts other
  // rows, for a row that is there twice, and for samples of another file. Rows of these families get their
  // later axes.
  void add(std::string_view text, const std::string& name, std::string_view samples = {},
           const std::string& samples_name = {}, const std::vector<Family>& = {});

  // Adds all rows of another set.
  void merge(ResultsSet);

  // Keeps the cases of these families. Throws `usage` for one that no file has.
  void keep(const std::vector<std::string>& families);
};

// Reads each file, and the samples beside it. Throws `io`.
ResultsSet read_results(const std::vector<std::string>& files, const std::vector<Family>&);

}  // namespace clweave
