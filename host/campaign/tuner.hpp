// SPDX-License-Identifier: Apache-2.0
// tuner: searches the tunable axes of cases for the fastest launch configuration of each variant.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/progress.hpp"
#include "campaign/case_runner.hpp"
#include "campaign/runner.hpp"
#include "results/results_file.hpp"
#include "suite/search.hpp"
#include "suite/selection.hpp"
#include "suite/tuned_store.hpp"

namespace clweave::campaign {

// All configurations that do the same work: `configurations.points()[i]` is `cases[i]`.
struct SearchSpace {
  const Family* family;
  std::string work;                // the id without the axes that say how it is done
  std::vector<std::string> among;  // the axes that tell designs apart; empty where there is one design only
  std::map<std::string, std::vector<std::string>> searched;  // by variant: the axes that have several values
  std::vector<Case> cases;
  Space configurations;
  bool whole = true;  // the user left out no design and no value worth trying

  const Case& case_of(const Record&) const;  // a row of it
};

// Builds a search space per piece of work that the jobs do, of every valid configuration that the device can
// run. With preset tune designs compete, at tuning_size where --set names no n, and the search begins at the
// jobs; with others each variant is a space of its own, and its default the start. An axis takes the values
// of
// `--set`, else those worth trying on the device, and those the jobs have. Throws `usage` when no family of
// the jobs has a tunable axis.
std::vector<SearchSpace> search_spaces_of(const std::vector<Job>&, const Selection&, const DeviceInfo&);

// Throws `usage` where the user names a family of which the selection has nothing to search.
void need_something_tunable(const Selection&);

// Returns the words that name the case's design, then the axes searched: "pipelined ptx group=256 rows=8".
std::string launch_text(const SearchSpace&, const Case&);

// The rows of one search, in the order measured.
struct Search {
  const SearchSpace* space;
  std::vector<Record> rows;
  double took_s = 0;
  bool whole = true;  // ended by itself: no budget and no user cut it short

  std::vector<const Record*> fastest_first() const;  // the last row of each configuration that has a time
  const Record* row_of(const Case&) const;           // the one of these of that case; null: it has none
  const Record* best() const;  // the fastest of those measured in full; null: nothing was found
  // Returns the fastest of each design, of those measured most often, fastest first.
  std::vector<const Record*> best_of_designs() const;
};

struct TuningRules {
  SamplingOptions sampling;
  std::optional<SamplingOptions> peak_sampling = {};  // empty: as the others
  Strategy strategy = Strategy::exhaustive;
  std::uint64_t seed = 1;
  // Limits all searches together, without the peaks. What one search leaves is divided evenly among the
  // others; each gets at least half of an even share, whatever those before it took.
  std::optional<double> budget_s;
  std::optional<std::size_t> budget_cases;
  // At most, for a quiet machine, before each search and before a disturbed row is measured again.
  double wait_quiet_s = 0;
  std::function<std::string(const DeviceInfo&)> heat = {};  // as CampaignRules have it
  Environment environment = {};
};

// Prediction of what the parts of a search take, to an order of magnitude, in seconds.
struct TuningForecast {
  std::vector<double> peaks;                  // of each
  std::vector<std::vector<double>> searches;  // of each trial of each space, within the budget

  double peaks_s() const;
  double searches_s() const;
};
TuningForecast forecast(const TuningRules&, const std::vector<Job>& peaks, const std::vector<SearchSpace>&,
                        const DeviceInfo&);

// One device's search.
class Tuner {
 public:
  // `device` and `file` must outlive it.
  Tuner(TuningRules, Runner&, const DeviceInfo&, ResultsFile&, Record common);

  // Measures the peaks, then searches each space; the spaces must outlive the searches. Throws `io` when a
  // row cannot be written.
  void execute(const std::vector<Job>& peaks, const std::vector<SearchSpace>&);

  void tick();  // to be called often while a case runs
  const std::vector<Search>& searches() const { return searches_; }
  bool failed() const { return failed_; }

 private:
  std::optional<Record> run(const Job&, const SamplingOptions&, int round,
                            const std::function<bool()>& in_time);

  TuningRules rules_;
  Runner& runner_;
  const DeviceInfo& device_;
  ResultsFile& file_;
  Record common_;
  std::optional<CaseRunner> case_runner_;
  std::unique_ptr<Progress> progress_;
  std::vector<Search> searches_;
  std::int64_t order_ = 0;
  bool failed_ = false;
};

enum class Kept { no, yes, disturbed };

// Stores the best configuration of a search and returns whether it did: only one that was verified after its
// timing, too, that other processes did not disturb, and, of a search cut short or with disturbed rivals,
// only one that is faster than the stored one. Throws `io`.
Kept keep(TunedStore&, const DeviceInfo&, const Search&);

}  // namespace clweave::campaign
