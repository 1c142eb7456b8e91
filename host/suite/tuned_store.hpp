// SPDX-License-Identifier: Apache-2.0
// tuned_store: the best launches found, kept per device and driver: the user's own in one JSON file, and
// those of devices that were measured for the program (results/*/tuned.json).
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/file_lock.hpp"
#include "suite/all_families.hpp"
#include "suite/case.hpp"
#include "suite/device_info.hpp"

namespace clweave::suite {

// What a case computes: its id without the tunable axes, which say how, and without those in `among`, which
// say by which of several designs.
std::string work_of(const Family&, const Case&, const std::vector<std::string>& among);
// The same of one design. Launches of one variant compete.
std::string variant_of(const Family&, const Case&);

// The axes that say by which of several designs a family's work is done: those that its preset tune names and
// that are not tunable.
std::vector<std::string> design_axes(const Family&);

struct Tuned {
  Case best;
  std::vector<std::string> among = {};  // the axes that designs differ in, where several competed
  double time_s = 0;
  double default_s = 0;  // of the default configuration, in the same search
  std::string time_utc;
  std::string version;  // of clweave
};

// $XDG_DATA_HOME/clweave/tuned.json, or in ~/.local/share.
std::string default_store_path();

class TunedStore {
 public:
  // A file that is not there is an empty store. Throws `io` when it is no store of clweave.
  explicit TunedStore(std::string path);

  const std::string& path() const { return path_; }
  const nlohmann::json& text() const { return store_; }  // as last read or written

  // Throws `io` when `put` would.
  void try_write();

  // Keeps it in place of what is kept for the same work, or where designs did not compete, for the same
  // variant. Of a search that was cut short or narrowed (not `whole`) only what is faster than that. Writes
  // the whole file anew, in one step, so that a reader never sees half of it; of several processes that write
  // at once each finds what the others wrote. False where it is not kept. Throws `io`.
  bool put(const DeviceInfo&, const Family&, const Tuned&, bool whole = true);

 private:
  FileLock locked() const;
  void save() const;

  std::string path_;
  nlohmann::json store_;
};

// The user's own store (of this path; empty: the default one), and behind it those that ship with the
// program. Throws `io` as TunedStore does.
std::vector<nlohmann::json> known_stores(const std::string& path);

// A launch that a search found.
struct TunedLaunch {
  Case at;
  std::string of;    // on which device and driver; empty: on this
  std::string with;  // what the work had otherwise at which it was found, "op=sum"; empty: nothing but n
};

// To how many times the n that it was found at a launch is carried. Of one whose groups are counted an item
// has the more to do the more elements there are, and what suited few turns need not suit many: of a copy
// tuned at 25165824 words PoCL took 1.0 times the default's time at four times as many, and 13.7 times at
// eight. With fewer elements it has less of the same to do.
inline constexpr int carried_at_most = 4;

// A launch as a case would have it, found at so much less an n that it says nothing of the case.
struct NotCarried {
  Case at;
  std::int64_t found_at_n = 0;
};

// What stores know of a device: first of itself with this driver, else with another, the nearest first; else
// of the device of its type that is nearest by platform, vendor, and compute units. A store that is named
// earlier goes before one that knows as near a device; of the device itself all count.
class TunedLaunches {
 public:
  // Throws `io` for a store that is damaged, as do the others.
  TunedLaunches(const DeviceInfo&, const std::vector<nlohmann::json>& stores);

  // What is worth measuring beside a case: its own design as it was tuned, and the best of the designs that
  // competed at its work; each with the n of the case, as found at the nearest n that is carried so far, or
  // where nothing of this work is known, by whichever design, of one that is alike (Axis::alike).
  // None where the device cannot run it or it is the case itself. `left_out`: where there is none, what
  // was found at too small an n alone.
  std::vector<TunedLaunch> beside(const Family&, const Case&,
                                  std::optional<NotCarried>* left_out = nullptr) const;

 private:
  // A device that a store knows.
  struct Known {
    std::string of;
    nlohmann::json entries;
  };

  DeviceInfo device_;
  std::vector<Known> known_;  // the nearest first
};

}  // namespace clweave::suite
