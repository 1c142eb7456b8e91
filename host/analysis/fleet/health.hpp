// SPDX-License-Identifier: Apache-2.0
// health: a card against a reference: pass or fail per family, for a prolog that may not take long.
//
// A metric is a family: the weighted median over its cases of the card's time over the reference's. It passes
// when that is no more than the reference allows, which is what good cards exceed in one check of a hundred,
// all families together; and fails for a case that failed where the reference has a time. A time that cannot
// be true is a case that was not measured.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "analysis/fleet/identical_devices.hpp"
#include "report/report.hpp"

namespace clweave::fleet {

struct ReferenceCase {
  double time_s = 0;
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
  double false_alarms = 0.01;  // chance that a good card fails
};

// Of each device name: what its cards' sessions took, and by how much they differ, moderated by what such
// devices were measured to differ by (answers/prior.hpp). The set must hold a device.
std::vector<Reference> references_of(const ResultsSet&, const ReferenceRules& = {});

// As JSON, for people to look at and to change what is allowed. Throws `io`, with the name, for text that is
// none of it.
std::string reference_text(const std::vector<Reference>&);
std::vector<Reference> references_in(const std::string& text, const std::string& name);

enum class Health { pass, unmeasured, fail };  // in the order of how bad that is
const char* word_of(Health);

struct Metric {
  std::string family;
  Health health = Health::pass;
  double ratio = 1, allowed = 1;
  std::size_t measured = 0, asked = 0;  // cases
  std::string reason;
};

struct DeviceHealth {
  std::string card, device;
  std::vector<Metric> metrics;  // by family name

  Health health() const;  // the worst
};

// Of each card; `usage` for one whose device no reference is of.
std::vector<DeviceHealth> health_of(const ResultsSet&, const std::vector<Reference>&);

// Which must outlive it.
Report report_of(const std::vector<DeviceHealth>&);

}  // namespace clweave::fleet
