// SPDX-License-Identifier: Apache-2.0
// campaign: turns every case of every device and repetition of a run into a row. It never calls OpenCL.
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
#include "campaign/quiet_wait.hpp"
#include "campaign/runner.hpp"
#include "campaign/wrong_alike.hpp"
#include "results/results_file.hpp"
#include "suite/selection.hpp"

namespace clweave::campaign {

// A program whose implementations are measured in turns with a device's kernels.
struct BaselineProgram {
  std::shared_ptr<Runner> runner;
  DeviceInfo device;  // as its rows name it
  std::vector<Job> jobs;
  // Returns its jobs that do the work of cases which a family asked for during the run; may be empty.
  std::function<std::vector<Job>(const std::vector<Job>&)> more = {};
};

// One device's part of the run.
//
// Baselines are interleaved with kernels: in each repetition (`runs`) all kernels of a family, then each
// baseline's implementations of that family, each program in a process of its own. `runs` such rounds, A B A
// B .., separate a difference between programs from the variation between processes and from drift over time.
struct DevicePlan {
  DeviceInfo device;
  std::shared_ptr<ResultsFile> file;
  std::vector<Job> jobs;
  bool refines = false;  // whether families may ask for more cases on the way
  std::vector<BaselineProgram> baselines = {};
  // Inserts after each job the same work in tuned configurations, and notes for the user where there are
  // none; may be empty.
  std::function<std::vector<Job>(std::vector<Job>, const std::function<void(const std::string&)>& note)>
      with_tuned = {};
};

// Identical devices that measure the same jobs once more, all at the same time. They do so after each
// repetition alone, so that drift over time affects both sides.
struct ParallelPlan {
  std::unique_ptr<ParallelDevices> devices;
  std::vector<DevicePlan> plans;  // in the order of the devices, with the same jobs
};

struct CampaignRules {
  SamplingOptions sampling;
  std::optional<SamplingOptions> peak_sampling = {};  // empty: as the others
  bool peaks_once = false;  // later repetitions take the peaks of an earlier one that nothing slowed
  std::uint64_t seed = 1;
  int runs = 1;
  std::optional<double> budget_s;  // for the whole run: no case begins after it
  double wait_quiet_s = 0;         // at most, in all, for moments in which the machine is quiet
  // Returns by which heat a device is throttled now, or empty; may be empty itself.
  std::function<std::string(const DeviceInfo&)> heat = {};
  bool quiet = false;  // no progress line, as rows go to the terminal
  Environment environment = {};
};

class Campaign {
 public:
  // `common` holds the cells that are the same in every row. Rows of `resumed`, an interrupted file, count as
  // if they had been measured now; it must outlive this.
  Campaign(CampaignRules, Runner&, Record common, const Unfinished* resumed);

  // Measures everything. Throws `io` if a row cannot be written. A file that lacks cases gets no footer.
  // Returns case_failed for a case that failed, and where the devices support none of those asked for.
  Exit execute(std::vector<DevicePlan>, std::vector<ParallelPlan> = {});

  std::size_t skipped() const { return skipped_; }  // cases that the budget did not reach
  const std::set<std::string>& unfinished() const { return unfinished_; }  // files that lack cases

  void tick();  // to be called often while a case runs
  const std::vector<Record>& records() const { return records_; }
  const std::vector<Record>& parallel_records() const { return parallel_records_; }
  // Rows of `records` whose output a check refused, of kernels of one's own.
  const std::vector<WrongRow>& wrong_rows() const { return wrong_rows_; }

 private:
  std::uint64_t seed_of(int run) const;
  double predicted_of(const Job&, const DeviceInfo&) const;  // seconds
  // Cases of one family that one process measures in a repetition.
  struct Group {
    std::vector<Job> jobs;
    const BaselineProgram* baseline = nullptr;  // null: the device's kernels
    bool asked = false;                         // the baseline was asked for more
  };
  std::vector<Group> groups_of(const DevicePlan&, int run) const;
  void add_steps(const DevicePlan&, int run, std::vector<double>& predicted,
                 std::vector<bool>& are_peaks) const;
  void run_device(DevicePlan&, int run);
  void write_findings(const DevicePlan&, const CaseRunner&, int run);
  void run_parallel(ParallelPlan&, int run);
  void append_followup_jobs(Group&, const DevicePlan&, const PlausibilityCheck&, int run);
  std::vector<Job> asked_by_family(const Group&, const DevicePlan&, const PlausibilityCheck&, int run);
  std::vector<Job> asked_of_baseline(Group&, const DevicePlan&) const;
  bool take_known_peak(const DevicePlan&, CaseRunner&, const Job&, int run) const;
  void run_job(DevicePlan&, CaseRunner&, const Group&, const Job&, const std::string& key, int run,
               std::int64_t order, double predicted_s);
  SamplingOptions sampling_of(const Job&, double predicted_s) const;
  // Waits for a quiet machine and a cool device, if that was asked for; returns false if it is not, or no
  // longer.
  bool wait_quiet(const DeviceInfo&);
  double budget_left_s() const { return *rules_.budget_s - (rules_.environment.now() - began_s_); }
  // At least one case is measured, so that a run that is resumed again and again comes to its end.
  bool budget_spent() const { return rules_.budget_s && measured_ > 0 && budget_left_s() <= 0; }

  CampaignRules rules_;
  Runner& runner_;
  Record common_;
  const Unfinished* resumed_;  // null: a new run
  std::map<std::string, const Record*> done_;
  std::vector<Record> records_, parallel_records_;
  std::vector<WrongRow> wrong_rows_;
  std::vector<double> predicted_;
  std::unique_ptr<Progress> progress_;
  QuietWait quiet_wait_;
  std::set<std::string> unfinished_;
  // The cases that a family asked for on a device, in the first repetition in which it asked for any.
  struct Refined {
    int run = 0;
    std::vector<Case> cases;
  };
  std::map<std::pair<std::string, const Family*>, Refined> refined_;
  std::size_t step_ = 0, measured_ = 0, skipped_ = 0;
  double remaining_s_ = 0;  // predicted for the jobs to come
  double began_s_ = 0;
};

}  // namespace clweave::campaign
