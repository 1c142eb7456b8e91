// SPDX-License-Identifier: Apache-2.0
// fleet: compares identical devices with each other: which one is to be drained, for what, and what its slow
// cases have in common.
//
// The unit of replication is the device, and it is judged by what analysis/fleet/effects.hpp says. The t test
// of compare holds each effect against the other devices: it must lie beyond the margin, by their spread,
// moderated by what sessions of such a device were measured to differ by (analysis/rows/prior.hpp). Outliers
// mask each other, so they are taken out one after the other. Then every case of the devices that are not
// named is tested by itself, with the prior's heavy tails. p is multiplied by the number of devices, of
// measures or cases, and by two (Bonferroni): if no device differs, one fleet in a hundred has one named.
//
// If more than a quarter of the devices is slow, or they fall into groups (analysis/fleet/groups.hpp), nobody
// can tell which are as they should be: they are not judged, unless there is a baseline.
//
// A process may run slow once for no fault of its device. A device is to be drained if what it was named for
// is too much for such chances; else it is to be measured again (analysis/fleet/repeats.hpp).
//
// A failure needs no statistics: a case that fails on one device, or a few, and is right on the others is
// that device's fault. Hence four devices are needed for times, two for failures. An implausible time is not
// a failure of the device, as a busy host causes it.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "analysis/fleet/identical_devices.hpp"
#include "report/report.hpp"

namespace clweave::fleet {

// The family of a difference in what all families have in common.
inline constexpr const char* whole_device = "all families";

// Describes how a device differs in a family, in all, or in one case.
struct DeviceDifference {
  std::string family;
  std::string id = {};  // empty for a family, or all of them
  std::size_t cases = 0;
  double ratio = 1, low = 1, high = 1;  // its time over the others', with the 95 % interval
  double p = 1;  // under no difference beyond the margin, corrected for the tests of this device
  bool outlier = false;
};

struct DeviceFailure {
  std::string family, id;
  Status status = Status::none;
  std::string reason;
};

enum class DeviceVerdict { fine, faster, unjudged, again, drain };  // from good to bad
const char* word_of(DeviceVerdict);

struct FleetDevice {
  const DeviceResults* results = nullptr;
  std::string location;  // for people: "node07 0000:18:00.0"
  DeviceVerdict verdict = DeviceVerdict::fine;
  double p = 1;                               // corrected for the number of devices
  std::vector<DeviceDifference> differences;  // by family, then the outlying cases
  std::vector<DeviceFailure> failures;        // of cases that most others get right
  std::size_t cases = 0, missing = 0;         // of the cases that most devices have
  std::size_t slowed = 0, apart = 0;  // cases not counted: beside a slow canary; by another clock or work
  std::vector<std::string> lacks;     // families that it has too few times of
  std::string shared;                 // what its differences have in common, or why it is not judged
};

struct Fleet {
  std::string device;
  std::vector<FleetDevice> devices;  // in the order met
  bool by_baseline = false;          // else against each other
  std::size_t cases = 0, families = 0;
  double spread = 0;   // typical sd of the logarithm between devices, of a family
  double least = 0;    // by how much a device must differ in a typical family to be named
  bool split = false;  // into groups, or so widely that nobody knows which is as it should be
  std::vector<std::string> notes;

  std::size_t count(DeviceVerdict) const;
};

struct FleetRules {
  double margin = 0.03;        // as compare's
  double false_alarms = 0.01;  // chance that a fleet without an outlier has one named
};

// Judges the devices of each name, in the order met. With a baseline, which has the times of good devices,
// each device is held against that, and any number may be named; throws `usage` if it has no device of these
// names. The sets must outlive the result.
std::vector<Fleet> fleets_of(const ResultsSet&, const ResultsSet* baseline = nullptr, const FleetRules& = {});

// Judges times alone, for callers without rows; failures are not looked for.
Fleet fleet_of(const IdenticalDevices&, const IdenticalDevices* baseline = nullptr, const FleetRules& = {});

// Shows with `every` each device, and each family of those named. The fleets must outlive the report.
Report report_of(const std::vector<Fleet>&, bool every);

}  // namespace clweave::fleet
