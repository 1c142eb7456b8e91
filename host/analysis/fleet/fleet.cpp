// SPDX-License-Identifier: Apache-2.0
#include "analysis/fleet/fleet.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/algorithm/string/case_conv.hpp>
#include <cmath>
#include <map>
#include <set>

#include "base/error.hpp"
#include "base/quantity.hpp"
#include "report/table.hpp"

namespace clweave::fleet {

namespace {

constexpr std::size_t least_cards = 4;
constexpr double least_variance = 1e-8;  // a clock that ticks makes cards equal

// Of some values: enough to leave one out.
struct Sums {
  double n = 0, sum = 0, squares = 0;

  void add(double value, double times = 1) {
    if (std::isnan(value)) return;
    n += times;
    sum += times * value;
    squares += times * value * value;
  }
  Sums without(double value) const {
    Sums out = *this;
    out.add(value, -1);
    return out;
  }
  double mean() const { return sum / n; }
  Spread spread() const {
    return {std::max(least_variance, (squares - n * mean() * mean()) / (n - 1)), n - 1};
  }
};

// A value against those of others.
struct Held {
  double difference = 0, se = 1, degrees = 0;

  Held(double value, const Sums& others, const Spread& prior, double tails)
      : difference(value - others.mean()) {
    const Spread noise = noise_of(others.spread(), prior, tails);
    se = std::sqrt(noise.variance * (1 + 1 / others.n));
    degrees = noise.degrees;
  }
  Held(double difference, double se, double degrees) : difference(difference), se(se), degrees(degrees) {}

  double p(double margin) const {
    // Most are far from it: no distribution is asked.
    return std::abs(difference) <= margin ? 1 : beyond_margin_p(difference / se, margin / se, degrees);
  }
};

double p_of_any(double p, std::size_t tried) { return std::min(1.0, p * static_cast<double>(tried)); }

class Judging {
 public:
  Judging(const IdenticalDevices& cards, const IdenticalDevices* baseline, const FleetRules& rules)
      : cards_(cards), rules_(rules), margin_(std::log1p(rules.margin)) {
    out_.device = cards.device;
    out_.by_baseline = baseline != nullptr;
    for (const auto& unit : cards.units) {
      FleetDevice& card = out_.cards.emplace_back();
      card.device = unit.device;
      card.name = unit.name;
      card.slowed = unit.slowed;
      card.apart = unit.apart;
    }
    named_.resize(cards.units.size());
    if (baseline != nullptr)
      hold_against(*baseline);
    else
      hold_against_each_other();
    out_.cases = cards_.cases.size();
    out_.families = families_.size();
    conclude();
  }

  Fleet result() && { return std::move(out_); }

 private:
  std::size_t size() const { return cards_.units.size(); }

  void find_effects(const std::vector<double>& centres) {
    centres_ = centres;
    for (const auto& family : families_) {
      auto& values = effects_.emplace_back();
      for (std::size_t u = 0; u < size(); ++u) values.push_back(effect_of(cards_, u, family.cases, centres));
    }
  }

  // Of the families that it has an effect of; p is multiplied by their number.
  std::size_t families_of(std::size_t u) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(effects_, [&](const auto& values) { return !std::isnan(values[u]); }));
  }

  // ---- Against each other

  void hold_against_each_other() {
    families_ = cards_.families();
    find_effects(centres(cards_));
    if (size() < least_cards) {
      out_.notes.push_back(
          fmt::format("{} equal card{} tell{} no odd one: {} do, or --baseline with what good ones took",
                      size(), size() == 1 ? "" : "s", size() == 1 ? "s" : "", least_cards));
      for (auto& card : out_.cards) card.verdict = DeviceVerdict::unjudged;
      return;
    }
    take_out();
    describe();
    try_cases();
  }

