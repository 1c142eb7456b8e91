// SPDX-License-Identifier: Apache-2.0
// health: holds a device against a reference: pass or fail per family, for a job prolog, which must be short.
//
// A metric is a family: the weighted median over its cases of the device's time over the reference's. It
// passes if that is no more than the reference allows, and neither is any of its cases by itself: a case may
// differ more, as cases have heavier tails than families. Good devices exceed that in one check of a hundred,
// all families and cases together. A family fails if a case failed that the reference has a time of. An
// implausible time counts as not measured. Slower than allowed in no more than half of its processes, of two
// or more, a device is to be measured again, as a process may run slow once.
#pragma once
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "analysis/fleet/identical_devices.hpp"
#include "report/report.hpp"

namespace clweave::fleet {

struct ReferenceCase {
  double time_s = 0;
  double allowed = std::numeric_limits<double>::infinity();  // ratio of times; older references have none
  double weight = 1;
  std::string clock, work;
};

struct ReferenceFamily {
  double allowed = 1;  // ratio of times
  std::map<std::string, ReferenceCase> cases;
};

struct Reference {
  std::string device;
  std::size_t sessions = 0;
  std::map<std::string, ReferenceFamily> families;
};

struct ReferenceRules {
  double margin = 0.03;        // a ratio within 1 + this is no change
  double false_alarms = 0.01;  // chance that a good device fails
};

// Makes a reference for each device name from its devices' sessions: their times, and how far they may
// differ, moderated by what such devices were measured to differ by (analysis/rows/prior.hpp). One of which
// nothing was measured that counts has no family. The set must hold a device.
std::vector<Reference> references_of(const ResultsSet&, const ReferenceRules& = {});

// Writes and reads references as JSON, in which people may change what is allowed. Throws `io`, with the
// name, for any other text.
std::string reference_text(const std::vector<Reference>&);
std::vector<Reference> references_in(const std::string& text, const std::string& name);

enum class Health { pass, unmeasured, fail };  // from good to bad
const char* word_of(Health);

struct Metric {
  std::string family;
  Health health = Health::pass;
  double ratio = 1, allowed = 1;
  std::size_t measured = 0, asked = 0;  // cases
  std::string reason;
};

struct DeviceHealth {
  std::string location, device;  // "node07 0000:18:00.0", "NVIDIA H200"
  std::vector<Metric> metrics;   // by family name

  Health health() const;  // the worst
};

// Checks each device. Throws `usage` for one without a reference.
std::vector<DeviceHealth> health_of(const ResultsSet&, const std::vector<Reference>&);

// The checks must outlive the report.
Report report_of(const std::vector<DeviceHealth>&);

}  // namespace clweave::fleet
