// SPDX-License-Identifier: Apache-2.0
#include "analysis/fleet/failures.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

namespace clweave::fleet {

namespace {

// The outcomes of one case over the devices.
struct Outcomes {
  std::string id, family;
  std::map<const DeviceResults*, const CaseTimes*> failed;
  std::set<const DeviceResults*> right;
  std::size_t unsupported = 0, implausible = 0;
};

std::vector<Outcomes> outcomes_of(const Fleet& fleet) {
  std::vector<Outcomes> out;
  std::map<std::string, std::size_t> index;
  for (const auto& device : fleet.devices) {
    for (const auto& at : device.results->cases) {
      if (!at.ranks()) continue;
      const auto [it, is_new] = index.try_emplace(at.label(), out.size());
      if (is_new) out.push_back({at.label(), at.family(), {}, {}});
      Outcomes& one = out[it->second];
      if (at.ok())
        one.right.insert(device.results);
      else if (is_device_failure(at))
        one.failed[device.results] = &at;
      else if (at.status == Status::implausible)
        ++one.implausible;
      else
        ++one.unsupported;
    }
  }
  return out;
}

// The drivers by which identical devices of a baseline have a case right, and none wrong.
std::set<std::string> right_drivers(const ResultsSet* baseline, const DeviceResults& like,
                                    const std::string& label) {
  std::set<std::string> out, wrong;
  if (baseline == nullptr) return out;
  for (const auto* device : measured(*baseline)) {
    if (!identical(*device, like)) continue;
    const bool tuned = label.ends_with("/tuned");
    const auto* at = device->find(tuned ? label.substr(0, label.rfind('/')) : label, tuned);
    if (at != nullptr) (at->ok() ? out : wrong).insert(device->driver);
  }
  for (const auto& driver : wrong) out.erase(driver);
  return out;
}

enum class Fault {
  device,   // each device that it fails on
  unknown,  // the kernel, the driver or the devices
  kernel    // or the driver, as hardly a device has it right
};

// Returns whether the devices that it fails on have drivers that no device has which it is right on.
bool of_own_driver(const Outcomes& one) {
  std::set<std::string> right;
  for (const auto* device : one.right) right.insert(device->driver);
  return !one.right.empty() && std::ranges::none_of(one.failed, [&](const auto& failed) {
    return right.contains(failed.first->driver);
  });
}

Fault fault_of(const Outcomes& one, const ResultsSet* baseline) {
  const auto good = right_drivers(baseline, *one.failed.begin()->first, one.id);
  if (std::ranges::all_of(one.failed,
                          [&](const auto& failed) { return good.contains(failed.first->driver); }))
    return Fault::device;
  const std::size_t failed = one.failed.size(), right = one.right.size();
  if (right == 0 || (right == 1 && failed > 1)) return Fault::kernel;
  if (of_own_driver(one)) return Fault::unknown;
  return failed == 1 || 3 * failed <= right ? Fault::device : Fault::unknown;
}

std::string words_of(const std::vector<DeviceFailure>& failures) {
  std::map<Status, std::set<std::string>> kinds;
  for (const auto& failure : failures) kinds[failure.status].insert(failure.family);
  std::vector<std::string> words;
  for (const auto& [status, families] : kinds) {
    const auto n = std::ranges::count(failures, status, &DeviceFailure::status);
    words.push_back(fmt::format("{} in {} of {}", text_of(status),
                                n == 1 ? "a case" : std::to_string(n) + " cases", fmt::join(families, ", ")));
  }
  return fmt::format("{}", fmt::join(words, "; "));
}

void conclude(FleetDevice& device, const std::vector<DeviceFailure>& unknown) {
  const auto add = [&](const std::string& words) {
    device.shared = fmt::format("{}{}{}", words, device.shared.empty() ? "" : "; ", device.shared);
  };
  if (!unknown.empty() && device.failures.empty() && device.verdict != DeviceVerdict::drain) {
    device.verdict = std::max(device.verdict, DeviceVerdict::unjudged);
    add(words_of(unknown) + ", as on others: the kernel, the driver, or these devices?");
  }
  if (!device.failures.empty()) {
    device.verdict = DeviceVerdict::drain;
    add(words_of(device.failures));
  }
}

void note(Fleet& fleet, const std::vector<Outcomes>& all, std::size_t of_kernels) {
  std::size_t lacked = 0, implausible = 0;
  for (const auto& one : all) {
    implausible += one.implausible;
    if (one.unsupported > 0 && one.unsupported < one.right.size()) ++lacked;
  }
  if (of_kernels > 0)
    fleet.notes.push_back(fmt::format(
        "{} cases fail on more devices than they are right on: that is their kernel or driver, not a device",
        of_kernels));
  if (implausible > 0)
    fleet.notes.push_back(
        fmt::format("{} time{} of a case on a device {} implausible and not counted: had {} other work?",
                    implausible, implausible == 1 ? "" : "s", implausible == 1 ? "is" : "are",
                    implausible == 1 ? "its host" : "their hosts"));
  if (lacked > 0)
    fleet.notes.push_back(fmt::format(
        "{} cases are unsupported on some devices that others run: have all one driver?", lacked));
}

}  // namespace

void blame_for_failures(Fleet& fleet, const ResultsSet* baseline) {
  const auto all = outcomes_of(fleet);
  std::map<const DeviceResults*, std::vector<DeviceFailure>> unknown;
  std::size_t of_kernels = 0;
  for (const auto& one : all) {
    if (one.failed.empty()) continue;
    const Fault fault = fault_of(one, baseline);
    if (fault == Fault::kernel) ++of_kernels;
    if (fault == Fault::kernel) continue;
    if (fault == Fault::unknown)
      fleet.notes.push_back(fmt::format("{} fails on {} devices and is right on {}{}", one.id,
                                        one.failed.size(), one.right.size(),
                                        of_own_driver(one) ? ", which have other drivers" : ""));
    for (auto& device : fleet.devices) {
      const auto it = one.failed.find(device.results);
      if (it == one.failed.end()) continue;
      auto& failures = fault == Fault::device ? device.failures : unknown[device.results];
      failures.push_back({one.family, one.id, it->second->status, it->second->reason});
    }
  }
  for (auto& device : fleet.devices) conclude(device, unknown[device.results]);
  note(fleet, all, of_kernels);
}

}  // namespace clweave::fleet
