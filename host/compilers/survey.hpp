// SPDX-License-Identifier: Apache-2.0
// survey: what every compiler makes of every kernel, and what stands out.
#pragma once
#include <string>
#include <vector>

#include "compilers/inspect.hpp"

namespace clweave::compilers {

struct Surveyed {
  Job job;
  std::vector<Inspected> by;  // of each target, in their order
};

struct Survey {
  std::vector<const Target*> targets;
  std::vector<Surveyed> cases;
};

// Returns the first case of every kernel, operation and path in the selection, and those that findings are
// about.
Survey survey_of(const std::vector<Family>&, const Selection&, const std::vector<const Target*>&,
                 const std::string& kernel_dir);

// A sentence each: which kernels spill, what became of a branch, which loads are wide, how many multiply-adds
// there are, which barriers went.
struct SurveyFinding {
  std::string topic;
  std::string about;  // a case id, shortened to the axes that are not at their default
  std::string text;
};
std::vector<SurveyFinding> findings_of(const Survey&);

}  // namespace clweave::compilers
