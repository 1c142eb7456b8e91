// SPDX-License-Identifier: Apache-2.0
// results_set: what results files say, read once and grouped by device, case and run. Every answer starts
// here.
//
// Which rows count is decided here and in `counts`, for all answers alike:
//   findings   are conclusions, not times: kept by themselves
//   api        rows of another API than OpenCL are other programs': kept by themselves, for ours to beat
//   tuned      a case in the configuration that tuning found is another case than the same one by default
//   cold       rows with emptied caches are cases of their own clock: compared with their like, and part of
//              no claim, card or roofline
//   known_incorrect  published forms known to be wrong: their failures are shown, their times decide nothing
//   cached     rows whose buffers fit a cache are times like others, but no measure of memory: the roofline
//              and what is told per peak leave them out
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "results/device_key.hpp"
#include "results/record.hpp"
#include "suite/outcome.hpp"

namespace clweave::results {

inline constexpr const char* several_clocks = "several clocks";
// The platform of what runs without OpenCL.
inline constexpr std::string_view native_platform = "native";

// A case as all its rows have it. Axes are in the family's order, without those whose cell is empty; their
// names and values belong to the set, which holds each once.
struct CaseAxis {
  const std::string* name;
  const Value* value;
};
struct CaseName {
  std::string id, family;
  std::vector<CaseAxis> axes;

  const Value* axis(std::string_view wanted) const;  // null: it has none
};

// Case names, each once.
class CaseNames {
 public:
  // Of a row. With the axes that its family got later, as add_later_axes gives them.
  const CaseName& of(const Record&, const std::vector<Family>&);
  // Of a published figure, which has no columns for axes.
  const CaseName& of_id(const std::string& id);
  // The row's cells that are no axes, but follow from them and the device.
  std::vector<CaseAxis> derived_of(const Record&, const std::vector<Family>&);

 private:
  const CaseName& named(const Record&, const std::vector<Family>&);
  CaseAxis axis_of(const std::string& name, const std::string& cell);

  const CaseName& know(std::string_view id, const CaseName&);

  std::unordered_map<std::string_view, const CaseName*> known_;  // by id as rows have it
  std::deque<CaseName> names_;
  std::deque<std::string> former_;                           // ids that rows have and names have not
  std::unordered_map<std::string, Value> values_;            // by text
  std::unordered_map<std::string, std::string> axis_names_;  // each its own
};

// What sensors told while a row was measured.
struct Sensed {
  Number core_mhz, memory_mhz, power_w, temperature_c;
  std::string throttle_reasons;
};

// One row that is ok: one process measured a case.
struct RunTime : Measurement {
  // Numbers within the set. Programs that were measured in turns have the number of their turn in common.
  std::uint32_t file = 0, run = 0;
  std::uint32_t row = 0;  // place among all rows of the set
  Timer timer = Timer::none;
  bool cold = false;
  bool cached = false;                        // the buffers fit a cache
  bool slowed = false;                        // most of its samples were taken while the canary ran slow
  bool unsettled = false;                     // its median is not known as well as was asked
  double time_s = 0;                          // its median
  double log_variance = 0;                    // of the median's logarithm, by its interval; 0: not known
  double low_s = 0, high_s = 0;               // that interval; of too few samples their spread
  std::int64_t batch = 0;                     // executions that share a launch and a wait
  std::int64_t commands = 1;                  // of one execution
  std::shared_ptr<const Sensed> sensed = {};  // null: nothing

