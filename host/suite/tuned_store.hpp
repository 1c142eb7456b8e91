// SPDX-License-Identifier: Apache-2.0
// tuned_store: tuned configurations per device and driver: the user's own in one JSON file, and those shipped
// with the program (results/*/tuned.json).
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "os/file_lock.hpp"
#include "suite/all_families.hpp"
#include "suite/case.hpp"
#include "suite/device_info.hpp"

namespace clweave::suite {

// Returns the task of a case: its id without the tunable axes and without the design axes in `among`.
std::string work_of(const Family&, const Case&, const std::vector<std::string>& among);
// Returns the task and design of a case. Configurations of one variant compete.
std::string variant_of(const Family&, const Case&);

// Returns the axes that tell designs apart: those that preset tune names and that are not tunable.
std::vector<std::string> design_axes(const Family&);

struct Tuned {
  Case best;
  std::vector<std::string> among = {};  // design axes, if several designs competed
  double time_s = 0;
  double default_s = 0;  // default configuration, in the same search
  std::string time_utc;
  std::string version;  // of clweave
};

// $XDG_DATA_HOME/clweave/tuned.json, or in ~/.local/share.
std::string default_store_path();

class TunedStore {
 public:
  // Reads a store; a missing file is an empty store. Throws `io`, with what is wrong, if the file is no store
  // or has a damaged entry.
  explicit TunedStore(std::string path);

  const std::string& path() const { return path_; }
  const nlohmann::json& text() const { return store_; }  // as last read or written

  // Throws `io` if `put` would.
  void try_write();

  // Replaces the entry of the same task or, if designs did not compete, of the same variant; after a search
  // that was cut short or narrowed (not `whole`) only by a faster one. Replaces the file atomically under a
  // lock, so that readers never see half of it and concurrent writers lose nothing. Returns whether it was
  // kept. Throws `io`.
  bool put(const DeviceInfo&, const Family&, const Tuned&, bool whole = true);

 private:
  FileLock locked() const;
  void save() const;

  std::string path_;
  nlohmann::json store_;
};

// Returns the user's store (at this path; empty: the default one) without the entries that fit no case, for
// which it adds a line each, then those shipped with the program. Throws `io` as TunedStore does.
std::vector<nlohmann::json> known_stores(const std::string& path, std::vector<std::string>& left_out);

// Configuration that a search found.
struct TunedLaunch {
  Case at;
  std::string of;    // device and driver it was found on; empty: this one
  std::string with;  // how its task differed, "op=sum"; empty: in nothing but n
};

// Largest factor from the n that a configuration was tuned at to the n that it is used at. With a fixed
// number of work-groups each work-item loops longer for larger n, and what suits few iterations need not suit
// many: a copy tuned at 25165824 words took on PoCL 1.0 times as long as the default at four times as many,
// but 13.7 times at eight. Smaller n only shortens the loops.
inline constexpr int carried_at_most = 4;

// Case in a configuration tuned at too small an n to be used.
struct NotCarried {
  Case at;
  std::int64_t found_at_n = 0;
};

// Looks up tuned configurations: of this device and driver, else of this device with the nearest driver, else
// of the nearest device of its type by platform, vendor and compute units. Among equally near devices the
// earlier store wins; for the device itself all stores count.
class TunedLaunches {
 public:
  // The stores are sound, as known_stores returns them.
  TunedLaunches(const DeviceInfo&, const std::vector<nlohmann::json>& stores);

  // Returns configurations to measure beside a case: its own design as tuned, and the best of the designs
  // that competed at its task, at the n of the case. They come from the nearest n within carried_at_most, or
  // if no design was tuned for this task, from a similar one (Axis::alike). Leaves out the case itself and
  // what the device cannot run. `left_out`, if there are none: the one found only at too small an n.
  std::vector<TunedLaunch> beside(const Family&, const Case&,
                                  std::optional<NotCarried>* left_out = nullptr) const;

 private:
  // Device in a store.
  struct Known {
    std::string of;
    nlohmann::json entries;
  };

  DeviceInfo device_;
  std::vector<Known> known_;  // nearest first
};

}  // namespace clweave::suite
