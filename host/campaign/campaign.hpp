// SPDX-License-Identifier: Apache-2.0
// campaign: a whole run: every case of every device and repetition becomes a row. It never calls OpenCL.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/exit.hpp"
#include "base/progress.hpp"
#include "campaign/examiner.hpp"
#include "campaign/outside.hpp"
#include "campaign/runner.hpp"
#include "results/results_file.hpp"
#include "suite/selection.hpp"

namespace clweave {

// One device's part of the run.
struct Bench {
  DeviceInfo device;
  std::shared_ptr<ResultsFile> file;
  std::vector<Job> jobs;
};

struct CampaignRules {
  Measuring measuring;
  std::uint64_t seed = 1;
  int runs = 1;
  std::optional<double> budget_s;  // for the whole
  bool quiet = false;              // rows go to the terminal, where a progress line would be in their way
  Outside outside = {};
};

class Campaign {
 public:
  // `common` has the cells that are the same in every row. Rows of `left`, an interrupted file, count as if
  // they had been measured now; it must outlive this.
  Campaign(CampaignRules, Runner&, Record common, const Unfinished* left);

  // Throws `io` when a row cannot be written.
  Exit execute(std::vector<Bench>);

  void tick();  // to be called often while a case runs
  const std::vector<Record>& records() const { return records_; }

 private:
  std::uint64_t seed_of(int run) const;
  void run_device(Bench&, int run);
  void run_job(Bench&, Examiner&, const Job&, const std::string& key, int run, std::int64_t order,
               double predicted_s);
  Measuring rule_of(double predicted_s) const;

  CampaignRules rules_;
  Runner& runner_;
  Record common_;
  const Unfinished* left_;
  std::map<std::string, const Record*> done_;
  std::vector<Record> records_;
  std::vector<double> predicted_;
  std::unique_ptr<Progress> progress_;
  std::size_t step_ = 0;
  double left_s_ = 0;  // predicted for the jobs to come
  double began_s_ = 0;
};

}  // namespace clweave
