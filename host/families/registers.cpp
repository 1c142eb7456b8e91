// SPDX-License-Identifier: Apache-2.0
// registers: how many registers has a work-item before spilling, and how many work-groups are resident at
// once?
//
// Every live value is used in every step. While they fit the registers, the time per operation does not
// depend on their number; then they spill to memory. Resident work-groups are counted, not computed from what
// a driver reports of registers and local memory: each work-group registers itself, reads at every step how
// many have, and leaves after a number of steps.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>

#include "families/shared/monotone.hpp"
#include "suite/family.hpp"

namespace clweave::families {

namespace {

using Word = std::uint32_t;
constexpr std::uint64_t lanes = 16;

bool counts(const Case& at) { return at.is("kernel", "census"); }

// Returns steps such that the number of updates, of a census of looks, does not depend on the number of
// values.
std::uint64_t trips_of(const Case& at) {
  constexpr std::uint64_t updates = 4096, looks = 64;
  const std::uint64_t wanted = at.count("iterations", 0, 65535);
  return wanted > 0 ? wanted : counts(at) ? looks : updates / at.count("live");
}

// Results of the work-items of one lane, computed on first use.
class Sums {
 public:
  Sums(std::uint64_t live, std::uint64_t trips, std::uint64_t seed)
      : live_(live), trips_(trips), seed_(seed) {}

  Word of(std::uint64_t lane) {
    std::call_once(once_, [this] {
      const Random<Word> value(seed_, 1);
      for (std::uint64_t l = 0; l < lanes; ++l) {
        std::vector<Word> v(live_);
        for (std::uint64_t i = 0; i < live_; ++i) v[i] = value(i * lanes + l);
        for (std::uint64_t step = 0; step < trips_; ++step) {
          for (std::uint64_t i = 0; i < live_; ++i) v[i] += v[(i + 1) % live_] ^ static_cast<Word>(step);
        }
        for (const Word x : v) sums_[l] = 3 * sums_[l] + x;
      }
    });
    return sums_[lane];
  }

