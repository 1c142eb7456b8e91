// SPDX-License-Identifier: Apache-2.0
// case_runner: turns a job into a row: runs it, once more if the machine was not quiet, checks the row's
// plausibility, measures an implausible one again together with the rows that it contradicts, and writes it.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "campaign/environment.hpp"
#include "campaign/plausibility.hpp"
#include "campaign/runner.hpp"
#include "results/results_file.hpp"

namespace clweave::campaign {

// Runs the jobs of one device and repetition, whose rows are checked against each other.
class CaseRunner {
 public:
  // `common` holds the cells that are the same in every row. Whatever is passed by reference must outlive
  // this.
  CaseRunner(Runner&, ResultsFile&, const DeviceInfo&, const std::vector<Job>& jobs, const Record& common,
             const Environment&);

  // Runs the job. For an implausible row the peaks of its kind, or the similar case that it contradicts,
  // are measured again, then the row, and so on in turns. Only a row that still contradicts what was measured
  // together with it is `implausible`, or one for which there is no time left: `in_time` is asked before each
  // further measurement. Empty if the user wants to stop.
  std::optional<Row> run(
      const Job&, const SamplingOptions&, const std::function<bool()>& in_time = [] { return true; });

  // Sets what waits for a quiet machine before a disturbed row is measured again: it returns false if it may
  // not wait any longer.
  void set_wait_quiet(std::function<bool()> wait) { wait_quiet_ = std::move(wait); }

  // Runs the job, and once more if the machine was not quiet. Baselines get the same second try as kernels.
  std::optional<Row> run_in_quiet(
      Runner&, const Job&, const SamplingOptions&,
      const std::function<bool()>& in_time = [] { return true; });

  // Takes a row that was measured before, as in an interrupted run, as if it had been measured now.
  void add_measured_row(const Job&, const Record&);

  // Checks a row that was measured while other devices were busy: they may make a smaller case take longer,
  // and without them nothing can be measured again.
  void check_parallel(Row&, const Job&);

  // Writes the row to the file and notes a failure for the user.
  void write(Row&, int run, std::int64_t order, const std::function<void(const std::string&)>& note);

  const PlausibilityCheck& plausibility() const { return plausibility_; }

 private:
  void measure_contradicted(const Implausible&, const Row&, const Job&, const SamplingOptions&,
                            const std::function<bool()>& in_time);

  Runner& runner_;
  ResultsFile& file_;
  const Record& common_;
  const Environment& environment_;
  PlausibilityCheck plausibility_;
  struct PeakJob {
    Job job;
    Peak peak = Peak::none;
  };
  std::vector<PeakJob> peaks_;
  std::size_t peak_runs_left_;  // to measure a peak again
  std::function<bool()> wait_quiet_;
  int disturbed_again_ = 0;  // rows in a row that were disturbed the second time, too
};

}  // namespace clweave::campaign