  void take_out() {
    std::vector<Sums> sums(effects_.size());
    for (std::size_t f = 0; f < effects_.size(); ++f) {
      for (const double value : effects_[f]) sums[f].add(value);
    }
    std::vector<std::size_t> left(size()), taken;
    for (std::size_t u = 0; u < size(); ++u) left[u] = u;
    std::size_t to_name = 0;
    while (taken.size() < std::max<std::size_t>(1, size() / 4)) {
      std::size_t most = left.size();
      double least_p = 1, farthest = 0;
      for (std::size_t i = 0; i < left.size(); ++i) {
        const auto [p, distance] = odds_of(left[i], sums);
        if (distance > 0 && (p < least_p || (p == least_p && distance > farthest))) {
          least_p = p;
          farthest = distance;
          most = i;
        }
      }
      if (most == left.size()) break;
      const std::size_t u = left[most];
      out_.cards[u].p = p_of_any(least_p, 2 * left.size());
      taken.push_back(u);
      if (out_.cards[u].p < rules_.false_alarms) to_name = taken.size();
      for (std::size_t f = 0; f < effects_.size(); ++f) sums[f].add(effects_[f][u], -1);
      left.erase(left.begin() + static_cast<std::ptrdiff_t>(most));
    }
    for (std::size_t i = 0; i < taken.size(); ++i) {
      if (i < to_name)
        named_[taken[i]] = true;
      else
        out_.cards[taken[i]].p = 1;
    }
    // One that others hid is as unlikely as the one that it was named by.
    double p = 1;
    for (std::size_t i = to_name; i-- > 0;) p = out_.cards[taken[i]].p = std::min(p, out_.cards[taken[i]].p);
  }

  // The least probability over its families, for all of them, and by how many standard errors that is beyond
  // the margin.
  std::pair<double, double> odds_of(std::size_t u, const std::vector<Sums>& sums) const {
    double least = 1, farthest = 0;
    for (std::size_t f = 0; f < effects_.size(); ++f) {
      const double value = effects_[f][u];
      if (std::isnan(value) || sums[f].n < least_cards) continue;
      const Held held(value, sums[f].without(value), families_[f].prior, family_tails);
      const double beyond = (std::abs(held.difference) - margin_) / held.se;
      farthest = std::max(farthest, beyond);
      // Where it cannot be unlikely enough, it need not be known how likely.
      if (beyond > 2) least = std::min(least, held.p(margin_));
    }
    return {p_of_any(least, families_of(u)), farthest};
  }

  // Each card's families against those of the cards that are not named.
  void describe() {
    std::vector<double> spreads, leasts;
    std::vector<std::vector<double>> p(size());
    for (std::size_t f = 0; f < effects_.size(); ++f) {
      Sums good;
      for (std::size_t u = 0; u < size(); ++u) {
        if (!named_[u]) good.add(effects_[f][u]);
      }
      for (std::size_t u = 0; u < size(); ++u) {
        const double value = effects_[f][u];
        if (std::isnan(value)) continue;
        const Sums others = named_[u] ? good : good.without(value);
        if (others.n < 2) continue;
        const Held held(value, others, families_[f].prior, family_tails);
        add_difference(u, f, held, p);
      }
      if (good.n < 2) continue;
      const Spread noise = noise_of(good.spread(), families_[f].prior, family_tails);
      spreads.push_back(std::sqrt(noise.variance));
      leasts.push_back(least_of(noise, good.n));
    }
    settle(p, spreads, leasts);
  }

  void add_difference(std::size_t u, std::size_t f, const Held& held, std::vector<std::vector<double>>& p) {
    const double reach = t_quantile(0.95, held.degrees) * held.se;
    out_.cards[u].differences.push_back({families_[f].name,
                                         {},
                                         families_[f].cases.size(),
                                         std::exp(held.difference),
                                         std::exp(held.difference - reach),
                                         std::exp(held.difference + reach)});
    p[u].push_back(held.p(margin_));
  }

  // The effect that names a card, of a family where the others differ by so much.
  double least_of(const Spread& noise, double others) const {
    const double level = rules_.false_alarms / static_cast<double>(2 * size() * families_.size());
    return std::exp(margin_ +
                    t_quantile(1 - 2 * level, noise.degrees) * std::sqrt(noise.variance * (1 + 1 / others))) -
           1;
  }

