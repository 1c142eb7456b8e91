// SPDX-License-Identifier: Apache-2.0
// results_set: the rows of results files, grouped by device, case and run: the input of every analysis.
//
// It decides, here and in `counts`, for all analyses which rows count:
//   findings         are conclusions, not times: kept apart
//   api              rows of baseline programs are kept apart, for comparison
//   tuned            a case in a tuned configuration is another case than in the default one
//   cold             rows with flushed caches compare with each other alone; no profile or claim has them
//   known_incorrect  of published kernels known to be wrong the failures are shown; times decide nothing
//   unverified       of rows whose output nothing checked the times are shown; they rank and decide nothing
//   cached           rows whose buffers fit a cache are no measure of memory: no roofline has them
//                   nor any fraction of a peak
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "results/case_names.hpp"
#include "results/device_key.hpp"
#include "results/record.hpp"
#include "suite/outcome.hpp"

namespace clweave::results {

inline constexpr const char* several_clocks = "several clocks";
// The platform of baselines that run without OpenCL.
inline constexpr std::string_view native_platform = "native";

// Sensor readings while a row was measured.
struct Sensed {
  Number core_mhz, memory_mhz, power_w, temperature_c;
  std::string throttle_reasons;
};

// A row that is ok: one process's measurement of a case.
struct RunTime : Measurement {
  // Numbers within the set. Interleaved programs share the number of their round.
  std::uint32_t file = 0, run = 0;
  std::uint32_t row = 0;  // place among all rows of the set
  Timer timer = Timer::none;
  bool cold = false;
  bool cached = false;           // the buffers fit a cache
  bool disturbed = false;        // the machine was not quiet meanwhile
  bool slowed = false;           // the same, or most samples ran beside a slow canary
  bool unsettled = false;        // its interval stayed wider than asked for
  double time_s = 0;             // its median
  double log_variance = 0;       // of the median's logarithm, by its interval; 0: not known
  double low_s = 0, high_s = 0;  // that interval; of too few samples their spread
  bool has_interval = true;      // one sample tells none
  std::int64_t batch = 0;        // executions that share a launch and a wait
  std::int64_t commands = 1;     // of one execution
  std::shared_ptr<const std::vector<double>> steps_s = {};  // as Outcome has them
  std::shared_ptr<const Sensed> sensed = {};                // null: nothing

  bool doubtful() const { return slowed || unsettled; }
  // Returns the least time that it may have in truth: of a slowed run half of what was measured, as when
  // another process had half of a processor.
  double least_s() const {
    constexpr double most_slowed = 2;
    return slowed ? low_s / most_slowed : low_s;
  }
};

// Returns CaseTimes::clock of a run.
std::string clock_of(const RunTime&);

// Returns the run of median time. For an even number it averages the numbers of the two in the middle and
// takes rates from the average time, everything else from the slower one, and is doubtful if either is.
// Throws if there is none.
RunTime middle_of(std::vector<const RunTime*>);

// All rows of a case on one device.
struct CaseTimes {
  const CaseName* name = nullptr;
  bool tuned = false;
  Status status = Status::ok;   // wrong_result of a row, else the first that was not ok, if any
  std::string reason;           // of that one, else of a row that is ok
  std::string clock;            // "event, warm": times by different clocks do not compare
  std::string cache;            // warm or cold
  std::string work;             // bytes, operations and items: nor do times of different work
  std::string items;            // items or else bytes, which variants have in common
  bool each_by_itself = false;  // by method `batch` of older files, whose times do not compare with today's
  bool known_incorrect = false;
  bool unverified = false;  // nothing checked the output of a row
  bool bounded = false;     // its rows name a peak
  std::uint32_t rows = 0, bad = 0;
  std::vector<RunTime> runs;           // of the rows that were ok
  std::vector<CaseAxis> derived = {};  // columns that follow from the axes and the device

  // Returns whether its times may rank and be compared.
  bool ranks() const { return !known_incorrect && !unverified; }
  // Returns whether a time counts in claims, profiles and rooflines.
  bool counts(const RunTime& run) const { return ranks() && !run.cold; }

