// SPDX-License-Identifier: Apache-2.0
// fleet: equal cards against each other: which is to be drained, in what, and what that has in common.
//
// The card is the unit, and a family of cases what it is judged by: the weighted median over its cases of how
// much longer the card takes than the middle of all cards. That is held against the other cards' by the t
// test that compare decides with: whether it lies beyond the margin, by the spread of the others, moderated
// by what sessions of such a device were measured to differ by (answers/prior.hpp).
//
// Cards that stand out hide each other: they are taken out one after the other, the most unlikely first, and
// the last one that is too unlikely names all before it (Rosner, "Percentage points for a generalized ESD
// many-outlier procedure", 1983), at most a quarter of the cards. Then every case of the others is tried by
// itself, by tails as heavy as the prior's. Both multiply a probability by the number of cards and of
// families, or cases, and by two: where no card differs, one fleet in a hundred has a card named.
//
// A failure needs no statistics: what fails on a card and is right on most others is the card's. So the
// fewest cards are four for times, and two for failures. A time that cannot be true is no failure of a card:
// a busy host makes such times.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "analysis/fleet/identical_devices.hpp"
#include "report/report.hpp"

namespace clweave::fleet {

// How a card differs in a family, or in one case.
struct Difference {
  std::string family;
  std::string id = {};  // empty: of a family
  std::size_t cases = 0;
  double ratio = 1, low = 1, high = 1;  // its time over the others', with the 95 % interval
  double p = 1;  // of no difference beyond the margin, times what was tried of this card
  bool odd = false;
};

struct DeviceFailure {
  std::string family, id;
  Status status = Status::none;
  std::string reason;
};

enum class DeviceVerdict { fine, faster, unjudged, drain };  // in the order of how bad that is
const char* word_of(DeviceVerdict);

struct FleetDevice {
  const DeviceResults* device = nullptr;
  std::string name;
  DeviceVerdict verdict = DeviceVerdict::fine;
  double p = 1;                         // times the number of cards
  std::vector<Difference> differences;  // by family, then the odd cases
  std::vector<DeviceFailure> failures;  // of what most others do
  std::size_t cases = 0, missing = 0;   // of those that most cards have
  std::size_t slowed = 0, apart = 0;    // of these, not counted: while the canary ran slow; by another clock
  std::string shared;                   // what its differences have in common, or why it is not judged
};

struct Fleet {
  std::string device;
  std::vector<FleetDevice> cards;  // in the order met
  bool by_baseline = false;        // else against each other
  std::size_t cases = 0, families = 0;
  double spread = 0;  // typical sd of the logarithm between cards, of a family
  double least = 0;   // by how much a card must differ in a typical family to be named
  std::vector<std::string> notes;

  std::size_t count(DeviceVerdict) const;
};

struct FleetRules {
  double margin = 0.03;        // as compare's
  double false_alarms = 0.01;  // chance that a fleet without an odd card has one named
};

// By device name, in the order met. With a baseline, what good cards took, each card is held against that,
// and any number may be named; its devices are matched by name, and `usage` is thrown where none is there.
// The set must outlive what is returned.
std::vector<Fleet> fleets_of(const ResultsSet&, const ResultsSet* baseline = nullptr, const FleetRules& = {});

// The times alone, for who has no rows. No failures are looked for.
Fleet fleet_of(const IdenticalDevices&, const IdenticalDevices* baseline = nullptr, const FleetRules& = {});

// Which must outlive it. `every`: each card, and each family of those named.
Report report_of(const std::vector<Fleet>&, bool every);

}  // namespace clweave::fleet
