// SPDX-License-Identifier: Apache-2.0
// tune: searches the tunable axes of cases for the fastest configuration of each variant.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/progress.hpp"
#include "campaign/case_runner.hpp"
#include "campaign/runner.hpp"
#include "report/table.hpp"
#include "results/results_file.hpp"
#include "suite/search.hpp"
#include "suite/selection.hpp"
#include "suite/tuned_store.hpp"

namespace clweave::campaign {

// All configurations that do the same work: `space.points()[i]` is `cases[i]`.
struct SearchSpace {
  const Family* family;
  std::string work;                // the id without the axes that say how it is done
  std::vector<std::string> among;  // the axes that say by which design; none where there is one only
  std::map<std::string, std::vector<std::string>> searched;  // by variant: the axes that have several values
  std::vector<Case> cases;
  Space space;
  bool whole = true;  // every design and launch worth trying: the user left none out
};

// The work that the jobs do, each with every configuration that makes sense and that the device can run. Of
// preset tune designs compete, at tuning_size where --set names no n, and the search begins where the jobs
// are; of others each variant is a landscape of its own, and its default the start. An axis takes the values
// of `--set`, else those worth trying on the device, and those the jobs have. Throws `usage` when no family
// of the jobs has a tunable axis.
std::vector<SearchSpace> landscapes_of(const std::vector<Job>&, const Selection&, const DeviceInfo&);

// Throws `usage` where the user names a family of which the selection has nothing to search.
void need_something_tunable(const Selection&);

// What a search found, for people: the best configuration of each landscape with its interval, how many
// others are as good, the spread of all, and the gain over the default. `rows` are those of the landscape, in
// the order measured.
struct Search {
  const SearchSpace* landscape;
  std::vector<Record> rows;
  double took_s = 0;
  bool whole = true;  // ended by itself: no budget and no user cut it short

  const Record* best() const;  // the fastest of those measured in full; null: nothing was found
};
Table searches_table(const std::vector<Search>&);

struct TuningRules {
  SamplingOptions measuring;
  Strategy strategy = Strategy::exhaustive;
  std::uint64_t seed = 1;
  // For all landscapes together, ceilings aside. What one leaves is dealt out evenly to those to come; each
  // gets half of an even share at least, whatever those before it took.
  std::optional<double> budget_s;
  std::optional<std::size_t> budget_cases;
  Environment outside = {};
};

// One device's search.
class Tuner {
 public:
  // `device` and `file` must outlive it.
  Tuner(TuningRules, Runner&, const DeviceInfo&, ResultsFile&, Record common);

  // Measures the ceilings, then searches each landscape; these must outlive the searches. Throws `io` when a
  // row cannot be written.
  void execute(const std::vector<Job>& ceilings, const std::vector<SearchSpace>&);

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
  std::optional<CaseRunner> examiner_;
  std::unique_ptr<Progress> progress_;
  std::vector<Search> searches_;
  std::int64_t order_ = 0;
  bool failed_ = false;
};

// Stores what a search found, and says whether it did: only what was verified after its timing, too, and of a
// search cut short only what is faster than what is kept already. Throws `io`.
bool keep(TunedStore&, const DeviceInfo&, const Search&);

}  // namespace clweave::campaign