  bool doubtful() const { return slowed || unsettled; }
};

// Of runs of the same the one of median time; of an even number a run between the two in the middle, whose
// numbers are the means of theirs, rates what its work is over its time. What is no number is the slower
// one's, and what sensors told; what makes one of them doubtful makes it so. Refuses none.
RunTime middle_of(std::vector<const RunTime*>);

// Everything that one side says about a case.
struct CaseTimes {
  const CaseName* name = nullptr;
  bool tuned = false;
  Status status = Status::ok;   // the first that was not ok, if any
  std::string reason;           // of that one, else what is worth knowing about it
  std::string clock;            // "event, warm": times of different ones do not compare
  std::string cache;            // warm or cold
  std::string work;             // bytes, operations and items: nor do those of different work
  std::string items;            // items, or else bytes: what variants have in common
  bool each_by_itself = false;  // executions of a batch were timed so once: other times than those of today
  bool known_incorrect = false;
  bool bounded = false;  // a peak is named: its kernel is one way of doing something
  std::uint32_t rows = 0, bad = 0;
  std::vector<RunTime> runs;           // of the rows that were ok
  std::vector<CaseAxis> derived = {};  // what follows from the axes on this device, as its family names it

  // Whether a time of it decides claims, cards and rooflines.
  bool counts(const RunTime& run) const { return !known_incorrect && !run.cold; }

  const std::string& id() const { return name->id; }
  const std::string& family() const { return name->family; }
  // Of an axis or of what follows from them; null: it has none.
  const Value* cell(std::string_view wanted) const;
  std::string label() const { return tuned ? id() + "/tuned" : id(); }  // for people
  bool ok() const { return status == Status::ok; }
  // A failure that people must see: not what a device lacks, nor known-incorrect published kernels.
  bool failed() const { return !ok() && status != Status::unsupported && !known_incorrect; }
  double median_s() const;  // over the runs
  // Whether with caches emptied before each sample, or with the others: where it only failed, the others.
  bool was_run(bool cold) const;
  // How people look at it: the middle of its runs of the one kind or the other. None where there is none, or
  // where a row failed.
  std::optional<RunTime> typical(bool cold = false) const;
  // The same by the host's clock, however executions were batched; none where a run has no such time.
  Number host_median_s() const;
  Number fraction_of_peak() const;
  // Itself by the host's clock, for a comparison to the percent: none, too, where its runs' batches differ or
  // an event at each launch made the host wait.
  std::optional<CaseTimes> by_host() const;
};

// A row without a time that counts: it failed, or is known to be incorrect.
struct FailedCase {
  const CaseName* name = nullptr;
  Status status = Status::none;
  bool known_incorrect = false;
  std::string reason;
};

// What a family concluded from its rows, by run.
struct FindingRows {
  std::string id, family;
  std::vector<Finding> runs;

  // That of median value; of the two in the middle of an even number the higher, as its words are about its
  // own value, and between two sizes there may be none.
  const Finding& typical() const;
};

struct DeviceResults : DeviceKey {
  std::string version;              // of clweave
  std::string cpu, type;            // type: cpu, gpu, ..
  std::string host;                 // the computer that its first row names
  bool published = false;           // figures of a text, not measured here
  std::int64_t compute_units = 0;   // 0: its rows do not tell
  std::string meter, meter_reason;  // what told its energy, and how well; why none did
  Number idle_w = {};
  std::map<Peak, double> peaks;       // best rate by name
  std::vector<CaseTimes> cases;       // in the order met
  std::vector<FailedCase> untimed;    // by row
  std::vector<FindingRows> findings;  // in the order met
  std::size_t rows = 0;               // without findings

  // How many of its rows came out so, by status and whether they are known to be incorrect.
  std::map<std::pair<bool, Status>, std::size_t> counts() const;
  const CaseTimes* find(std::string_view case_id, bool tuned = false) const;
  CaseTimes& case_of(const CaseName&, bool tuned);                            // made where it is not there
  FindingRows& finding_of(const std::string& id, const std::string& family);  // made where it is not there
  void keep(const std::vector<std::string>& families);
  // A row's three cells about its meter, unless better is known: those of one that was looked at.
  void take_meter(const std::string& name, const std::string& says, const Number& watts);
  // "NVIDIA H200", "AMD EPYC": without what drivers put round the product's name.
  std::string label() const;

 private:
  friend struct ResultsSet;
  using Index = std::unordered_map<std::string_view, std::size_t>;
  using Names = std::unordered_map<const CaseName*, std::size_t>;

