// SPDX-License-Identifier: Apache-2.0
// campaign: a whole run: every case of every device and repetition becomes a row. It never calls OpenCL.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/exit.hpp"
#include "base/progress.hpp"
#include "campaign/case_runner.hpp"
#include "campaign/environment.hpp"
#include "campaign/parallel_devices.hpp"
#include "campaign/runner.hpp"
#include "results/results_file.hpp"
#include "suite/selection.hpp"

namespace clweave::campaign {

// What another program measures beside a device.
struct RivalProgram {
  std::shared_ptr<Runner> runner;
  DeviceInfo device;  // as its rows name it
  std::vector<Job> jobs;
  // What it has of the work of cases that a family asks for on the way; may be empty.
  std::function<std::vector<Job>(const std::vector<Job>&)> more = {};
};

// One device's part of the run.
//
// Rivals are measured in turns with ours: in each repetition (`runs`) all of ours of a family, then at once
// each rival's of that family, each in a process of its own. That is a round; `runs` of them, A B A B ..,
// tell the luck of a process and what drifts with the hour from what one is faster by.
struct DevicePlan {
  DeviceInfo device;
  std::shared_ptr<ResultsFile> file;
  std::vector<Job> jobs;
  bool refines = false;  // whether families may ask for more cases on the way
  std::vector<RivalProgram> rivals = {};
  // The jobs with, behind each, its work in launches that were tuned, and a word to the user where there is
  // something to say; may be empty.
  std::function<std::vector<Job>(std::vector<Job>, const std::function<void(const std::string&)>& note)>
      with_tuned = {};
};

// Equal devices that measure the same once more, all at the same moment: behind each repetition of theirs
// alone, so that what drifts with the hour is on both sides.
struct AtOnce {
  std::unique_ptr<ParallelDevices> crew;
  std::vector<DevicePlan> benches;  // in the crew's order, of the same jobs
};

struct CampaignRules {
  SamplingOptions measuring;
  std::uint64_t seed = 1;
  int runs = 1;
  std::optional<double> budget_s;  // for the whole: no case begins after it
  bool quiet = false;              // rows go to the terminal, where a progress line would be in their way
  Environment outside = {};
};

class Campaign {
 public:
  // `common` has the cells that are the same in every row. Rows of `left`, an interrupted file, count as if
  // they had been measured now; it must outlive this.
  Campaign(CampaignRules, Runner&, Record common, const Unfinished* left);

  // Throws `io` when a row cannot be written. A file of which cases are missing gets no footer.
  Exit execute(std::vector<DevicePlan>, std::vector<AtOnce> = {});

  std::size_t left_out() const { return left_out_; }  // cases that the budget did not reach
  const std::set<std::string>& unfinished() const { return unfinished_; }  // files of which cases are missing

  void tick();  // to be called often while a case runs
  const std::vector<Record>& records() const { return records_; }
  const std::vector<Record>& at_once_records() const { return at_once_records_; }

 private:
  std::uint64_t seed_of(int run) const;
  double predicted_of(const Job&, const DeviceInfo&) const;  // seconds
  // A process' part of a run: cases of one family, by one program.
  struct Group {
    std::vector<Job> jobs;
    const RivalProgram* rival = nullptr;  // null: ours
    bool asked = false;                   // the rival, for more
  };
  std::vector<Group> groups_of(const DevicePlan&, int run) const;
  void run_device(DevicePlan&, int run);
  void run_at_once(AtOnce&, int run);
  bool extend(Group&, const DevicePlan&, const PlausibilityCheck&, int run);
  std::vector<Job> asked_by_family(const Group&, const DevicePlan&, const PlausibilityCheck&, int run);
  std::vector<Job> asked_of_rival(Group&, const DevicePlan&) const;
  void run_job(DevicePlan&, CaseRunner&, const Group&, const Job&, const std::string& key, int run,
               std::int64_t order, double predicted_s);
  SamplingOptions rule_of(double predicted_s) const;
  double budget_left_s() const { return *rules_.budget_s - (rules_.outside.now() - began_s_); }
  // A run measures one case at least, so that whoever resumes it again and again gets to its end.
  bool budget_spent() const { return rules_.budget_s && measured_ > 0 && budget_left_s() <= 0; }

  CampaignRules rules_;
  Runner& runner_;
  Record common_;
  const Unfinished* left_;
  std::map<std::string, const Record*> done_;
  std::vector<Record> records_, at_once_records_;
  std::vector<double> predicted_;
  std::unique_ptr<Progress> progress_;
  std::set<std::string> unfinished_;
  // By device: what families have asked for, in the first run that they asked for something in.
  struct Refined {
    int run = 0;
    std::vector<Case> cases;
  };
  std::map<std::pair<std::string, const Family*>, Refined> refined_;
  std::size_t step_ = 0, measured_ = 0, left_out_ = 0;
  double left_s_ = 0;  // predicted for the jobs to come
  double began_s_ = 0;
};

}  // namespace clweave::campaign