  // Of a card that is named those families are odd that are so at a false discovery rate of 1 %.
  void settle(const std::vector<std::vector<double>>& p, const std::vector<double>& spreads,
              const std::vector<double>& leasts) {
    for (std::size_t u = 0; u < size(); ++u) {
      const auto adjusted = benjamini_hochberg(p[u]);
      for (std::size_t i = 0; i < adjusted.size(); ++i) {
        Difference& one = out_.cards[u].differences[i];
        one.p = adjusted[i];
        one.odd = named_[u] && one.p < rules_.false_alarms;
      }
    }
    if (!spreads.empty()) out_.spread = median(spreads);
    if (!leasts.empty()) out_.least = median(leasts);
  }

  void try_cases() {
    const std::size_t tried = 2 * cards_.cases.size() * size();
    for (std::size_t c = 0; c < cards_.cases.size(); ++c) {
      const DeviceCase& one = cards_.cases[c];
      Sums good;
      for (std::size_t u = 0; u < size(); ++u) {
        if (!named_[u]) good.add(one.log_times[u] - centres_[c]);
      }
      if (good.n < least_cards) continue;
      for (std::size_t u = 0; u < size(); ++u) {
        const double value = one.log_times[u] - centres_[c];
        if (named_[u] || std::isnan(value)) continue;
        const Held held(value, good.without(value), one.prior, case_tails);
        if ((std::abs(held.difference) - margin_) / held.se < 5) continue;  // never unlikely enough
        const double p = p_of_any(held.p(margin_), tried);
        if (p >= rules_.false_alarms) continue;
        const double reach = t_quantile(0.95, held.degrees) * held.se;
        out_.cards[u].differences.push_back({one.family, one.id, 1, std::exp(held.difference),
                                             std::exp(held.difference - reach),
                                             std::exp(held.difference + reach), p, true});
        out_.cards[u].p = std::min(out_.cards[u].p, p);
      }
    }
  }

  // ---- Against a baseline

  void hold_against(const IdenticalDevices& baseline) {
    // The baseline's cases at its centres, in this fleet's order.
    std::map<std::string_view, std::size_t> there;
    for (std::size_t c = 0; c < baseline.cases.size(); ++c) there[baseline.cases[c].id] = c;
    const auto base_centres = centres(baseline);
    std::vector<double> centres;
    for (const auto& one : cards_.cases) {
      const auto it = there.find(one.id);
      const bool same = it != there.end() && baseline.cases[it->second].clock == one.clock &&
                        baseline.cases[it->second].work == one.work;
      centres.push_back(same ? base_centres[it->second] : unmeasured);
    }
    for (auto family : cards_.families()) {
      std::erase_if(family.cases, [&](std::size_t c) { return std::isnan(centres[c]); });
      if (!family.cases.empty()) families_.push_back(family);
    }
    find_effects(centres);
    const auto of_base = baseline.families();
    std::vector<double> spreads, leasts;
    std::vector<std::vector<double>> p(size());
    for (std::size_t f = 0; f < families_.size(); ++f) {
      Sums base;
      const auto its = std::ranges::find(of_base, families_[f].name, &IdenticalDevices::OfFamily::name);
      for (std::size_t u = 0; its != of_base.end() && u < baseline.units.size(); ++u)
        base.add(effect_of(baseline, u, its->cases, base_centres));
      const double n = std::max(1.0, base.n);
      const Spread noise = widest(base, effects_[f], families_[f].prior);
      const double se = std::sqrt(noise.variance * (1 + 1 / n));
      for (std::size_t u = 0; u < size(); ++u) {
        if (!std::isnan(effects_[f][u])) add_difference(u, f, Held(effects_[f][u], se, noise.degrees), p);
      }
      spreads.push_back(std::sqrt(noise.variance));
      leasts.push_back(least_of(noise, n));
    }
    for (std::size_t u = 0; u < size(); ++u) {
      for (const double one : p[u])
        out_.cards[u].p = std::min(out_.cards[u].p, p_of_any(one, size() * p[u].size()));
      named_[u] = out_.cards[u].p < rules_.false_alarms;
    }
    settle(p, spreads, leasts);
  }

