// SPDX-License-Identifier: Apache-2.0
// fleets: how often clweave fleet names whom it should and nobody else, over invented fleets (Markdown)
//
//   clweave_agreement_fleets [TRIALS]     of eight devices [50], fewer of more; the seeds are fixed
//
// The devices differ as sessions of an H200 do, and by their clocks (tests/analysis/invented_fleets.hpp). A
// slow fleet is told if, against each other, exactly its slow devices are named, or it is said to fall into
// groups, or, where the fast ones are few, exactly these are named; against a baseline of eight devices, if
// exactly the slow ones are named.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>

#include "analysis/invented_fleets.hpp"

using namespace clweave::fleet;

namespace {

constexpr std::size_t baseline_size = 8, few = 8;

using Where = bool (*)(const DeviceCase&);

struct Asked {
  std::size_t devices = 8, slow = 0;
  double factor = 1;
  Where where = everywhere;
  Invention how;
};

// Counts fleets, judged against each other and against a baseline.
struct Count {
  std::size_t alone = 0, by_baseline = 0;
};

struct Told {
  Count right;             // as they should be
  Count drained, doubted;  // a good device is to be drained; some device is to be measured again
};

bool is_named(DeviceVerdict verdict) {
  return verdict == DeviceVerdict::drain || verdict == DeviceVerdict::again;
}

// Returns whether exactly the first `slow` devices are named.
bool exactly_named(const Fleet& fleet, std::size_t slow) {
  for (std::size_t u = 0; u < fleet.devices.size(); ++u) {
    if (is_named(fleet.devices[u].verdict) != (u < slow)) return false;
  }
  return true;
}

// Returns whether exactly the others are said to be faster.
bool others_faster(const Fleet& fleet, std::size_t slow) {
  for (std::size_t u = 0; u < fleet.devices.size(); ++u) {
    if ((fleet.devices[u].verdict == DeviceVerdict::faster) != (u >= slow)) return false;
  }
  return slow > 0;
}

bool good_one_drained(const Fleet& fleet, std::size_t slow) {
  for (std::size_t u = slow; u < fleet.devices.size(); ++u) {
    if (fleet.devices[u].verdict == DeviceVerdict::drain) return true;
  }
  return false;
}

Told told(const Asked& asked, std::size_t trials) {
  Inventor invent(20'261'127 + asked.devices + 1000 * asked.slow);
  Told out;
  for (std::size_t trial = 0; trial < trials; ++trial) {
    const Invention good = {.core = asked.how.core, .memory = asked.how.memory};
    const IdenticalDevices baseline = invent.fleet(baseline_size, good);
    IdenticalDevices devices = invent.fleet(asked.devices, asked.how);
    for (std::size_t u = 0; u < asked.slow; ++u) slow_down(devices, u, asked.factor, asked.where);
    const Fleet alone = fleet_of(devices), against = fleet_of(devices, &baseline);
    out.right.alone +=
        alone.split || exactly_named(alone, asked.slow) || others_faster(alone, asked.slow) ? 1 : 0;
    out.right.by_baseline += exactly_named(against, asked.slow) ? 1 : 0;
    out.drained.alone += good_one_drained(alone, asked.slow) ? 1 : 0;
    out.drained.by_baseline += good_one_drained(against, asked.slow) ? 1 : 0;
    out.doubted.alone += alone.count(DeviceVerdict::again) > 0 ? 1 : 0;
    out.doubted.by_baseline += against.count(DeviceVerdict::again) > 0 ? 1 : 0;
  }
  return out;
}

std::string of_hundred(std::size_t n, std::size_t trials) {
  return fmt::format("{:.3g}", 100.0 * static_cast<double>(n) / static_cast<double>(trials));
}

std::size_t trials_of(std::size_t trials, std::size_t devices) {
  return std::max<std::size_t>(1, trials * few / std::max(few, devices));
}

void print_slow(const std::string& what, const Asked& asked, std::size_t trials) {
  const std::size_t n = trials_of(trials, asked.devices);
  const Told found = told(asked, n);
  fmt::print("| {} | {} | {} | {} | {} | {} |\n", what, asked.devices, asked.slow,
             asked.slow < asked.devices ? of_hundred(found.right.alone, n) : "-",
             of_hundred(found.right.by_baseline, n),
             of_hundred(std::max(found.drained.alone, found.drained.by_baseline), n));
  std::fflush(stdout);
}

void print_good(const std::string& what, const Asked& asked, std::size_t trials) {
  const std::size_t n = trials_of(trials, asked.devices);
  const Told found = told(asked, n);
  fmt::print("| {} | {} | {} | {} | {} | {} |\n", what, asked.devices, of_hundred(found.drained.alone, n),
             of_hundred(found.drained.by_baseline, n), of_hundred(found.doubted.alone, n),
             of_hundred(found.doubted.by_baseline, n));
  std::fflush(stdout);
}

void print_shares(std::size_t trials) {
  for (const double factor : {1.08, 1.2}) {
    for (const std::size_t n : {8, 64, 256}) {
      std::size_t before = 0;
      for (const double share : {0.01, 0.1, 0.25, 0.3, 0.4, 0.5, 0.6, 0.74, 0.9, 0.99, 1.0}) {
        const auto slow =
            std::max<std::size_t>(1, static_cast<std::size_t>(std::lround(share * static_cast<double>(n))));
        if (std::exchange(before, slow) == slow) continue;
        print_slow(fmt::format("{:.0f} % slower everywhere", 100 * (factor - 1)),
                   {n, slow, factor, everywhere, {}}, trials);
      }
    }
  }
}

void print_parts(std::size_t trials) {
  for (const std::size_t n : {8, 64}) {
    print_slow("8 % slower copies, clocks by 1 %", {n, 1, 1.08, in_copy, other_clocks}, trials * n / few);
    print_slow("8 % slower memory, clocks by 1 %", {n, 1, 1.08, in_memory, other_clocks}, trials * n / few);
    print_slow("8 % slower everywhere, clocks by 1 %", {n, 1, 1.08, everywhere, other_clocks},
               trials * n / few);
  }
}

}  // namespace

int main(int count, char** words) {
  const std::size_t trials = count > 1 ? std::stoul(words[1]) : 50;
  fmt::print(
      "| slow fleets, of each 100 | devices | slow | told | told, baseline | good one drained |\n"
      "|---|---:|---:|---:|---:|---:|\n");
  print_shares(trials);
  print_parts(trials);
  fmt::print(
      "\n| good fleets, of each 100 | devices | one drained | by baseline | one to be measured again | by "
      "baseline |\n|---|---:|---:|---:|---:|---:|\n");
  for (const std::size_t n : {8, 64, 256}) {
    print_good("clocks by 0.5 %", {n, 0, 1, everywhere, {}}, 4 * trials);
    print_good("clocks by 1 %", {n, 0, 1, everywhere, other_clocks}, 4 * trials);
    for (const std::size_t processes : {1, 2, 3}) {
      Invention how;
      how.processes = processes;
      how.slow_once = 0.05;
      print_good(fmt::format("{} process{} each, 5 % slow once", processes, processes == 1 ? "" : "es"),
                 {n, 0, 1, everywhere, how}, 4 * trials);
    }
  }
}
