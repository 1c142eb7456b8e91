// SPDX-License-Identifier: Apache-2.0
#include "analysis/fleet/identical_devices.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>

#include "analysis/rows/prior.hpp"

namespace clweave::fleet {

namespace {

std::string first_part(const std::string& text) { return text.substr(0, text.find(',')); }

// What a unit says of a case.
struct Look {
  std::size_t unit;
  const CaseTimes* at;
  double log_time;  // unmeasured: the canary ran slow beside every run
};

// The runs of a case that are a unit's.
Look look_of(std::size_t unit, const CaseTimes& at, const std::vector<const RunTime*>& runs) {
  double sum = 0;
  std::size_t n = 0;
  for (const auto* run : runs) {
    if (run->slowed) continue;
    sum += std::log(run->time_s);
    ++n;
  }
  return {unit, &at, n > 0 ? sum / static_cast<double>(n) : unmeasured};
}

template <class Of>
std::string most_common(const std::vector<Look>& looks, Of of) {
  std::map<std::string, std::size_t> counts;
  for (const auto& look : looks) ++counts[of(*look.at)];
  return std::ranges::max_element(counts, {}, [](const auto& one) { return one.second; })->first;
}

Bound bound_of(const RunTime& run) {
  if ((run.peak == Peak::copy || run.peak == Peak::read) && !run.cached) return Bound::memory;
  if (run.peak == Peak::local || run.of_operations()) return Bound::arithmetic;
  return Bound::other;
}

class Gathering {
 public:
  Gathering(IdenticalDevices& out, Unit unit, bool by_file) : out_(out), unit_(unit), by_file_(by_file) {}

  void add(const DeviceResults& device, const std::string& name) {
    std::map<std::uint32_t, std::size_t> units;  // by session
    const auto unit_of = [&](const RunTime& run) {
      const std::uint32_t session = unit_ == Unit::card ? 0 : by_file_ ? run.file : run.run;
      const auto [it, is_new] = units.try_emplace(session, out_.units.size());
      if (is_new) out_.units.push_back({&device, name});
      return it->second;
    };
    for (const auto& at : device.cases) {
      if (!at.ok() || at.known_incorrect || at.tuned || at.clock == several_clocks ||
          at.reason == chosen_here)
        continue;
      std::map<std::size_t, std::vector<const RunTime*>> runs;
      for (const auto& run : at.runs) runs[unit_of(run)].push_back(&run);
      const auto [it, is_new] = index_.try_emplace(at.id(), looks_.size());
      if (is_new) looks_.emplace_back();
      for (const auto& [unit, its] : runs) looks_[it->second].push_back(look_of(unit, at, its));
    }
    if (unit_ == Unit::card && units.empty())
      out_.units.push_back({&device, name});  // of which nothing is ok
  }

  void finish() {
    for (const auto& looks : looks_) {
      const CaseTimes& any = *looks.front().at;
      DeviceCase one{any.id(),
                     any.family(),
                     most_common(looks, [](const auto& at) { return at.clock; }),
                     most_common(looks, [](const auto& at) { return at.work; }),
                     bound_of(any.runs.front()),
                     1,
                     {},
                     std::vector<double>(out_.units.size(), unmeasured)};
      std::vector<double> seconds;
      std::size_t measured = 0;
      for (const auto& look : looks) {
        if (look.at->clock != one.clock || look.at->work != one.work) {
          ++out_.units[look.unit].apart;
          continue;
        }
        ++measured;
        seconds.push_back(look.at->median_s());
        if (std::isnan(look.log_time)) ++out_.units[look.unit].slowed;
        one.log_times[look.unit] = look.log_time;
      }
      if (2 * measured < out_.units.size()) continue;  // what few chose for themselves
      const Timer timer = one.clock.starts_with(text_of(Timer::event)) ? Timer::event : Timer::host;
      const Spread prior =
          prior_spread(any_type_, timer, median(seconds) / static_cast<double>(any.runs.front().commands));
      if (std::isfinite(prior.degrees)) {
        one.prior = prior;
        one.weight = 1 / prior.variance;
      }
      out_.cases.push_back(std::move(one));
    }
  }