  const std::string& id() const { return name->id; }
  const std::string& family() const { return name->family; }
  // Returns the value of an axis or derived column; null: it has none.
  const Value* cell(std::string_view wanted) const;
  std::string label() const { return tuned ? id() + "/tuned" : id(); }  // for people
  bool ok() const { return status == Status::ok; }
  // Returns whether people must see its failure: not if it is unsupported or known to be incorrect.
  bool failed() const { return !ok() && status != Status::unsupported && !known_incorrect; }
  double median_s() const;  // over the runs
  // Returns whether at least half of its runs were slowed: else their median is that of others.
  bool is_slowed() const;
  // Returns the least time that a run may have in truth; infinite without runs.
  double least_s() const;
  // Returns whether it was measured with caches flushed before each sample, or without; if it only failed,
  // without.
  bool was_run(bool cold) const;
  // Returns the middle of its runs of either kind; empty if there is none or a row failed.
  std::optional<RunTime> typical(bool cold = false) const;
  // Returns the median by the host's clock, whatever the batches; empty if a run has no such time.
  Number host_median_s() const;
  Number fraction_of_peak() const;
  // Returns a copy timed by the host's clock, for comparison to the percent; empty also if batches differ
  // between runs or an event at each launch made the host wait.
  std::optional<CaseTimes> by_host() const;
};

// A row without a time that counts: it failed, or is known to be incorrect.
struct FailedCase {
  const CaseName* name = nullptr;
  Status status = Status::none;
  bool known_incorrect = false;
  std::string reason;
};

// A finding of a family, by run.
struct FindingRows {
  std::string id, family;
  std::vector<Finding> runs;

  // Returns the run of median value; of the two in the middle of an even number the higher. It does not
  // average, because a finding's text states its own value.
  const Finding& typical() const;
};

struct DeviceResults : DeviceKey {
  std::string version;             // of clweave
  std::string cpu, type;           // type: cpu, gpu, ..
  std::string host;                // the computer that its first row names
  bool published = false;          // has published figures, not measurements
  std::int64_t compute_units = 0;  // 0: unknown
  Number clock_mhz = {}, theoretical_gb_per_s = {}, theoretical_gflop_per_s = {};  // as the columns
  std::string meter, meter_reason;  // of its energy: the meter, and its certificate
  Number idle_w = {};
  std::map<Peak, double> peaks;       // best rate by name
  std::set<Peak> quiet_peaks;         // of which a row was measured on a quiet machine
  std::vector<CaseTimes> cases;       // in the order met
  std::vector<FailedCase> untimed;    // by row
  std::vector<FindingRows> findings;  // in the order met
  std::size_t rows = 0;               // without findings

  // Counts its rows by whether they are known to be incorrect, and status.
  std::map<std::pair<bool, Status>, std::size_t> counts() const;
  const CaseTimes* find(std::string_view case_id, bool tuned = false) const;
  CaseTimes& case_of(const CaseName&, bool tuned);                            // made if missing
  FindingRows& finding_of(const std::string& id, const std::string& family);  // made if missing
  void keep(const std::vector<std::string>& families);
  // Takes a row's three cells about its meter, unless those known come from a certified one.
  void take_meter(const std::string& name, const std::string& says, const Number& watts);
  // Takes what drivers tell of clocks and widths where it is not known yet; `Told` is a Record or another
  // device's.
  template <class Told>
  void take_clocks(const Told& told) {
    const auto take = [](Number& known, const Number& more) { known = known ? known : more; };
    take(clock_mhz, told.clock_mhz);
    take(theoretical_gb_per_s, told.theoretical_gb_per_s);
    take(theoretical_gflop_per_s, told.theoretical_gflop_per_s);
  }
  // Returns the product's name without what drivers add to it: "NVIDIA H200", "AMD EPYC".
  std::string label() const;

 private:
  friend struct ResultsSet;
  using Index = std::unordered_map<std::string_view, std::size_t>;
  using Names = std::unordered_map<const CaseName*, std::size_t>;