  // What the baseline's units differ by, or the fleet's cards if that is more: sessions of one card do not
  // tell what cards differ by. The cards' by their quartiles, as any number of them may be odd; of normal
  // ones these know as much as 0.37 of their number would.
  static Spread widest(const Sums& base, const std::vector<double>& effects, const Spread& prior) {
    Spread out = base.n > 1 ? noise_of(base.spread(), prior, family_tails) : prior;
    std::vector<double> there;
    std::ranges::copy_if(effects, std::back_inserter(there), [](double e) { return !std::isnan(e); });
    if (there.size() >= least_cards) {
      constexpr double of_normal = 1.349, search_values = 0.37;
      const double sd = (quantile(there, 0.75) - quantile(there, 0.25)) / of_normal;
      const Spread cards =
          noise_of({std::max(least_variance, sd * sd), search_values * static_cast<double>(there.size() - 1)},
                   prior, family_tails);
      if (cards.variance > out.variance || out.degrees == 0) out = cards;
    }
    // As compare assumes where nobody has measured it.
    constexpr double guess = 0.25;
    return out.degrees > 0 ? out : Spread{guess * guess, family_tails};
  }

  // ---- What it comes to

  void conclude() {
    std::vector<std::size_t> all(cards_.cases.size()), memory, arithmetic;
    for (std::size_t c = 0; c < all.size(); ++c) {
      all[c] = c;
      if (cards_.cases[c].bound == Bound::memory) memory.push_back(c);
      if (cards_.cases[c].bound == Bound::arithmetic) arithmetic.push_back(c);
    }
    for (std::size_t u = 0; u < size(); ++u) {
      FleetDevice& card = out_.cards[u];
      for (const auto& one : cards_.cases) (std::isnan(one.log_times[u]) ? card.missing : card.cases) += 1;
      if (card.verdict == DeviceVerdict::unjudged) continue;
      const auto is = [&](bool slower) {
        return std::ranges::any_of(
            card.differences, [&](const Difference& one) { return one.odd && (one.ratio > 1) == slower; });
      };
      if (is(true)) {
        card.verdict = DeviceVerdict::drain;
        card.shared = shared_by(card, u, memory, arithmetic);
      } else if (is(false)) {
        card.verdict = DeviceVerdict::faster;
      } else if (2 * families_of(u) < families_.size() || families_.empty()) {
        card.verdict = DeviceVerdict::unjudged;
        card.shared = why_unjudged(card);
      }
    }
  }

  static std::string why_unjudged(const FleetDevice& card) {
    const std::size_t asked = card.cases + card.missing;
    if (2 * card.slowed > asked)
      return fmt::format(
          "beside {} of {} cases the canary ran slow: its clock falls under load, or its host had other work",
          card.slowed, asked);
    if (2 * card.apart > asked)
      return fmt::format("{} of {} cases were timed by another clock than on most cards, or did other work",
                         card.apart, asked);
    return fmt::format("it has {} of the {} cases that most cards have", card.cases, asked);
  }

  std::string shared_by(const FleetDevice& card, std::size_t u, const std::vector<std::size_t>& memory,
                        const std::vector<std::size_t>& arithmetic) const {
    std::vector<double> logs;
    std::vector<std::string> slow;
    bool by_case = true;
    for (const auto& one : card.differences) {
      if (one.id.empty()) logs.push_back(std::log(one.ratio));
      if (!one.odd || one.ratio < 1) continue;
      by_case = by_case && !one.id.empty();
      if (std::ranges::find(slow, one.family) == slow.end()) slow.push_back(one.family);
    }
    if (by_case) return fmt::format("single cases of {}", fmt::join(slow, ", "));
    const double middle = median(logs);
    // Families differ by what the margin hides and by the noise of two.
    const double same = std::max(margin_, 0.25 * middle) + 2 * out_.spread;
    if (logs.size() > 2 && middle > margin_ &&
        std::ranges::all_of(logs, [&](double log) { return std::abs(log - middle) <= same; }))
      return fmt::format(
          "every family by about the same factor, {:.2f}x: its clock, or a part of it is not there",
          std::exp(middle));
    const double of_memory = effect_of(cards_, u, memory, centres_),
                 of_arithmetic = effect_of(cards_, u, arithmetic, centres_);
    const auto factors = [&] {
      return fmt::format("{:.2f}x where memory bounds, {:.2f}x where arithmetic does", std::exp(of_memory),
                         std::exp(of_arithmetic));
    };
    if (of_memory > margin_ && of_arithmetic < margin_) return "memory: " + factors();
    if (of_arithmetic > margin_ && of_memory < margin_) return "clock or power of its cores: " + factors();
    if (of_arithmetic > margin_ && of_memory > margin_) return "memory and cores: " + factors();
    return fmt::format("{} alone", fmt::join(slow, ", "));
  }

