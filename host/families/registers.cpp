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

// Returns seconds per operation by live values, made monotonic, as interference only makes an operation
// slower.
std::map<std::int64_t, double> curve_of(const std::vector<Outcome>& outcomes) {
  std::map<std::int64_t, double> out;
  for (const auto& o : outcomes) {
    if (counts(o.at) || o.flops.value_or(0) == 0) continue;
    const double seconds = o.min_s.value_or(o.time_s) / as_double(o.flops);
    const auto [it, first] = out.emplace(o.at.number("live"), seconds);
    if (!first) it->second = std::min(it->second, seconds);
  }
  double least = HUGE_VAL;
  for (auto it = out.end(); it != out.begin();) {
    --it;
    it->second = least = std::min(least, it->second);
  }
  return out;
}

// Finds the most values that cost what few do, and the fewest that cost markedly more; 0: none do.
struct Cliff {
  std::int64_t last = 0, first = 0;
};
Cliff cliff_of(const std::map<std::int64_t, double>& curve) {
  constexpr double markedly = 1.3;
  Cliff out;
  for (const auto& [live, seconds] : curve) {
    if (seconds > markedly * curve.begin()->second) {
      out.first = live;
      return out;
    }
    out.last = live;
  }
  return out;
}

constexpr std::size_t fewest = 4;  // of a curve

std::vector<Case> refine(const std::vector<Outcome>& outcomes, const DeviceInfo& /*device*/) {
  const auto curve = curve_of(outcomes);
  const Cliff cliff = cliff_of(curve);
  if (curve.size() < fewest || cliff.first == 0 ||
      cliff.first - cliff.last <= std::max<std::int64_t>(8, cliff.last / 8))
    return {};
  const std::int64_t between = (cliff.last + cliff.first) / 16 * 8;
  const auto any = std::ranges::find_if(outcomes, [](const Outcome& o) { return !counts(o.at); });
  return {any->at.with("live", between)};
}

std::vector<Finding> findings(const std::vector<Outcome>& outcomes, const DeviceInfo& device) {
  std::vector<Finding> out;
  const auto curve = curve_of(outcomes);
  if (curve.size() >= fewest) {
    const Cliff cliff = cliff_of(curve);
    const auto ns = [&](std::int64_t live) { return 1e9 * curve.at(live); };
    Finding found{"live_values_before_slowdown",
                  {},
                  "values",
                  fmt::format("none found: an operation with {} live values takes as long as with {}",
                              curve.rbegin()->first, curve.begin()->first)};
    if (cliff.first > 0) {
      found.value = found.low = static_cast<double>(cliff.last);
      found.high = static_cast<double>(cliff.first);
      found.text = fmt::format(
          "an operation takes {:.3g} ns with up to {} live values per work-item (register pressure), {:.3g} "
          "ns with {}",
          ns(cliff.last), cliff.last, ns(cliff.first), cliff.first);
    }
    out.push_back(std::move(found));
    out.push_back({"spill_cost", ns(curve.rbegin()->first) / ns(curve.begin()->first), "ratio",
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
