// SPDX-License-Identifier: Apache-2.0
#include "analysis/fleet/health.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/algorithm/string/case_conv.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "analysis/rows/prior.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/number.hpp"
#include "report/table.hpp"
#include "suite/former_names.hpp"

namespace clweave::fleet {

namespace {

constexpr const char* schema = "clweave-reference-1";

// Computes the variance of effects over sessions.
Spread spread_of(const std::vector<double>& effects) {
  if (effects.size() < 2) return {};
  double mean = 0, sum = 0;
  for (const double value : effects) mean += value / static_cast<double>(effects.size());
  for (const double value : effects) sum += (value - mean) * (value - mean);
  const auto degrees = static_cast<double>(effects.size() - 1);
  return {std::max(least_variance, sum / degrees), degrees};
}

// Returns by what factor good devices exceed a reference of so many sessions with this probability.
double allowed_by(const Spread& own, std::size_t sessions, const Spread& prior, double tails, double level,
                  const std::string& type, double margin) {
  Spread noise = noise_of(own, prior, tails);
  if (noise.degrees == 0)
    noise = {prior_spread(type, Timer::host, 1).variance, family_tails};  // what is assumed of any device
  const auto n = static_cast<double>(std::max<std::size_t>(1, sessions));
  return std::exp(std::log1p(margin) +
                  t_quantile(1 - 2 * level, noise.degrees) * std::sqrt(noise.variance * (1 + 1 / n)));
}

}  // namespace

std::vector<Reference> references_of(const ResultsSet& set, const ReferenceRules& rules) {
  std::vector<Reference> out;
  for (const auto& devices : identical_devices(set, Unit::session)) {
    Reference& made = out.emplace_back();
    made.device = devices.device;
    made.sessions = devices.units.size();
    const auto middle = centres(devices);
    const auto families = devices.families();
    // Leaves a tenth to the cases: what single ones take by chance is far less than what a fault takes.
    const double of_cases = rules.false_alarms / 10, of_families = rules.false_alarms - of_cases;
    for (const auto& family : families) {
      std::vector<double> effects;
      for (std::size_t u = 0; u < devices.units.size(); ++u) {
        if (const double value = effect_of(devices, u, family.cases, middle); !std::isnan(value))
          effects.push_back(value);
      }
      ReferenceFamily& of = made.families[family.name];
      const std::string& type = devices.units.front().device->type;
      of.allowed = allowed_by(spread_of(effects), effects.size(), family.prior, family_tails,
                              of_families / static_cast<double>(families.size()), type, rules.margin);
      for (const std::size_t c : family.cases) {
        const DeviceCase& one = devices.cases[c];
        if (std::isnan(middle[c])) continue;
        std::vector<double> off;
        for (const double log_time : one.log_times) {
          if (!std::isnan(log_time)) off.push_back(log_time - middle[c]);
        }
        // The tails of one whose noise is normal, or unknown, are those of families.
        const bool heavy = one.prior.degrees > 0 && std::isfinite(one.prior.degrees);
        const double allowed =
            allowed_by(spread_of(off), off.size(), one.prior, heavy ? case_tails : family_tails,
                       of_cases / static_cast<double>(devices.cases.size()), type, rules.margin);
        of.cases[one.id] = {std::exp(middle[c]), std::max(allowed, of.allowed), one.weight, one.clock,
                            one.work};
      }
    }
    std::erase_if(made.families, [](const auto& family) { return family.second.cases.empty(); });
  }
  return out;
}

std::string reference_text(const std::vector<Reference>& references) {
  nlohmann::ordered_json out;
  out["schema"] = schema;
  for (const auto& reference : references) {
    nlohmann::ordered_json device;
    device["device"] = reference.device;
    device["sessions"] = reference.sessions;
    for (const auto& [name, family] : reference.families) {
      auto& of = device["families"][name];
      of["allowed"] = rounded(family.allowed, 4);
      for (const auto& [id, one] : family.cases)
        of["cases"][id] = {{"time_s", rounded(one.time_s, 6)},
                           {"allowed", rounded(one.allowed, 4)},
                           {"weight", rounded(one.weight, 4)},
                           {"clock", one.clock},
                           {"work", one.work}};
    }
    out["devices"].push_back(std::move(device));
  }
  return out.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::vector<Reference> references_in(const std::string& text, const std::string& name) {
  const auto refuse = [&](const std::string& why) -> Error {
    return {
        ErrorCode::io,
        fmt::format("{}: {}: clweave health GOOD.csv.. --emit-reference FILE makes a reference", name, why)};
  };
  const auto in = parsed_json(text);
  if (!in.is_object() || in.value("schema", nlohmann::json()) != schema)
    throw refuse("it is no reference of clweave");
  std::vector<Reference> out;
  try {
    for (const auto& device : in.at("devices")) {
      Reference& made = out.emplace_back();
      made.device = device.at("device");
      made.sessions = device.at("sessions");
      for (const auto& [family, of] : device.at("families").items()) {
        ReferenceFamily& into = made.families[family_now(family)];
        into.allowed = of.at("allowed");
        if (of.at("cases").empty()) throw refuse(family + " has no case");
        if (!(into.allowed > 0)) throw refuse(fmt::format("{}: allowed is {}", family, into.allowed));
        for (const auto& [id, one] : of.at("cases").items()) {
          ReferenceCase& at = into.cases[case_id_now(id)];
          at = {one.at("time_s"), one.value("allowed", at.allowed), one.at("weight"), one.at("clock"),
                one.at("work")};
          if (!(at.time_s > 0) || !(at.weight > 0) || !(at.allowed > 0))
            throw refuse(id + ": a time, weight or what is allowed is not above 0");
        }
      }
      if (made.families.empty()) throw refuse("no family of " + made.device + " is judged by it");
    }
    if (out.empty()) throw refuse("it is of no device");
  } catch (const nlohmann::json::exception& error) {
    throw refuse(error.what());
  }
  return out;
}

const char* word_of(Health health) {
  switch (health) {
    case Health::pass: return "pass";
    case Health::unmeasured: return "not measured";
    case Health::fail: return "fail";
  }
  return "";
}

Health DeviceHealth::health() const {
  Health worst = Health::pass;
  for (const auto& metric : metrics) worst = std::max(worst, metric.health);
  return metrics.empty() ? Health::unmeasured : worst;
}

namespace {

// Holds the times of a family's cases, of a device or of one of its processes, against the reference.
class FamilyTimes {
 public:
  void add(const std::string& id, const ReferenceCase& wanted, double log_time) {
    cases_.push_back(id);
    ratios_.push_back(log_time - std::log(wanted.time_s));
    weights_.push_back(wanted.weight);
    const double beyond = ratios_.back() - std::log(wanted.allowed);
    if (!(beyond > 0)) return;
    slow_cases_.push_back(id);
    if (beyond > farthest_)
      slowest_ = fmt::format("{}: {:.3g}x, allowed {:.3g}x", id, std::exp(ratios_.back()), wanted.allowed);
    farthest_ = std::max(farthest_, beyond);
  }

  std::size_t size() const { return ratios_.size(); }
  double ratio() const { return ratios_.empty() ? 1 : std::exp(weighted_median(ratios_, weights_)); }
  const std::vector<std::string>& slow_cases() const { return slow_cases_; }
  bool has(const std::string& id) const { return std::ranges::find(cases_, id) != cases_.end(); }
  // Returns why they are slower than the reference allows; empty if they are not.
  std::string slowness(double allowed) const {
    if (ratio() > allowed) return "slower than allowed";
    return slow_cases_.size() > 1 ? fmt::format("{}; and {} cases more", slowest_, slow_cases_.size() - 1)
                                  : slowest_;
  }

 private:
  std::vector<double> ratios_, weights_;
  std::vector<std::string> cases_, slow_cases_;
  std::string slowest_;
  double farthest_ = 0;
};

// Returns in how many of a device's processes it was slower than allowed, where these are no more than half:
// a process may run slow once for no fault of its device. Leaves out processes that measured less than half
// of the cases, or not all of those that are slow. Returns nothing if most were slow, or if only one is left.
std::string slow_now_and_then(const std::vector<FamilyTimes>& processes, const FamilyTimes& all,
                              double allowed) {
  std::size_t slow = 0, measured = 0;
  for (const auto& times : processes) {
    const auto is_there = [&](const std::string& id) { return times.has(id); };
    if (2 * times.size() < all.size() || !std::ranges::all_of(all.slow_cases(), is_there)) continue;
    ++measured;
    slow += times.slowness(allowed).empty() ? 0 : 1;
  }
  if (measured < 2 || 2 * slow > measured) return "";
  return fmt::format("slower than allowed in {} of {} processes: measure again", slow, measured);
}

Metric metric_of(const std::string& name, const ReferenceFamily& family, const IdenticalDevices& devices,
                 std::size_t unit) {
  Metric out{.family = name, .allowed = family.allowed, .asked = family.cases.size(), .reason = {}};
  FamilyTimes all;
  std::vector<FamilyTimes> processes;
  std::string failed, clocks;
  std::size_t failures = 0;
  std::map<std::string_view, const DeviceCase*> here;
  for (const auto& one : devices.cases) here[one.id] = &one;
  const DeviceResults& device = *devices.units[unit].device;
  for (const auto& [id, wanted] : family.cases) {
    if (const CaseTimes* at = device.find(id); at != nullptr && is_device_failure(*at)) {
      if (failures++ == 0) failed = fmt::format("{} in {}", text_of(at->status), id);
      continue;
    }
    const auto it = here.find(id);
    if (it == here.end() || it->second->work != wanted.work || std::isnan(it->second->log_times[unit]))
      continue;
    if (it->second->clock != wanted.clock) {
      clocks = fmt::format("times are by {}, the reference's by {}", it->second->clock, wanted.clock);
      continue;
    }
    all.add(id, wanted, it->second->log_times[unit]);
    if (it->second->by_process.empty()) continue;
    const auto& by_process = it->second->by_process[unit];
    processes.resize(std::max(processes.size(), by_process.size()));
    for (std::size_t p = 0; p < by_process.size(); ++p) {
      if (!std::isnan(by_process[p])) processes[p].add(id, wanted, by_process[p]);
    }
  }
  out.measured = all.size();
  out.ratio = all.ratio();
  const std::string slowness = all.slowness(family.allowed);
  if (failures > 0) {
    out.health = Health::fail;
    out.reason = failures == 1 ? failed : fmt::format("{} and {} cases more", failed, failures - 1);
  } else if (all.size() == 0 || (2 * out.measured < out.asked && all.slow_cases().empty())) {
    out.health = Health::unmeasured;
    out.reason = fmt::format("{} of {} cases: {}", out.measured, out.asked,
                             clocks.empty() ? "a larger --budget, or a quieter machine" : clocks);
  } else if (!slowness.empty()) {
    const std::string now_and_then = slow_now_and_then(processes, all, family.allowed);
    out.health = now_and_then.empty() ? Health::fail : Health::unmeasured;
    out.reason = now_and_then.empty() ? slowness : now_and_then;
  }
  return out;
}

}  // namespace

std::vector<DeviceHealth> health_of(const ResultsSet& set, const std::vector<Reference>& references) {
  std::vector<DeviceHealth> out;
  for (const auto& devices : identical_devices(set, Unit::device)) {
    const auto reference = std::ranges::find(references, devices.device, &Reference::device);
    if (reference == references.end()) {
      std::vector<std::string> known;
      for (const auto& one : references) known.push_back(one.device);
      throw Error(ErrorCode::usage, fmt::format("no reference of {}; there {} {}", devices.device,
                                                known.size() == 1 ? "is" : "are", fmt::join(known, ", ")));
    }
    for (std::size_t u = 0; u < devices.units.size(); ++u) {
      DeviceHealth& device = out.emplace_back(DeviceHealth{devices.units[u].location, devices.device, {}});
      for (const auto& [name, family] : reference->families)
        device.metrics.push_back(metric_of(name, family, devices, u));
    }
  }
  return out;
}

Report report_of(const std::vector<DeviceHealth>& devices) {
  Report out;
  const auto style_of = [](Health health) {
    return health == Health::pass ? Style::green : health == Health::fail ? Style::red : Style::yellow;
  };
  for (const auto& device : devices) {
    out.heading(fmt::format("{}, {}", device.device, device.location));
    Table table({{"family"},
                 {"cases", Align::right},
                 {"over the reference", Align::right},
                 {"allowed", Align::right},
                 {"verdict"},
                 {"reason", Align::left, Overflow::cut}});
    for (const auto& metric : device.metrics)
      table.add({metric.family, std::to_string(metric.measured),
                 metric.measured > 0 ? fmt::format("{:.3f}x", metric.ratio) : "-",
                 fmt::format("{:.3f}x", metric.allowed),
                 paint(word_of(metric.health), style_of(metric.health)), metric.reason});
    out.table(std::move(table));
    out.line(paint(boost::to_upper_copy<std::string>(word_of(device.health())), style_of(device.health())));
  }
  out.columns({"location", "device", "family", "verdict", "passed", "ratio", "allowed", "cases",
               "cases_asked", "reason"});
  for (const auto& device : devices) {
    for (const auto& metric : device.metrics)
      out.row({device.location, device.device, metric.family, word_of(metric.health),
               static_cast<std::int64_t>(metric.health == Health::pass),
               metric.measured > 0 ? Cell(rounded(metric.ratio, 6)) : Cell(), metric.allowed,
               static_cast<std::int64_t>(metric.measured), static_cast<std::int64_t>(metric.asked),
               metric.reason.empty() ? Cell() : Cell(metric.reason)});
  }
  return out;
}

}  // namespace clweave::fleet