  const IdenticalDevices& cards_;
  FleetRules rules_;
  double margin_;
  std::vector<IdenticalDevices::OfFamily> families_;
  std::vector<double> centres_;
  std::vector<std::vector<double>> effects_;  // per family and card
  std::vector<bool> named_;
  Fleet out_;
};

// ---- Failures

// What came of a case on the cards.
struct Fate {
  std::string family;
  std::map<const DeviceResults*, const CaseTimes*> failed;
  std::size_t right = 0, unsupported = 0, implausible = 0;
};

void add_failures(Fleet& fleet) {
  std::map<std::string, Fate> fates;
  std::vector<std::string> order;
  for (const auto& card : fleet.cards) {
    for (const auto& at : card.device->cases) {
      if (at.known_incorrect) continue;
      const auto [it, is_new] = fates.try_emplace(at.label());
      if (is_new) order.push_back(at.label());
      it->second.family = at.family();
      if (at.ok())
        ++it->second.right;
      else if (is_device_failure(at))
        it->second.failed[card.device] = &at;
      else if (at.status == Status::implausible)
        ++it->second.implausible;
      else
        ++it->second.unsupported;
    }
  }
  std::size_t of_most = 0, lacked = 0, implausible = 0;
  for (const auto& id : order) {
    const Fate& fate = fates[id];
    implausible += fate.implausible;
    if (fate.unsupported > 0 && fate.unsupported < fate.right) ++lacked;
    if (fate.failed.empty()) continue;
    if (fate.failed.size() > fate.right) {
      ++of_most;
      continue;
    }
    for (auto& card : fleet.cards) {
      const auto it = fate.failed.find(card.device);
      if (it == fate.failed.end()) continue;
      card.failures.push_back({fate.family, id, it->second->status, it->second->reason});
    }
  }
  if (of_most > 0)
    fleet.notes.push_back(fmt::format(
        "{} cases fail on more cards than they are right on: that is their kernel or driver, not a card",
        of_most));
  if (implausible > 0)
    fleet.notes.push_back(fmt::format(
        "{} time{} of a case on a card cannot be true and {} not counted: had their hosts other work?",
        implausible, implausible == 1 ? "" : "s", implausible == 1 ? "is" : "are"));
  if (lacked > 0)
    fleet.notes.push_back(
        fmt::format("{} cases are unsupported on some cards that others run: have all one driver?", lacked));
}

void blame(FleetDevice& card) {
  if (card.failures.empty()) return;
  card.verdict = DeviceVerdict::drain;
  std::map<Status, std::set<std::string>> kinds;
  for (const auto& failure : card.failures) kinds[failure.status].insert(failure.family);
  std::vector<std::string> words;
  for (const auto& [status, families] : kinds) {
    const auto n = std::ranges::count(card.failures, status, &DeviceFailure::status);
    words.push_back(fmt::format("{} in {} of {}", text_of(status),
                                n == 1 ? "a case" : std::to_string(n) + " cases", fmt::join(families, ", ")));
  }
  card.shared = fmt::format("{}{}{}", fmt::join(words, "; "), card.shared.empty() ? "" : "; ", card.shared);
}

void note_drivers(Fleet& fleet) {
  std::map<std::string, std::size_t> drivers;
  for (const auto& card : fleet.cards) ++drivers[card.device->driver];
  if (drivers.size() < 2) return;
  std::vector<std::string> words;
  for (const auto& [driver, n] : drivers) words.push_back(fmt::format("{} on {}", driver, n));
  fleet.notes.push_back(fmt::format("several drivers: {}", fmt::join(words, ", ")));
}

}  // namespace

const char* word_of(DeviceVerdict verdict) {
  switch (verdict) {
    case DeviceVerdict::fine: return "fine";
    case DeviceVerdict::faster: return "faster";
    case DeviceVerdict::unjudged: return "not judged";
    case DeviceVerdict::drain: return "drain";
  }
  return "";
}