 private:
  std::uint64_t live_, trips_, seed_;
  std::once_flag once_;
  std::array<Word, lanes> sums_ = {};
};

// Expects each work-group to have counted between one and all work-groups.
void expect_met(Plan& p, Buffer met, std::uint64_t groups) {
  p.checks.push_back(
      {met,
       [groups](std::uint64_t offset, std::span<const std::byte> bytes) {
         ComparisonResult tally;
         for (std::uint64_t k = 0; k < bytes.size() / sizeof(Word); ++k) {
           Word got = 0;
           std::memcpy(&got, &bytes[k * sizeof got], sizeof got);
           ++tally.elements;
           tally.written +=
               std::memcmp(&got, &poison[k * sizeof got % poison.size()], sizeof got) != 0 ? 1U : 0U;
           if (got >= 1 && got <= groups) {
             tally.measured = std::max<std::optional<double>>(tally.measured, got);
           } else if (tally.wrong++ == 0) {
             tally.first_wrong = offset / sizeof(Word) + k;
             tally.first_text = fmt::format("[{}] is {}, of {} groups", tally.first_wrong, got, groups);
           }
         }
         return tally;
       },
       "groups"});
}

Plan plan(const Case& at, const DeviceInfo& device) {
  const std::uint64_t live = at.count("live", 8, 512), group = at.count("group", 1, 65536);
  const std::uint64_t groups = device.units() * at.count("groups_per_cu", 1, 1024), trips = trips_of(at);
  const std::uint64_t items = groups * group;
  Plan::need(!device.is_llvmpipe() || live <= 64,
             "llvmpipe takes minutes to compile more than 64 live values");
  Plan p;
  p.define("LIVE", live).define("LANES", lanes).define("CENSUS", counts(at) ? 1 : 0);
  const auto in = p.input<Word>(live * lanes, Random<Word>(at.seed, 1));
  const auto out = p.output<Word>(items);
  const auto steps = static_cast<Word>(trips);
  if (counts(at)) {
    const auto count = p.output<Word>(2), met = p.output<Word>(groups);
    p.launch("set", {2}, {}, count);
    p.launch("registers", {items}, {group}, out, in, steps, count, met);
    // At the end none is resident, and each was once.
    p.expect<Word>(count, [groups](std::uint64_t i) { return static_cast<Word>(i == 0 ? 0 : groups); });
    expect_met(p, met, groups);
  } else {
    p.launch("registers", {items}, {group}, out, in, steps);
  }
  p.expect<Word>(out, [sums = std::make_shared<Sums>(live, trips, at.seed)](std::uint64_t i) {
    return sums->of(i % lanes);
  });
  p.cost = {.read = live * lanes * sizeof(Word),
            .written = items * sizeof(Word),
            .flops = 2 * items * trips * live,
            .items = items};
  return p;
}

// ---- Findings ---------------------------------------------------------------------------------------------

// Returns seconds per operation by live values.
Curve curve_of(const std::vector<Outcome>& outcomes) {
  Curve out;
  for (const auto& o : outcomes) {
    if (counts(o.at) || o.flops.value_or(0) == 0) continue;
    const double seconds = o.min_s.value_or(o.time_s) / as_double(o.flops);
    const auto [it, first] = out.emplace(o.at.number("live"), seconds);
    if (!first) it->second = std::min(it->second, seconds);
  }
  return out;
}

// Returns the standard deviation of log(time): of the rows' intervals, and at least what times differ by from
// their monotone curve, without two that differ far more than others, which were disturbed.
double error_of(const std::vector<Outcome>& outcomes, const Curve& measured, const Curve& monotone) {
  constexpr double no_less = 0.05, of_mean = 2, far = 4;
  constexpr std::size_t disturbed = 2;
  double error = no_less;
  for (const auto& o : outcomes) {
    if (!counts(o.at) && !o.min_s && o.low_s && o.high_s)
      error = std::max(error, std::log(*o.high_s / *o.low_s) / (2 * 1.96));
  }
  std::vector<double> off;
  for (const auto& [live, seconds] : measured) off.push_back(std::abs(std::log(seconds / monotone.at(live))));
  std::ranges::sort(off);
  for (std::size_t k = 0; k < disturbed && off.size() > 2 && off.back() > far * off[off.size() / 2]; ++k)
    off.pop_back();
  double sum = 0;
  for (const double one : off) sum += one;
  return std::max(error, off.empty() ? 0 : of_mean * sum / static_cast<double>(off.size()));
}

// Finds the most values that cost what few do, and the fewest that cost markedly more: only registers that
// run out make an operation slower, so that a faster one behind shows that a value was disturbed.
Rise cliff_of(const std::vector<Outcome>& outcomes) {
  constexpr double markedly = 1.3;
  const Curve measured = curve_of(outcomes), monotone = made_monotone(measured);
  return rise_of(monotone, error_of(outcomes, measured, monotone), markedly);
}

constexpr std::size_t fewest = 4;  // of a curve

std::vector<Case> refine(const std::vector<Outcome>& outcomes, const DeviceInfo& /*device*/) {
  const Curve curve = curve_of(outcomes);
  const Rise cliff = cliff_of(outcomes);
  if (curve.size() < fewest || cliff.is_none ||
      cliff.first - cliff.last <= std::max<std::int64_t>(8, cliff.last / 8))
    return {};
  const std::int64_t between = (cliff.last + cliff.first) / 16 * 8;
  const auto any = std::ranges::find_if(outcomes, [](const Outcome& o) { return !counts(o.at); });
  return {any->at.with("live", between)};
}

Finding live_values_of(const std::vector<Outcome>& outcomes, const Curve& curve) {
  constexpr double widest = 4;  // high / low of what is decided
  const Rise cliff = cliff_of(outcomes);
  const auto ns = [&](std::int64_t live) { return 1e9 * curve.at(live); };
  Finding found{"live_values_before_slowdown",
                {},
                "values",
                fmt::format("none found: an operation with {} live values takes as long as with {}",
                            curve.rbegin()->first, curve.begin()->first)};
  if (cliff.is_surely_none) return found;
  found.low = static_cast<double>(cliff.low);
  if (cliff.high > 0) found.high = static_cast<double>(cliff.high);
  if (!found.high || *found.high > widest * *found.low) {
    found.text = fmt::format(
        "the times are too noisy to tell how many live values make an operation slower; {} "
        "explains them best",
        cliff.last);
    return found;
  }
  found.value = static_cast<double>(cliff.last);
  found.text = fmt::format(
      "an operation takes {:.3g} ns with up to {} live values per work-item (register pressure), {:.3g} "
      "ns with {}",
      ns(cliff.last), cliff.last, ns(cliff.first), cliff.first);
  return found;
}

std::vector<Finding> findings(const std::vector<Outcome>& outcomes, const DeviceInfo& device) {
  std::vector<Finding> out;
  const Curve curve = made_monotone(curve_of(outcomes));
  if (curve.size() >= fewest) {
    out.push_back(live_values_of(outcomes, curve));
    out.push_back({"spill_cost", curve.rbegin()->second / curve.begin()->second, "ratio",
                   fmt::format("time of an operation with {} / {} live values per work-item",
                               curve.rbegin()->first, curve.begin()->first)});
  }
  std::map<std::int64_t, const Outcome*> most;  // by live values
  for (const auto& o : outcomes) {
    if (!counts(o.at) || !o.value) continue;
    const Outcome*& so_far = most[o.at.number("live")];
    if (so_far == nullptr || *o.value > *so_far->value) so_far = &o;
  }
  for (const auto& [live, o] : most) {
    const auto units = static_cast<double>(device.units());
    const double groups = static_cast<double>(o->at.number("groups_per_cu")) * units;
    Finding found{fmt::format("resident_work_groups_{}", live), o->value, "groups",
                  fmt::format("{:.0f} work-groups of {} work-items, {:.3g} per compute unit, were resident "
                              "at once with {} live values per work-item",
                              *o->value, o->at.number("group"), *o->value / units, live),
                  o->value};
    if (*o->value >= groups) {
      found.value.reset();
      found.text = fmt::format("all {:.0f} work-groups of {} work-items were resident at once: more might be",
                               groups, o->at.number("group"));
    }
    out.push_back(std::move(found));
  }
  return out;
}

Values steps_of(std::int64_t step, std::int64_t most) {
  Values out;
  for (std::int64_t live = step; live <= most; live += step) out.emplace_back(live);
  return out;
}

}  // namespace

Family registers() {
  const Values octaves = {8, 16, 32, 64, 128, 256, 512};
  return {.name = "registers",
          .question =
              "How many registers has a work-item before spilling, and how many work-groups are resident at "
              "once?",
          .brief = "registers before spilling, residency",
          .axes = {{.name = "kernel",
                    .meaning = "live: every work-item keeps `live` values in use; census: the same, and the "
                               "kernel counts how many work-groups are resident at once",
                    .values = {"live", "census"}},
                   {.name = "live",
                    .meaning = "live 32-bit values per work-item (register pressure)",
                    .values = octaves,
                    .domain = multiples_of(8, 8, 512)},
                   {.name = "group",
                    .meaning = "work-items per work-group",
                    .values = {64},
                    .domain = whole(1, 65536)},
                   {.name = "groups_per_cu",
                    .meaning = "work-groups per compute unit",
                    .values = {64},
                    .domain = whole(1, 1024),
                    .per_compute_unit = more_than_zero("groups_per_cu")},
                   {.name = "iterations",
                    .meaning = "loop iterations; 0: live: 4096 / `live`, so that the work stays equal; "
                               "census: 64",
                    .values = {0},
                    .domain = whole(0, 65535)}},
          .presets = {.smoke = {"kernel=live live=8,24,120 group=16 groups_per_cu=2 iterations=1,3",
                                "kernel=census live=8,40 group=16 groups_per_cu=3 iterations=5"},
                      .quick = {"kernel=live live=8,16,32,64,128,256", "kernel=census live=8,64"},
                      .profile = {"kernel=live live=8,16,32,64,128,256", "kernel=census live=8"},
                      .paper = {"kernel=live live=" + steps_of(8, 128),
                                "kernel=live live=" + steps_of(32, 512), "kernel=census live=" + octaves},
                      .full = {"kernel=live live=" + steps_of(8, 512),
                               "kernel=census group=32,64,256 live=" + octaves}},
          .view = {.rows = {"live"}, .columns = {"kernel", "group"}, .quantity = "items"},
          .plan = plan,
          .refine = refine,
          .findings = findings,
          .traits = {{"live_values_before_slowdown", "values",
                      "most live 32-bit values per work-item whose operations take no longer than with few"},
                     {"spill_cost", "x", "time of an operation with the most / fewest live values"},
                     {"resident_work_groups_8", "groups",
                      "work-groups resident at once, with 8 live values per work-item"}}};
}

}  // namespace clweave::families
