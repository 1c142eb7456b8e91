// SPDX-License-Identifier: Apache-2.0
// tuned_store: the best configurations found, kept per device and driver in one JSON file.
#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "suite/all_families.hpp"
#include "suite/case.hpp"
#include "suite/device_info.hpp"

namespace clweave {

// What a case computes, without how: its id without the tunable axes. Configurations of one variant compete.
std::string variant_of(const Family&, const Case&);

struct Tuned {
  std::vector<std::pair<std::string, Value>> configuration;  // of the tunable axes
  double time_s = 0;
  double default_s = 0;  // of the default configuration, in the same search
  std::string time_utc;
  std::string version;  // of clweave
  bool exact = true;    // of this very variant, not of one with another n
};

// $XDG_DATA_HOME/clweave/tuned.json, or in ~/.local/share.
std::string default_store_path();

class TunedStore {
 public:
  // A file that is not there is an empty store. Throws `io` when it is no store of clweave.
  explicit TunedStore(std::string path);

  const std::string& path() const { return path_; }

  // The entry of this variant; if there is none, that of the variant nearest in n alone. Of this platform,
  // device and driver, as another driver may want something else.
  std::optional<Tuned> find(const DeviceInfo&, const Family&, const Case&) const;

  // Throws `io` when `put` would.
  void try_write();

  // Writes the whole file anew, in one step, so that a reader never sees half of it. Throws `io`.
  void put(const DeviceInfo&, const Family&, const Case& best, const Tuned&);

 private:
  void save() const;

  std::string path_;
  nlohmann::json store_;  // as last read or written
};

// The case with its tunable axes as stored; empty when nothing is stored or the case has that configuration
// already.
std::optional<Case> tuned_case(const TunedStore&, const DeviceInfo&, const Family&, const Case&);

}  // namespace clweave