  Names by_name_, tuned_by_name_;
  // By id, filled at the first search: another set has other CaseName objects.
  mutable Index by_id_, tuned_by_id_;
  mutable std::size_t indexed_ = 0;
  bool merged_ = false;
  std::unordered_map<std::string, std::size_t> finding_by_id_;
};

// The first column of the file of published figures.
inline constexpr const char* figures_first_column = "source";

// A number that a publication gives for a case.
struct PublishedFigure {
  enum class Quantity {
    time,
    fraction_of_peak,
    speedup
  };  // seconds; a fraction of the device's peak; over `over`

  std::string device;  // with its year
  const CaseName* of = nullptr;
  const CaseName* over = nullptr;  // the slower one of a speed-up; else null
  Quantity quantity = Quantity::time;
  double value = 0;
  std::string fraction_of = {};  // whose peak or pin rate; empty: a peak as it is measured here
  std::string evidence;          // why it is void; empty: it is not
};

// A row of a baseline program. Its axes say what is computed; `kernel` names what computes it, `threads` with
// how many host threads.
struct BaselineTime {
  std::string api;
  const CaseName* of = nullptr;
  DeviceKey device;
  RunTime run;

  // Returns whether it ran on the same hardware: the same device under another platform's name, or its host's
  // processor.
  bool runs_on(const DeviceResults&) const;
};

// The devices of one or more files, in the order of their first rows.
struct ResultsSet {
  std::vector<std::string> files;
  std::vector<DeviceResults> devices;
  std::vector<PublishedFigure> figures;
  std::vector<BaselineTime> baselines;
  std::vector<std::string> notes;  // what a reader should know about a file
  std::uint32_t runs = 0;          // distinct processes
  std::uint32_t rows = 0;
  // The file in which a row was first read, by a hash of the cells that a copy has, too.
  std::unordered_map<std::size_t, std::uint32_t> met_in;
  std::vector<std::shared_ptr<CaseNames>> names = {std::make_shared<CaseNames>()};  // those of the cases

  // Adds the rows of one file: a CSV of clweave run or of a baseline, or the published figures. Samples
  // beside it, unless empty, replace the medians and intervals of the rows. Throws `io` with file and line
  // for text that is malformed, of another schema or cut off, for a footer with another number of rows, for a
  // row that occurs twice, for an `ok` row without a plausible time, and for samples of another file. Leaves
  // out rows that an earlier file has, too, and notes their number. Rows of these families get their later
  // axes.
  void add(std::string_view text, const std::string& file, std::string_view samples,
           const std::string& samples_name, const std::vector<Family>&);
  void add(std::string_view text, const std::string& file, std::string_view samples = {},
           const std::string& samples_name = {});  // of no family
  void add(CsvReader& reader, const std::string& name, CsvReader* samples, const std::string& samples_name,
           const std::vector<Family>&);

  // Adds all rows of another set.
  void merge(ResultsSet);

  // Keeps the cases of these families alone. Throws `usage` for one that no file has.
  void keep(const std::vector<std::string>& families);

  DeviceResults* find(const DeviceKey&);       // with that key, or the first that meets it; null: none
  DeviceResults& device_of(const DeviceKey&);  // made where it is not there
};

// Returns the devices that were measured, without published ones.
std::vector<const DeviceResults*> measured(const ResultsSet&);

// Group the rows of baselines by case, all or those on a device's hardware; and return the middle of such a
// group.
using BaselineTimes = std::vector<const BaselineTime*>;
std::vector<BaselineTimes> baseline_times(const ResultsSet&);
std::vector<BaselineTimes> baseline_times(const ResultsSet&, const DeviceResults&);
BaselineTime typical(const BaselineTimes&);

enum class Samples { ignored, read };  // beside a file, which give a better interval of the median

// Reads the files. Leaves out one with the same content as an earlier one, with a note. Throws `io`.
ResultsSet read_results(const std::vector<std::string>& files, const std::vector<Family>&,
                        Samples = Samples::ignored);

// Makes a set of rows that come from no file; each is a run of its own unless it has run_id and run.
ResultsSet results_of(const std::vector<Record>&, const std::vector<Family>&);
ResultsSet results_of(const std::vector<Record>&);  // of no family

// Returns whether two files have the same content; false if either cannot be read.
bool same_content(const std::string& one, const std::string& other);

}  // namespace clweave::results
