// SPDX-License-Identifier: Apache-2.0
// suite: which cases a run consists of.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "suite/all_families.hpp"
#include "suite/case.hpp"
#include "suite/plan.hpp"

namespace clweave::suite {

// The words of the command line, as given.
struct Selection {
  std::string preset = "quick";
  std::vector<std::string> families;  // empty: all
  std::vector<std::string> where;     // "axis=v,v": keep the cases with these values
  std::vector<std::string> set;       // "axis=v,v": replace the preset's values
  std::string filter;                 // regular expression on case ids
  std::uint64_t seed = 1;
  bool peaks = true;  // measure family peak first, so that other rows have a measure
};

// What --set gives this axis; empty when it does not name it.
std::optional<Values> values_set(const Selection&, const Axis&);

// The families of these names, all when there are none. Throws `usage` that names those there are.
std::vector<const Family*> chosen_families(const std::vector<Family>&, const std::vector<std::string>& names);

// Another program that does the work of a case, as its row names it.
struct BaselineCase {
  std::string api;
  Case row;
};

struct Job {
  const Family* family = nullptr;
  Case at;
  bool known_incorrect = false;               // form=known_incorrect
  bool is_peak = false;                       // the best of these is what other rows are held against
  bool tuned = false;                         // in a launch that tune found, beside the default one ..
  std::string tuned_on = {};                  // .. on this other device; empty: on the same
  std::string tuned_with = {};                // .. at work with this, "op=sum"; empty: at this work
  bool refined = false;                       // Family::refine asked for it
  std::optional<BaselineCase> baseline = {};  // the program that does the work of `at`; empty: the kernel

  const Case& named() const { return baseline ? baseline->row : at; }  // in its row
};

// The cases of a run, in order: peaks, then the families in theirs, known-incorrect cases last of all because
// a known error may take the device down. Throws `usage` that names what may be typed instead.
std::vector<Job> select_jobs(const std::vector<Family>&, const Selection&);

// Whether a case that the presets have not is one that the user would have: of the values of --set, and left
// by --where and --filter.
bool allows(const Selection&, const Family&, const Case&);
// The job of an id as rows have it, "family/axis=value/..". An axis that it leaves out has its default.
// Throws `usage` that says what may be typed.
Job job_named(const std::vector<Family>&, const std::string& id);

// The shortest id that job_named takes for it: without the axes that have their default.
std::string short_id(const Job&);

// Every axis and derived column of every family, in the order met.
std::vector<std::string> axis_names(const std::vector<Family>&);

// What a case needs, before it is run, in orders of magnitude.
struct Estimate {
  std::uint64_t bytes = 0;  // of all buffers
  double device_s = 0;      // of its executions
  double seconds = 0;       // of the whole row
};
Estimate estimate(const Plan&, const DeviceInfo&);
double predicted_seconds(const Job&, const DeviceInfo&);  // of a job that cannot run: next to nothing

}  // namespace clweave::suite
