// SPDX-License-Identifier: Apache-2.0
// selection: the cases of a run.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "suite/all_families.hpp"
#include "suite/case.hpp"
#include "suite/plan.hpp"

namespace clweave::suite {

// Selection options of the command line, as given.
struct Selection {
  std::string preset = "quick";
  std::vector<std::string> families;  // empty: all
  std::vector<std::string> where;     // "axis=v,v": keep the cases with these values
  std::vector<std::string> set;       // "axis=v,v": replace the preset's values
  std::string filter;                 // regular expression on case ids
  std::uint64_t seed = 1;
  bool peaks = true;  // measure family peak first, for the others' fraction of peak
  // Of these measure only those that bound a case: the families' other results need none.
  bool bounding_peaks = false;
};

// Returns the values of --set for this axis; std::nullopt if it does not name it.
std::optional<Values> values_set(const Selection&, const Axis&);

// Returns the families of these names, all if there are none. Throws `usage` that lists the families.
std::vector<const Family*> chosen_families(const std::vector<Family>&, const std::vector<std::string>& names);

// Case of a baseline program for the same task, as its row names it.
struct BaselineCase {
  std::string api;
  Case row;
};

struct Job {
  const Family* family = nullptr;
  Case at;
  bool known_incorrect = false;               // form=known_incorrect
  bool is_peak = false;                       // its rate is a measured peak
  bool tuned = false;                         // in a configuration that tune found, beside the default ..
  std::string tuned_on = {};                  // .. on this other device; empty: on the same
  std::string tuned_with = {};                // .. for a similar task, "op=sum"; empty: this task
  bool refined = false;                       // Family::refine asked for it
  std::optional<BaselineCase> baseline = {};  // program that runs instead of our kernel

  const Case& named() const { return baseline ? baseline->row : at; }  // as its row names it
};

// Returns the cases of a run in order: peaks, then the families in theirs, known-incorrect cases last because
// they may crash the device. Throws `usage` that says what to type instead.
std::vector<Job> select_jobs(const std::vector<Family>&, const Selection&);

// Returns whether --set, --where and --filter allow a case that no preset has.
bool allows(const Selection&, const Family&, const Case&);
// Returns the job of a case id, "family/axis=value/..", in which axes at their default may be left out.
// Throws `usage` that says what to type instead.
Job job_named(const std::vector<Family>&, const std::string& id);

// Returns the shortest id that job_named accepts: without axes at their default.
std::string short_id(const Job&);

// Returns every axis and derived column of every family, in order of appearance.
std::vector<std::string> axis_names(const std::vector<Family>&);

// Prediction of what a case needs, to an order of magnitude.
struct CostEstimate {
  std::uint64_t bytes = 0;  // of all buffers
  double device_s = 0;      // executions on the device
  double seconds = 0;       // of the whole row
};
CostEstimate estimate(const Plan&, const DeviceInfo&);
double predicted_seconds(const Job&, const DeviceInfo&);  // next to nothing for a job that cannot run

}  // namespace clweave::suite
