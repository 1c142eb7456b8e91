// SPDX-License-Identifier: Apache-2.0
#include "campaign/judge.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace clweave {

namespace {

bool is_size(const std::string& axis) { return axis == "n" || axis == "trips"; }

std::string sibling_key(const Case& at) {
  Case key = at;
  std::erase_if(key.axes, [](const auto& axis) { return is_size(axis.first); });
  return key.id();
}

// How many times more work `big` is than `small`, when they differ in one size alone; 0 when they do not.
double growth(const Case& small, const Case& big) {
  double factor = 1;
  for (std::size_t a = 0; a < small.axes.size(); ++a) {
    const auto& [name, from] = small.axes[a];
    const auto& to = big.axes[a].second;
    if (from == to) continue;
    const auto* x = std::get_if<std::int64_t>(&from);
    const auto* y = std::get_if<std::int64_t>(&to);
    if (factor != 1 || x == nullptr || y == nullptr || *x <= 0) return 0;
    factor = static_cast<double>(*y) / static_cast<double>(*x);
  }
  return factor;
}

// Why the device's time stamps cannot be true. A certified timer can still wrap, or fail later.
std::string stamp_doubt(const Row& row) {
  if (!row.record.ok() || row.record.timer != Timer::event || row.samples.empty()) return {};
  const Sample& first = row.samples.front();
  bool all_same = row.samples.size() >= 3;
  for (const auto& sample : row.samples) {
    // Launches that overlap may add up to more than the batch took, and a launch may take long beside a short
    // kernel, but not so much.
    if (sample.event_s <= 1e-4 * sample.host_s || sample.event_s > 10 * sample.host_s)
      return fmt::format("an execution took {:.3g} s by the time stamps and {:.3g} s by the host's clock",
                         sample.event_s, sample.host_s);
    all_same = all_same && sample.event_s == first.event_s && sample.host_s > 20 * sample.event_s;
  }
  if (all_same)
    return fmt::format(
        "by the time stamps every execution took {:.3g} s, by the host's clock {:.3g} s or more",
        first.event_s, 20 * first.event_s);
  return {};
}

}  // namespace

void Judge::learn(const Row& row, const Job& job) {
  const Record& record = row.record;
  if (!job.is_ceiling || !record.ok() || record.ceiling == Ceiling::none || !stamp_doubt(row).empty()) return;
  double& best = ceilings_[record.ceiling];
  best = std::max(best, rate_of(record).value_or(0));
}

bool Judge::is_cached(const Row& row) const {
  for (const auto* family : order_) {
    if (family->name != "ceiling") continue;
    for (const auto& finding : family->findings(outcomes_.at(family), {})) {
      if (finding.name == "cache_bytes") return static_cast<double>(row.buffer_bytes) <= finding.value;
    }
  }
  return false;
}

std::string Judge::doubt(const Row& row, const Job& job) const {
  const Record& record = row.record;
  if (std::string why = stamp_doubt(row); !why.empty()) return why;
  if (!record.ok() || job.is_ceiling || !record.time_s) return {};
  const auto best = [&](Ceiling ceiling) {
    const auto it = ceilings_.find(ceiling);
    return it == ceilings_.end() ? 0.0 : it->second;
  };
  // A kernel that reads more than it writes may beat a copy, but not a copy and a pure read.
  const bool memory = of_memory(record.ceiling);
  const double bound = memory ? std::max(best(Ceiling::copy), best(Ceiling::read)) : best(record.ceiling);
  const double rate = rate_of(record).value_or(0);
  if (bound > 0 && rate > 1.05 * bound && !(memory && is_cached(row)))
    return fmt::format("{:.4g} {} where family ceiling reaches {:.4g}", rate, unit_of(record.ceiling),
                       bound);
  // Below this the launch decides, not the work.
  constexpr double least_s = 20e-6;
  // Nor does noise: both medians must be known to an interval, and the intervals must be apart.
  if (!record.time_low_s || !record.time_high_s) return {};
  const double low_s = *record.time_low_s, high_s = *record.time_high_s;
  if (const auto others = siblings_.find(sibling_key(job.at)); others != siblings_.end()) {
    for (const auto& other : others->second) {
      const double up = growth(other.at, job.at), down = growth(job.at, other.at);
      if (up >= 2 && other.low_s > least_s && high_s < 0.7 * other.low_s)
        return fmt::format("{:.3g} times the work of {} took {:.3g} of its time", up, other.at.id(),
                           high_s / other.low_s);
      if (down >= 2 && low_s > least_s && other.high_s < 0.7 * low_s)
        return fmt::format("{:.3g} times the work, {}, took {:.3g} of its time", down, other.at.id(),
                           other.high_s / low_s);
    }
  }
  return {};
}

void Judge::complete(Row& row, const Job& job, const std::string& doubt) {
  Record& record = row.record;
  if (!record.ok()) return;
  const bool believed = stamp_doubt(row).empty();
  learn(row, job);
  if (believed && !job.is_ceiling) {
    if (const auto it = ceilings_.find(record.ceiling); it != ceilings_.end() && it->second > 0) {
      if (const Number rate = rate_of(record)) record.of_ceiling = *rate / it->second;
    }
    if (of_memory(record.ceiling)) record.cached = is_cached(row) ? "yes" : "no";
  }
  if (!doubt.empty()) {
    record.status = Status::implausible;
    record.reason += doubt;
    if (believed) return;
    // Not even as a number to wonder about.
    for (const auto& column : columns()) {
      const auto* number = std::get_if<Number Record::*>(&column.member);
      if (number != nullptr && column.name != "clock_mhz" && column.name != "build_ms") record.** number = {};
    }
    record.samples = {};
    record.converged = "";
    row.samples.clear();
    return;
  }
  // Conclusions compare configurations that were chosen alike.
  if (!job.tuned) {
    if (!outcomes_.contains(job.family)) order_.push_back(job.family);
    outcomes_[job.family].push_back({job.at, *record.time_s});
  }
  if (record.time_low_s && record.time_high_s)
    siblings_[sibling_key(job.at)].push_back({job.at, *record.time_low_s, *record.time_high_s});
}

std::vector<Record> Judge::findings(const DeviceInfo& device) const {
  std::vector<Record> out;
  for (const auto* family : order_) {
    if (!family->findings) continue;
    for (const auto& finding : family->findings(outcomes_.at(family), device)) {
      Record& record = out.emplace_back();
      describe_device(record, device);
      record.family = family->name;
      record.case_id = family->name + "/finding=" + finding.name;
      record.status = Status::ok;
      record.reason = finding.text;
      record.finding = finding.name;
      record.value = finding.value;
      record.unit = finding.unit;
    }
  }
  return out;
}

}  // namespace clweave