std::size_t Fleet::count(DeviceVerdict verdict) const {
  return static_cast<std::size_t>(std::ranges::count(cards, verdict, &FleetDevice::verdict));
}

Fleet fleet_of(const IdenticalDevices& cards, const IdenticalDevices* baseline, const FleetRules& rules) {
  return Judging(cards, baseline, rules).result();
}

std::vector<Fleet> fleets_of(const ResultsSet& set, const ResultsSet* baseline, const FleetRules& rules) {
  std::vector<IdenticalDevices> good;
  if (baseline != nullptr) {
    good = identical_devices(*baseline, Unit::card);
    // One card's sessions tell more than nothing.
    auto sessions = identical_devices(*baseline, Unit::session);
    for (std::size_t i = 0; i < good.size(); ++i) {
      if (good[i].units.size() < 2) good[i] = std::move(sessions[i]);
    }
  }
  std::vector<Fleet> out;
  std::vector<std::string> without;
  for (const auto& cards : identical_devices(set, Unit::card)) {
    const auto base = std::ranges::find(good, cards.device, &IdenticalDevices::device);
    if (baseline != nullptr && base == good.end()) {
      without.push_back(cards.device);
      continue;
    }
    Fleet& fleet = out.emplace_back(fleet_of(cards, baseline != nullptr ? &*base : nullptr, rules));
    add_failures(fleet);
    for (auto& card : fleet.cards) blame(card);
    note_drivers(fleet);
  }
  if (out.empty())
    throw Error(ErrorCode::usage, fmt::format("the baseline has no card of {}", fmt::join(without, ", ")));
  for (const auto& device : without)
    out.front().notes.push_back(fmt::format("{} is left out: the baseline has none", device));
  return out;
}

namespace {

Style style_of(DeviceVerdict verdict) {
  switch (verdict) {
    case DeviceVerdict::drain: return Style::red;
    case DeviceVerdict::unjudged: return Style::yellow;
    case DeviceVerdict::faster: return Style::cyan;
    case DeviceVerdict::fine: break;
  }
  return Style::dim;
}

void add_cards(Report& out, const Fleet& fleet, bool every) {
  std::vector<const FleetDevice*> shown;
  for (const auto& card : fleet.cards) {
    if (every || card.verdict != DeviceVerdict::fine) shown.push_back(&card);
  }
  std::ranges::stable_sort(shown, [](const auto* a, const auto* b) { return a->verdict > b->verdict; });
  if (shown.empty()) return;
  Table table(
      {{"card"}, {"verdict"}, {"cases", Align::right}, {"what it shares", Align::left, Overflow::wrap}});
  for (const auto* card : shown)
    table.add({card->name,
               paint(boost::to_upper_copy<std::string>(word_of(card->verdict)), style_of(card->verdict)),
               std::to_string(card->cases), card->shared});
  out.line("");
  out.table(std::move(table));
}

void add_differences(Report& out, const Fleet& fleet, bool every) {
  Table table({{"card"},
               {"family, or case", Align::left, Overflow::cut},
               {"cases", Align::right},
               {fleet.by_baseline ? "over the baseline" : "over the others'", Align::right},
               {"95 % interval", Align::left, Overflow::cut, 1}});
  for (const auto& card : fleet.cards) {
    if (card.verdict != DeviceVerdict::drain && card.verdict != DeviceVerdict::faster) continue;
    for (const auto& one : card.differences) {
      if (!one.odd && !every) continue;
      table.add({card.name, one.id.empty() ? one.family : one.id, std::to_string(one.cases),
                 paint(fmt::format("{:.3f}x", one.ratio), one.odd ? Style::red : Style::dim),
                 fmt::format("{:.3f} .. {:.3f}", one.low, one.high)});
    }
  }
  if (table.empty()) return;
  out.line("");
  out.table(std::move(table));
}

void add_failed(Report& out, const Fleet& fleet, bool every) {
  constexpr std::size_t most = 5;  // of a card
  Table table({{"card"},
               {"status"},
               {"case", Align::left, Overflow::cut},
               {"reason", Align::left, Overflow::cut, 1}});
  for (const auto& card : fleet.cards) {
    for (std::size_t i = 0; i < card.failures.size(); ++i) {
      if (i == most && !every) {
        table.add({card.name, "..", fmt::format("{} more", card.failures.size() - most), ""});
        break;
      }
      table.add({card.name, text_of(card.failures[i].status), card.failures[i].id, card.failures[i].reason});
    }
  }
  if (table.empty()) return;
  out.line("");
  out.table(std::move(table));
}

void add_rows(const std::vector<Fleet>& fleets, Report& out) {
  out.columns({"card", "device", "device_id", "uuid", "label", "verdict", "what", "family", "case_id",
               "cases", "ratio", "ratio_low", "ratio_high", "p_adjusted", "odd", "reason"});
  out.rows([&fleets](const std::function<void(Report::Row)>& take) {
    const auto text = [](const std::string& word) { return word.empty() ? Cell() : Cell(word); };
    const auto number = [](double value) {
      return Cell(std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr));
    };
    for (const auto& fleet : fleets) {
      for (const auto& card : fleet.cards) {
        const auto row = [&](Report::Row rest) {
          Report::Row cells = {card.name,
                               card.device->name,
                               text(card.device->id),
                               text(card.device->uuid),
                               text(card.device->user_label),
                               word_of(card.verdict)};
          cells.insert(cells.end(), rest.begin(), rest.end());
          take(std::move(cells));
        };
        const auto drain = static_cast<std::int64_t>(card.verdict == DeviceVerdict::drain);
        row({"card",
             {},
             {},
             static_cast<std::int64_t>(card.cases),
             {},
             {},
             {},
             number(card.p),
             drain,
             text(card.shared)});
        for (const auto& one : card.differences)
          row({one.id.empty() ? "family" : "case",
               one.family,
               text(one.id),
               static_cast<std::int64_t>(one.cases),
               number(one.ratio),
               number(one.low),
               number(one.high),
               number(one.p),
               static_cast<std::int64_t>(one.odd),
               {}});
        for (const auto& failure : card.failures)
          row({"failure",
               failure.family,
               failure.id,
               std::int64_t{1},
               {},
               {},
               {},
               {},
               std::int64_t{1},
               fmt::format("{}: {}", text_of(failure.status), failure.reason)});
      }
    }
  });
}

}  // namespace