  Names by_name_, tuned_by_name_;
  // By id, once one is looked for: names of another set are others.
  mutable Index by_id_, tuned_by_id_;
  mutable std::size_t indexed_ = 0;
  bool merged_ = false;
  std::unordered_map<std::string, std::size_t> finding_by_id_;
};

// What the first column of the file of published figures is called.
inline constexpr const char* figures_first_column = "source";

// A number that a text gives of a case.
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

// A row of another API: what people would use instead of a kernel. Its axes say what is computed; `kernel` is
// what computes it, and `threads` on how many.
struct BaselineTime {
  std::string api;
  const CaseName* of = nullptr;
  DeviceKey device;
  RunTime run;

  // Whether that is the same silicon: the same device by another name of its platform, or its host's
  // processor.
  bool runs_on(const DeviceResults&) const;
};

// The devices of one or more files, in the order met.
struct ResultsSet {
  std::vector<std::string> files;
  std::vector<DeviceResults> devices;
  std::vector<PublishedFigure> figures;
  std::vector<BaselineTime> baselines;
  std::vector<std::string> notes;  // what a reader should know about a file
  std::uint32_t runs = 0;          // distinct processes
  std::uint32_t rows = 0;
  // The file that a row was first met in, by what a copy of it in another has in common with it.
  std::unordered_map<std::size_t, std::uint32_t> met_in;
  std::vector<std::shared_ptr<CaseNames>> names = {std::make_shared<CaseNames>()};  // those of the cases

  // Adds the rows of one file, by its text: a CSV of clweave run, of a native baseline, or the published
  // figures. Samples beside it (an empty text: there are none) replace the medians and intervals of the rows.
  // Throws `io` with file and line for text that is malformed, foreign, of another schema or cut off, for a
  // footer that counts other rows, for a row that is there twice, for an `ok` row with a time that is none,
  // and for samples of another file. A row that an earlier file has, too, is left out, and a note says how
  // many were. Rows of these families get their later axes.
  void add(std::string_view text, const std::string& file, std::string_view samples,
           const std::string& samples_name, const std::vector<Family>&);
  void add(std::string_view text, const std::string& file, std::string_view samples = {},
           const std::string& samples_name = {});  // of no family
  void add(CsvReader& reader, const std::string& name, CsvReader* samples, const std::string& samples_name,
           const std::vector<Family>&);

  // Adds all rows of another set.
  void merge(ResultsSet);

  // Keeps the cases of these families. Throws `usage` for one that no file has.
  void keep(const std::vector<std::string>& families);

  DeviceResults* find(const DeviceKey&);       // that of the key, or the first that meets it; null: none
  DeviceResults& device_of(const DeviceKey&);  // made where it is not there
};

// Those that are no published figures.
std::vector<const DeviceResults*> measured(const ResultsSet&);

// What other programs did, on a device's silicon or at all: the looks at each of their cases, all in the
// order met; and the middle of such looks.
using BaselineTimes = std::vector<const BaselineTime*>;
std::vector<BaselineTimes> baseline_times(const ResultsSet&);
std::vector<BaselineTimes> baseline_times(const ResultsSet&, const DeviceResults&);
BaselineTime typical(const BaselineTimes&);

enum class Samples {
  ignored,
  read
};  // those beside a file: compare knows a median's interval better by them

// Reads each file in pieces. One that holds the same bytes as another before it is left out, with a note.
// Throws `io`.
ResultsSet read_results(const std::vector<std::string>& files, const std::vector<Family>&,
                        Samples = Samples::ignored);

// The set of rows that come from no file; each is a run of its own unless it tells its session's.
ResultsSet results_of(const std::vector<Record>&, const std::vector<Family>&);
ResultsSet results_of(const std::vector<Record>&);  // of no family

// Whether two files hold the same bytes; false where either cannot be read.
bool same_content(const std::string& one, const std::string& other);

}  // namespace clweave::results
