// SPDX-License-Identifier: Apache-2.0
// fingerprint: what the rows of a device tell of it, as one card.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/rows/device_rows.hpp"
#include "report/report.hpp"
#include "suite/family.hpp"

namespace clweave::profile {

struct Trait {
  std::string name;     // lower_snake, the same on every card
  std::string meaning;  // for people
  std::string unit;
  TraitGroup group = TraitGroup::execution;
  std::optional<Figure> figure = {};  // none where rows are missing or do not decide
  std::string note = {};              // which variant reached it
  std::vector<std::string> cases = {};
  std::string command = {};                             // that would measure it
  std::string undecided = {};                           // why its rows do not decide
  std::optional<std::pair<double, double>> range = {};  // where it then lies, if that is known
  std::string remark =
      {};  // a sentence: what the driver, the maker or the system says, where that is not the figure

  bool is_known() const { return figure || !undecided.empty(); }
};

struct Profile {
  std::string device, name;   // name: with platform and driver
  std::vector<Trait> traits;  // the same ones in the same order on every card
};

Profile profile_of(const DeviceRows&, const std::vector<Family>&);

// What a device reaches at best it reaches at large sizes, of at least this part of the largest: of smaller
// ones a part may lie in a cache.
inline constexpr std::int64_t part_of_largest = 8;

// One card, or several side by side: a column for each device. Its rows are the traits; `with_cases` names
// the rows behind each, for people. The cards must outlive it.
Report report_of(const std::vector<Profile>&, bool with_cases);

}  // namespace clweave::profile