Report report_of(const std::vector<Fleet>& fleets, bool every) {
  Report out;
  for (const auto& fleet : fleets) {
    if (&fleet != &fleets.front()) out.line("");
    out.heading(fmt::format("{}: {} card{}, {} cases of {} famil{}", fleet.device, fleet.cards.size(),
                            fleet.cards.size() == 1 ? "" : "s", fleet.cases, fleet.families,
                            fleet.families == 1 ? "y" : "ies"));
    for (const auto& note : fleet.notes) out.line(paint("note: " + note, Style::yellow));
    if (fleet.least > 0)
      out.line(fmt::format("In a typical family cards differ by {}; one that differs by {} is named.",
                           percent_text(fleet.spread, 1), percent_text(fleet.least, 1)));
    std::vector<std::string> totals;
    for (const auto verdict :
         {DeviceVerdict::drain, DeviceVerdict::unjudged, DeviceVerdict::faster, DeviceVerdict::fine}) {
      const auto n = fleet.count(verdict);
      if (n == 0 && verdict != DeviceVerdict::drain) continue;
      const std::string words = verdict == DeviceVerdict::drain
                                    ? "TO BE DRAINED"
                                    : boost::to_upper_copy<std::string>(word_of(verdict));
      totals.push_back(n > 0 ? paint(fmt::format("{} {}", n, words), style_of(verdict))
                             : fmt::format("{} {}", n, words));
    }
    out.line(fmt::format("{}", fmt::join(totals, "  ")));
    add_cards(out, fleet, every);
    add_differences(out, fleet, every);
    add_failed(out, fleet, every);
  }
  out.line("");
  const bool by_baseline = !fleets.empty() && fleets.front().by_baseline;
  out.line(fmt::format(
      "Ratios are times over {}. Where no card differs beyond 3 %, one fleet in a hundred has one named.",
      by_baseline ? "the baseline's" : "the other cards'"));
  add_rows(fleets, out);
  return out;
}

}  // namespace clweave::fleet
