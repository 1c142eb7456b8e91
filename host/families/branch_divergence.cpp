// SPDX-License-Identifier: Apache-2.0
// branch_divergence: what does branch divergence cost, and how wide is the SIMD unit?
//
// The branch of family matrix_access is so short that AMD's and NVIDIA's compilers turn it into a select.
// Here each of `paths` paths is a long dependency chain that no compiler predicates, assigned to
// `granularity` neighbouring work-items at a time. A device of SIMD width W executes min(paths, W /
// granularity) paths one after the other; from granularity W on, one.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "suite/device_size.hpp"
#include "suite/family.hpp"

namespace clweave::families {

namespace {

constexpr std::uint32_t multiplier = 1664525;  // Numerical Recipes' linear congruential generator
constexpr std::uint32_t increment = 1013904223;

Plan plan(const Case& at, const DeviceInfo& /*device*/) {
  const auto n = static_cast<std::uint64_t>(at.number("n"));
  const auto paths = static_cast<std::uint32_t>(at.number("paths"));
  const auto granularity = static_cast<std::uint32_t>(at.number("granularity"));
  const auto trips = static_cast<std::uint32_t>(at.number("iterations"));
  const auto group = static_cast<std::size_t>(at.number("group"));

  Plan p;
  p.define("PATHS", paths)
      .define("MULTIPLIER", std::to_string(multiplier) + "u")
      .define("INCREMENT", std::to_string(increment) + "u");
  const Random<std::uint32_t> start(at.seed, 1);
  const auto in = p.input<std::uint32_t>(n, start);
  const auto out = p.output<std::uint32_t>(n);
  p.launch("branch_divergence", {round_up(n, group)}, {group}, out, in, static_cast<std::uint32_t>(n), trips,
           granularity);
  p.expect<std::uint32_t>(out, [=](std::uint64_t i) {
    const auto path = static_cast<std::uint32_t>(i / granularity % paths);
    std::uint32_t x = start(i);
    for (std::uint32_t trip = 0; trip < trips; ++trip)
      x = (x ^ (x >> (7 + path % 5))) * (multiplier + 8 * path) + (increment + 2 * path);
    return x;
  });
  p.cost = {.read = 4 * n, .written = 4 * n, .flops = 0, .items = n};
  return p;
}

// Returns how many paths SIMD units of this width execute one after the other, the mean of a work-group's
// units: those whose width divides no granularity meet more paths at some places than at others.
double serialised(std::int64_t width, const Case& at) {
  const std::int64_t group = at.number("group"), granularity = at.number("granularity");
  std::int64_t units = 0, sum = 0;
  for (std::int64_t first = 0; first < group; first += width, ++units) {
    const std::int64_t last = std::min(first + width, group) - 1;
    sum += std::min(at.number("paths"), last / granularity - first / granularity + 1);
  }
  return static_cast<double>(sum) / static_cast<double>(units);
}

// Widths that are told apart: powers of two, and what lies between them.
constexpr std::array<std::int64_t, 22> widths = {1,  2,  3,  4,  5,  6,  8,  10,  12,  16,  20,
                                                 24, 32, 40, 48, 64, 80, 96, 128, 160, 192, 256};

double middle(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

using RowsByPaths = std::map<std::int64_t, std::vector<const Outcome*>>;

// Selects the rows of the largest size, where the launch overhead matters least, except numbers of paths with
// too few granularities to determine a width.
RowsByPaths largest_rows(const std::vector<Outcome>& outcomes) {
  std::pair<std::int64_t, std::int64_t> largest{0, 0};
  const auto size_of = [](const Case& at) { return std::pair(at.number("n"), at.number("iterations")); };
  for (const auto& o : outcomes) largest = std::max(largest, size_of(o.at));
  RowsByPaths rows;
  for (const auto& o : outcomes) {
    if (size_of(o.at) == largest) rows[o.at.number("paths")].push_back(&o);
  }
  std::erase_if(rows, [](const auto& entry) { return entry.first > 1 && entry.second.size() < 4; });
  return rows;
}

// Infers the SIMD width as the one that minimises the sum over the rows of |log(time / model)|; the model has
// the paths and what a launch takes beside them. Each number of paths has its own offset, the median, because
// their code differs in size. Absolute values keep a few disturbed rows from deciding.
//
// Another width is ruled out if its misfit, on the rows where the two models differ, is larger by more than
// two standard errors: of the times by their intervals, and at least the typical residual of the best
// width.
class WidthFit {
 public:
  explicit WidthFit(const RowsByPaths& rows) : rows_(rows) {
    std::vector<Fitted> all;
    for (const std::int64_t w : widths) all.push_back(fitted(w));
    const Fitted& best = *std::ranges::min_element(all, {}, &Fitted::misfit);
    low = high = width = best.width;
    const double typical = 1.4826 * middle(best.residuals);
    for (const auto& other : all) {
      if (other.width == width || is_ruled_out(other, best, typical)) continue;
      low = std::min(low, other.width);
      high = std::max(high, other.width);
    }
  }

  std::int64_t width = 1, low = 1, high = 1;

 private:
  struct Fitted {
    std::int64_t width;
    std::vector<double> serial, residuals;  // of each row, in the order of the map
    double misfit;
  };

  std::vector<double> residuals(const std::vector<double>& serial, double beside) const {
    std::vector<double> out;
    std::size_t row = 0;
    for (const auto& [paths, here] : rows_) {
      std::vector<double> logs;
      for (const auto* o : here) logs.push_back(std::log(o->time_s / (beside + serial[row++])));
      const double offset = middle(logs);
      for (const double x : logs) out.push_back(std::abs(x - offset));
    }
    return out;
  }
  // Fits a width, with what a launch takes beside its paths, in times of one path.
  Fitted fitted(std::int64_t of_width) const {
    Fitted out{of_width, {}, {}, HUGE_VAL};
    for (const auto& [paths, here] : rows_) {
      for (const auto* o : here) out.serial.push_back(serialised(of_width, o->at));
    }
    for (const double beside : {0.0, 0.1, 0.2, 0.3, 0.5}) {
      std::vector<double> left = residuals(out.serial, beside);
      double sum = 0;
      for (const double x : left) sum += x;
      if (sum >= out.misfit) continue;
      out.misfit = sum;
      out.residuals = std::move(left);
    }
    return out;
  }
  bool is_ruled_out(const Fitted& other, const Fitted& best, double typical) const {
    constexpr double errors = 2;
    double noise = 0;
    std::size_t row = 0;
    for (const auto& [paths, here] : rows_) {
      for (const auto* o : here) {
        const std::size_t at = row++;
        if (other.serial[at] == best.serial[at]) continue;
        const double own = o->low_s && o->high_s ? std::log(*o->high_s / *o->low_s) / (2 * 1.96) : 0;
        noise += std::max(own, typical) * std::max(own, typical);
      }
    }
    return other.misfit - best.misfit > errors * std::sqrt(noise);
  }

  const RowsByPaths& rows_;
};

std::vector<Finding> width_findings(const std::vector<Outcome>& outcomes, const DeviceInfo& device) {
  const RowsByPaths rows = largest_rows(outcomes);
  if (rows.empty() || rows.rbegin()->first < 2) return {};
  const WidthFit fit(rows);
  std::vector<Finding> out;
  const auto text = [](std::int64_t w) { return std::to_string(w); };
  const std::string reported =
      "; the driver reports " + (device.lockstep > 0 ? std::to_string(device.lockstep) : "nothing");
  if (fit.low == fit.high)
    out.push_back({"simd_width", static_cast<double>(fit.width), "items",
                   "inferred SIMD width " + text(fit.width) + reported});
  else
    out.push_back({"simd_width",
                   {},
                   "items",
                   "the times are too noisy to tell widths from " + text(fit.low) + " to " + text(fit.high) +
                       " apart; " + text(fit.width) + " explains them best" + reported,
                   static_cast<double>(fit.low),
                   static_cast<double>(fit.high)});
  if (rows.contains(1)) {
    const auto& [paths, here] = *rows.rbegin();
    const auto* finest =
        *std::ranges::min_element(here, {}, [](const Outcome* o) { return o->at.number("granularity"); });
    out.push_back(ratio_of("serialised_paths", *finest, *rows.at(1).front(),
                           "time of " + std::to_string(paths) + " divergent paths, granularity " +
                               std::to_string(finest->at.number("granularity")) + " / time of one path"));
  }
  if (device.lockstep > 0)
    out.push_back(
        {"driver_simd_width", static_cast<double>(device.lockstep), "items",
         fmt::format("the driver prefers work-groups of a multiple of {} work-items", device.lockstep)});
  return out;
}

// Compares two paths that alternate between neighbours with one path for all.
void add_divergence_slowdown(std::vector<Finding>& out, const std::vector<Outcome>& outcomes) {
  const auto counts = [](const Case& at) { return at.number("paths") <= 2 && at.number("granularity") == 1; };
  const std::int64_t n = common_size(outcomes, counts);
  std::map<std::int64_t, const Outcome*> fastest;  // by paths
  for (const auto& o : outcomes) {
    if (!counts(o.at) || o.at.number("n") != n) continue;
    const Outcome*& entry = fastest[o.at.number("paths")];
    if (entry == nullptr || o.time_s < entry->time_s) entry = &o;
  }
  if (!fastest.contains(1) || !fastest.contains(2)) return;
  out.push_back(
      ratio_of("divergence_slowdown", *fastest[2], *fastest[1],
               "time of two paths that alternate between neighbouring work-items / time of one path"));
  out.back().from = {fastest[2], fastest[1]};
}

std::vector<Finding> findings(const std::vector<Outcome>& outcomes, const DeviceInfo& device) {
  std::vector<Finding> out = width_findings(outcomes, device);
  add_divergence_slowdown(out, outcomes);
  return out;
}

}  // namespace

Family branch_divergence() {
  const Values all_paths = {1, 2, 4, 8, 16, 32, 64};
  const Values all_granularities = {1, 2, 4, 8, 16, 32, 64, 128, 256};
  return {.name = "branch_divergence",
          .question = "What does branch divergence cost, and how wide is the SIMD unit?",
          .brief = "cost of divergence, inferred SIMD width",
          .axes = {{.name = "paths",
                    .meaning = "divergent paths that work-items take",
                    .values = all_paths,
                    .domain = powers_of_two(1, 64)},
                   {.name = "granularity",
                    .meaning = "neighbouring work-items that share a path",
                    .values = all_granularities,
                    .domain = whole(1, UINT32_MAX),
                    .when = [](const Case& at) { return at.number("paths") > 1; }},
                   {.name = "iterations",
                    .meaning = "dependent arithmetic steps in each path",
                    .values = {256},
                    .domain = whole(0, UINT32_MAX)},
                   {.name = "n", .meaning = "work-items", .values = {262144}, .domain = whole(1, UINT32_MAX)},
                   {.name = "group",
                    .meaning = "work-items per work-group",
                    .values = {256},
                    .domain = whole(1, 65536)}},
          .presets = {.smoke = {"paths=1,2,64 granularity=1,16 iterations=4 n=1,300 group=64"},
                      .glance = {"paths=1,32 granularity=" + all_granularities},
                      .quick = {"paths=1,2,8,32 granularity=" + all_granularities},
                      .profile = {"paths=1,2,8,32 granularity=" + all_granularities},
                      .paper = {},
                      .full = {"paths=" + all_paths + " granularity=" + all_granularities +
                               " iterations=256,1024 n=262144,1048576"}},
          .view = {.rows = {"paths"},
                   .columns = {"granularity"},
                   .quantity = "slowdown",
                   .chapter = "Divergence",
                   .graphs = {{.name = "staircase",
                               .x = {"granularity"},
                               .series = {"paths"},
                               .quantity = "slowdown",
                               .findings = {"simd_width", "serialised_paths"},
                               .marks = {"simd_width"}},
                              {.name = "heat map",
                               .kind = Graph::Kind::heat,
                               .x = {"granularity"},
                               .series = {"paths"},
                               .quantity = "slowdown",
                               .findings = {"serialised_paths"},
                               .marks = {"simd_width"}}}},
          .is_valid = [](const Case& at) { return at.number("paths") > 1 || at.number("granularity") == 1; },
          .plan = plan,
          .findings = findings,
          .traits = {{.finding = "simd_width",
                      .unit = "items",
                      .meaning = "SIMD width (warp, wavefront, sub-group), inferred from times",
                      .headline = "SIMD width, inferred"},
                     {"divergence_slowdown", "x", "time of two divergent paths / time of one path"}}};
}

}  // namespace clweave::families
