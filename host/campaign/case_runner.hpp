// SPDX-License-Identifier: Apache-2.0
// examiner: from a job to its row: run, doubted, measured again beside what it breaks, judged, written.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "campaign/environment.hpp"
#include "campaign/plausibility.hpp"
#include "campaign/runner.hpp"
#include "results/results_file.hpp"

namespace clweave::campaign {

// For one device and repetition, whose rows are held against each other.
class CaseRunner {
 public:
  // `common` has the cells that are the same in every row. What is referred to must outlive it.
  CaseRunner(Runner&, ResultsFile&, const DeviceInfo&, const std::vector<Job>& jobs, const Record& common,
             const Environment&);

  // Runs the job. A row that cannot be true is no verdict yet: what it breaks, the ceilings of its kind or
  // the case beside it, is measured again at once, then the row, and so on in turns; only what still cannot
  // be true beside what was measured with it is `implausible`, and so is what there is no time left to look
  // at again: `in_time` is asked before each further look. Empty: the user wanted out.
  std::optional<Row> measured(
      const Job&, const SamplingOptions&, const std::function<bool()>& in_time = [] { return true; });

  // A row of an interrupted run counts as if it had been measured now.
  void remember(const Job&, const Record&);

  // Judges a row that others were to slow down: a smaller case that takes longer is no wonder, and nothing
  // is measured again without them.
  void judge_beside_others(Row&, const Job&);

  // Puts the row into the file, and a failure before the user.
  void write(Row&, int run, std::int64_t order, const std::function<void(const std::string&)>& note);

  const PlausibilityCheck& judge() const { return judge_; }

 private:
  void look_beside(const Implausible&, const Row&, const Job&, const SamplingOptions&,
                   const std::function<bool()>& in_time);

  Runner& runner_;
  ResultsFile& file_;
  const Record& common_;
  const Environment& outside_;
  PlausibilityCheck judge_;
  struct Measure {
    Job job;
    Ceiling ceiling = Ceiling::none;
  };
  std::vector<Measure> ceilings_;
  std::size_t looks_left_;  // at ceilings
};

}  // namespace clweave::campaign
