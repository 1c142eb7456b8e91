// SPDX-License-Identifier: Apache-2.0
// profile: the traits of a device that follow from its rows.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/rows/device_rows.hpp"
#include "report/report.hpp"
#include "suite/family.hpp"

namespace clweave::profile {

struct Trait {
  std::string name;     // lower_snake, the same in every profile
  std::string meaning;  // for people
  std::string unit;
  TraitGroup group = TraitGroup::execution;
  std::optional<Estimate> figure = {};  // empty where rows are missing or do not decide
  std::optional<double> disturbed =
      {};                 // without a figure for that alone: as measured while the machine was busy
  std::string note = {};  // which variant reached it
  std::vector<std::string> cases = {};
  std::string command = {};                             // measures it, where rows are missing
  std::string undecided = {};                           // why its rows do not decide
  std::optional<std::pair<double, double>> range = {};  // where it then lies, if that is known
  std::string headline = {};  // its words on the report's overview; empty: it is not there
  std::string remark = {};    // a sentence: what driver, vendor or operating system say of it

  bool is_known() const { return figure || !undecided.empty(); }
  // Returns "none found" where the rows show that there is nothing to find, such as no banks; else
  // "undecided".
  const char* without_figure() const {
    return undecided.starts_with("none found") ? "none found" : "undecided";
  }
};

struct Profile {
  std::string device, name;   // name: with platform and driver
  std::vector<Trait> traits;  // the same ones in the same order in every profile
};

Profile profile_of(const DeviceRows&, const std::vector<Family>&);

// Shows profiles side by side, a column for each device; as data, a row for each trait of each device.
// `with_cases` names the rows behind each trait, for people. The profiles must outlive the report.
Report report_of(const std::vector<Profile>&, bool with_cases);

}  // namespace clweave::profile
