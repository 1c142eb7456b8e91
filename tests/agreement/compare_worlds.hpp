// SPDX-License-Identifier: Apache-2.0
// compare_worlds: invented sessions of a device that really is one, in worlds that differ by what else than a
// change makes times differ. For tests of compare_runs and the program compare_simulation.
//
// Times, spreads and the samples' own intervals of the cases are those of the committed A/A sessions of an
// H200; the fifth is of another GPU.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <numbers>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "draws.hpp"
#include "results/results_set.hpp"

namespace clweave::worlds {

class Noise : public draws::Draws {
 public:
  using Draws::Draws;
  std::size_t below(std::size_t n) {
    return std::min(n - 1, static_cast<std::size_t>(uniform() * static_cast<double>(n)));
  }
  // Student's t of 3 degrees, of variance 1.
  double burst() {
    double squares = 0;
    for (int i = 0; i < 3; ++i) {
      const double value = normal();
      squares += value * value;
    }
    return normal() / std::sqrt(squares);
  }
};

struct KnownCase {
  std::string id;
  double log_time = 0;
  std::int64_t commands = 1;
  double spread = 0;                  // sd of log_time between sessions of one card
  std::vector<double> log_variances;  // of its medians, by their samples
  double other_card = 0;              // what another GPU adds to log_time

  double command_s() const { return std::exp(log_time) / static_cast<double>(commands); }
};

// Reads the cases that all five sessions have: the card's four, and another's.
inline std::vector<KnownCase> known_cases(const std::vector<results::ResultsSet>& sessions) {
  std::vector<KnownCase> out;
  for (const auto& at : sessions.front().devices.at(0).cases) {
    std::vector<double> logs;
    for (const auto& session : sessions) {
      const auto* same = session.devices.at(0).find(at.id(), at.tuned);
      if (same != nullptr && same->ok() && same->clock == at.clock && at.clock.starts_with("event"))
        logs.push_back(std::log(same->median_s()));
    }
    if (logs.size() < sessions.size() || at.known_incorrect) continue;
    KnownCase one{at.label(), 0, at.runs.front().commands, 0, {}, 0};
    const auto own = static_cast<double>(logs.size() - 1);
    for (std::size_t s = 0; s + 1 < logs.size(); ++s) one.log_time += logs[s] / own;
    for (const auto& session : sessions)
      one.log_variances.push_back(session.devices.at(0).find(at.id(), at.tuned)->runs.front().log_variance);
    for (std::size_t s = 0; s + 1 < logs.size(); ++s)
      one.spread += (logs[s] - one.log_time) * (logs[s] - one.log_time) / (own - 1);
    one.spread = std::sqrt(one.spread);
    one.other_card = logs.back() - one.log_time;
    out.push_back(one);
  }
  return out;
}

// What makes times differ. All standard deviations are of logarithms.
struct World {
  std::string name;
  double own = 1;             // times the spread of each case
  bool by_band = false;       // instead of it 12.5 % below 8 us, 1.2 % below 50 us, 0.5 % beyond
  bool bursts = false;        // Student's t of 3 degrees instead of normal
  double session_clock = 0;   // shared by all runs of a side
  double some_clock = 0;      // the same, of every other case alone
  double two_clocks = 0;      // a process has the one or the other, so far apart
  double drift = 0;           // from the first run of a side to its last
  double session_own = 0;     // times the spread of a case, shared by all runs of a side
  double warming = 0;         // within a process whose order is shuffled, from the first case to the last
  bool another_card = false;  // on the new side
};

// Writes the runs of one side into a set that has the cases; returns each case's shift that no run shows.
class Sides {
 public:
  explicit Sides(const std::vector<KnownCase>& cases) : cases_(&cases) {}

  // Makes an empty set of the device: `files` sessions of `runs` runs each.
  results::ResultsSet empty() const {
    results::ResultsSet set;
    set.files = {"x.csv"};
    auto& device = set.devices.emplace_back();
    device.name = "H200";
    device.type = "gpu";
    for (const auto& one : *cases_) {
      auto& at = device.case_of(set.names.front()->of_id(one.id), false);
      at.clock = "event, warm";
      at.cache = "warm";
    }
    return set;
  }

  void run(results::ResultsSet& set, Noise& noise, const World& world, std::size_t runs, bool is_new,
           std::size_t files = 1) const {
    set.files.assign(files, "x.csv");
    auto& cases = set.devices.front().cases;
    for (auto& at : cases) at.runs.assign(runs * files, {});
    for (std::size_t file = 0; file < files; ++file) session(cases, noise, world, runs, file, is_new);
  }

 private:
  double spread_of(const KnownCase& one, const World& world) const {
    if (!world.by_band) return world.own * one.spread;
    return one.command_s() < 8e-6 ? 0.125 : one.command_s() < 50e-6 ? 0.012 : 0.005;
  }

  void session(std::vector<results::CaseTimes>& cases, Noise& noise, const World& world, std::size_t runs,
               std::size_t file, bool is_new) const {
    const std::size_t n = cases_->size();
    const double clock = world.session_clock * noise.normal(), some = world.some_clock * noise.normal();
    std::vector<double> fixed(n);
    for (std::size_t i = 0; i < n; ++i) {
      const KnownCase& one = (*cases_)[i];
      fixed[i] = one.log_time + clock + (i % 2 == 0 ? some : 0) +
                 world.session_own * spread_of(one, world) * noise.normal() +
                 (world.another_card && is_new ? one.other_card : 0);
    }
    for (std::size_t run = 0; run < runs; ++run) {
      const double process =
          (noise.uniform() < 0.5 ? world.two_clocks : 0) +
          (runs > 1 ? world.drift * static_cast<double>(run) / static_cast<double>(runs - 1) : 0);
      for (std::size_t i = 0; i < n; ++i) {
        const KnownCase& one = (*cases_)[i];
        results::RunTime& timed = cases[i].runs[file * runs + run];
        timed.file = static_cast<std::uint32_t>(file);
        timed.run = static_cast<std::uint32_t>(file * runs + run);
        timed.timer = results::Timer::event;
        timed.commands = one.commands;
        timed.log_variance = one.log_variances[noise.below(one.log_variances.size() - 1)];
        const double own = world.bursts ? noise.burst() : noise.normal();
        timed.time_s =
            std::exp(fixed[i] + process + spread_of(one, world) * own + world.warming * noise.uniform());
      }
    }
  }

  const std::vector<KnownCase>* cases_;
};

inline std::vector<World> worlds() {
  return {{.name = "each case as measured"},
          {.name = "normal, 12.5 %, 1.2 %, 0.5 % by time", .by_band = true},
          {.name = "bursts: Student's t of 3 degrees", .bursts = true},
          {.name = "sessions share a clock, 1 %", .session_clock = 0.01},
          {.name = "sessions share a clock, 3 %", .session_clock = 0.03},
          {.name = "half of the cases share a clock, 3 %", .some_clock = 0.03},
          {.name = "cases differ between sessions as between runs", .session_own = 1},
          {.name = "6 % drift over the runs of a side", .drift = 0.06},
          {.name = "6 % warming over a shuffled process", .warming = 0.06},
          {.name = "two clocks, 8 % apart, by process", .two_clocks = 0.08},
          {.name = "another GPU", .another_card = true}};
}

}  // namespace clweave::worlds