  void type(const std::string& type) { any_type_ = type; }

 private:
  IdenticalDevices& out_;
  Unit unit_;
  bool by_file_;
  std::string any_type_;
  std::unordered_map<std::string, std::size_t> index_;  // by case id
  std::vector<std::vector<Look>> looks_;                // per case
};

// "node07 0000:18:00.0"; with the UUID's first digits where that is not enough.
std::vector<std::string> names_of(const std::vector<const DeviceResults*>& cards) {
  std::vector<std::string> out;
  std::map<std::string, std::size_t> count;
  for (const auto* card : cards) {
    const std::string& where = !card->user_label.empty() ? card->user_label : card->host;
    ++count[out.emplace_back(where.empty() ? card->id : where + " " + card->id)];
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (count[out[i]] < 2) continue;
    out[i] +=
        cards[i]->uuid.empty() ? ", driver " + cards[i]->driver : ", uuid " + cards[i]->uuid.substr(0, 8);
  }
  return out;
}

}  // namespace

std::vector<IdenticalDevices::OfFamily> IdenticalDevices::families() const {
  std::vector<OfFamily> out;
  for (std::size_t c = 0; c < cases.size(); ++c) {
    auto it = std::ranges::find(out, cases[c].family, &OfFamily::name);
    if (it == out.end()) it = out.insert(out.end(), {cases[c].family, {}, cases[c].prior});
    it->cases.push_back(c);
    if (cases[c].prior.degrees == 0 || cases[c].prior.variance < it->prior.variance)
      it->prior = cases[c].prior;
  }
  return out;
}

std::vector<IdenticalDevices> identical_devices(const ResultsSet& set, Unit unit) {
  std::vector<std::pair<std::string, std::vector<const DeviceResults*>>> by_name;
  const auto all = measured(set);
  for (const auto* device : all) {
    const std::string key = device->name + ", " + first_part(device->platform);
    auto it = std::ranges::find(by_name, key, [](const auto& one) { return one.first; });
    if (it == by_name.end()) it = by_name.insert(by_name.end(), {key, {}});
    it->second.push_back(device);
  }
  std::vector<IdenticalDevices> out;
  for (const auto& [key, cards] : by_name) {
    IdenticalDevices& made = out.emplace_back();
    made.device = cards.front()->name;
    Gathering gathering(made, unit, set.files.size() > 1);
    gathering.type(cards.front()->type);
    const auto names = names_of(cards);
    for (std::size_t i = 0; i < cards.size(); ++i) gathering.add(*cards[i], names[i]);
    gathering.finish();
  }
  return out;
}

std::vector<double> centres(const IdenticalDevices& cards) {
  std::vector<double> out, there;
  for (const auto& one : cards.cases) {
    there.clear();
    std::ranges::copy_if(one.log_times, std::back_inserter(there), [](double y) { return !std::isnan(y); });
    out.push_back(there.empty() ? unmeasured : median(there));
  }
  return out;
}

double effect_of(const IdenticalDevices& cards, std::size_t unit, const std::vector<std::size_t>& cases,
                 const std::vector<double>& centres) {
  std::vector<double> values, weights;
  for (const std::size_t c : cases) {
    const double difference = cards.cases[c].log_times[unit] - centres[c];
    if (std::isnan(difference)) continue;
    values.push_back(difference);
    weights.push_back(cards.cases[c].weight);
  }
  return values.empty() || 2 * values.size() < cases.size() ? unmeasured : weighted_median(values, weights);
}

bool is_device_failure(const CaseTimes& at) { return at.failed() && at.status != Status::implausible; }

Spread noise_of(const Spread& own, const Spread& prior, double tails) {
  const Spread both = moderated(own, prior);
  return {both.variance, std::min(both.degrees, tails)};
}

}  // namespace clweave::fleet
