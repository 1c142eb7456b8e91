// SPDX-License-Identifier: Apache-2.0
// sustained: how fast does a device begin, and how fast is it after seconds of the same work?
//
// A short benchmark sees the boost clock of a cool device; work of minutes the clock that its power and
// temperature allow. The same kernel is repeated in bins of 50 ms after a pause: the rate of the first ones,
// of the last, and when it gets there. Power depends on how many bits change from one operand to the next,
// so that contents of the operands can change clock and rate of the same instructions.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <span>

#include "base/stats.hpp"
#include "families/shared/contents.hpp"
#include "families/shared/loop_limit.hpp"
#include "families/shared/ulp.hpp"
#include "suite/family.hpp"
#include "suite/over_time.hpp"

namespace clweave::families {

namespace {

constexpr std::uint64_t points = 8;         // per work-item
constexpr std::uint64_t most_period = 512;  // work-items with values of their own
constexpr std::int64_t most_iterations = 65535, most_ms = 600'000;

struct Point {
  float x = 0, y = 0;
};

bool is_copy(const Case& at) { return at.is("kernel", "copy"); }

// What work-items begin with.
class Start {
 public:
  Start(const Case& at, std::uint64_t period)
      : values_(at), turns_(at.seed, 2), contents_(at.text("contents")), period_(period) {}

  std::uint64_t period() const { return period_; }
  // Returns the coordinates of the points, x and y in turn.
  float coordinate(std::uint64_t i) const { return values_(i); }
  Point point(std::uint64_t i) const { return {coordinate(2 * i), coordinate(2 * i + 1)}; }
  // Returns by how much the points of item i turn: from 0.25 to below 1, but zero where all is zero.
  float turn(std::uint64_t i) const {
    if (contents_ == "zeros") return 0;
    return 0.25F + 0.75F * std::abs(turns_(contents_ == "random" ? i : 0));
  }

 private:
  Contents<float> values_;
  Random<float> turns_;
  std::string contents_;
  std::uint64_t period_;
};

// Where the points of the first `period` work-items are in the end, in double precision; computed on first
// use.
class Ends {
 public:
  Ends(Start start, std::uint64_t steps) : start_(std::move(start)), steps_(steps) {}

  struct End {
    double x, y, size;
  };
  const End& of(std::uint64_t i) {
    std::call_once(once_, [this] {
      for (std::uint64_t k = 0; k < points * start_.period(); ++k) {
        const Point from = start_.point(k);
        const double s = start_.turn(k % start_.period());
        End end = {from.x, from.y, std::hypot(from.x, from.y)};
        for (std::uint64_t step = 0; step < steps_; ++step) {
          end.x += s * end.y;
          end.y -= s * end.x;
        }
        ends_.push_back(end);
      }
    });
    return ends_[i];
  }

 private:
  Start start_;
  std::uint64_t steps_;
  std::once_flag once_;
  std::vector<End> ends_;
};

// An ellipse's axes differ by a factor of sqrt((2 + s) / (2 - s)), below 1.74, so that no error grows to more
// than 1.74 times itself. A step has four roundings of values below 1.74 sizes; those of x count in y, too.
double error_bound(std::uint64_t steps, double size) {
  constexpr double stretch = 1.74, roundings = 5;
  return static_cast<double>(steps) * roundings * 0x1p-24 * stretch * stretch * size;
}

Plan plan_multiply_add(const Case& at, const DeviceInfo& device) {
  const std::uint64_t steps = at.count("iterations", 1, most_iterations),
                      items = device.units() * at.count("items_per_unit", 1, 1 << 20),
                      period = std::min(items, most_period);
  require_iterations(device, steps, "iterations");
  const Start start(at, period);
  const float shift = 1 + std::abs(Random<float>(at.seed, 3)(0));
  Plan p;
  const auto out = p.output<float>(2 * points * items);
  p.launch("multiply_add", {items}, {}, out,
           p.input<float>(2 * points * period, [start](std::uint64_t i) { return start.coordinate(i); }),
           p.input<float>(period, [start](std::uint64_t i) { return start.turn(i); }),
           static_cast<std::uint32_t>(period), static_cast<std::uint32_t>(steps), shift);
  check_each(p, out, "",
             [=, ends = std::make_shared<Ends>(start, steps)](std::uint64_t i, float got,
                                                              ComparisonResult& /*tally*/) {
               const std::uint64_t point = i / 2 / items * period + i / 2 % items % period;
               const Ends::End& end = ends->of(point);
               const double want = shift + (i % 2 == 0 ? end.x : end.y),
                            most = error_bound(steps, end.size) + 0x1p-24 * std::abs(want);
               return std::abs(got - want) <= most ? std::string()
                                                   : fmt::format("{:.9g} +- {:.3g}", want, most);
             });
  constexpr std::uint64_t flops_of_turn = 4;
  p.cost = {.read = 0,
            .written = 2 * points * items * sizeof(float),
            .flops = flops_of_turn * points * items * steps,
            .items = points * items * steps};
  return p;
}

Plan plan_copy(const Case& at) {
  const std::uint64_t vectors = at.count("n") / 4, n = 4 * vectors;
  const Contents<std::uint32_t> value(at);
  Plan p;
  const auto in = p.input<std::uint32_t>(n, value);
  const auto out = p.output<std::uint32_t>(n);
  p.launch("copy", {vectors}, {}, out, in);
  p.expect<std::uint32_t>(out, value);
  p.cost = {.read = n * sizeof(std::uint32_t), .written = n * sizeof(std::uint32_t), .flops = 0, .items = n};
  return p;
}

Plan plan(const Case& at, const DeviceInfo& device) {
  Plan p = is_copy(at) ? plan_copy(at) : plan_multiply_add(at, device);
  p.sustained_s = 1e-3 * static_cast<double>(at.count("duration_ms", 1, most_ms));
  return p;
}

// ---- Findings ---------------------------------------------------------------------------------------------

// Median time and sensors of some bins.
struct Stretch {
  double time_s = 0;
  Number mhz, celsius, watts;

  explicit Stretch(std::span<const TimeBin> bins) {
    std::vector<double> times;
    for (const auto& bin : bins) times.push_back(bin.time_s);
    time_s = median(times);
    mhz = of(bins, &TimeBin::core_mhz);
    celsius = of(bins, &TimeBin::celsius);
    watts = of(bins, &TimeBin::watts);
  }
  std::string text(const Outcome& o) const {
    const bool arithmetic = o.flops.value_or(0) > 0;
    std::string out = fmt::format("{:.4g} {}", 1e-9 * as_double(arithmetic ? o.flops : o.bytes) / time_s,
                                  arithmetic ? "Gop/s" : "GB/s");
    std::vector<std::string> parts;
    if (mhz) parts.push_back(fmt::format("{:.0f} MHz", *mhz));
    if (celsius) parts.push_back(fmt::format("{:.0f} C", *celsius));
    if (watts) parts.push_back(fmt::format("{:.0f} W", *watts));
    for (std::size_t i = 0; i < parts.size(); ++i) out += (i == 0 ? " at " : ", ") + parts[i];
    return out;
  }

 private:
  static Number of(std::span<const TimeBin> bins, std::optional<double> TimeBin::*member) {
    std::vector<double> values;
    for (const auto& bin : bins) {
      if (bin.*member) values.push_back(*(bin.*member));
    }
    if (values.empty()) return {};
    return median(values);
  }
};

constexpr double start_s = 0.25;

// Returns the bins within the first start_s, at least one.
std::span<const TimeBin> first_of(std::span<const TimeBin> bins) {
  std::size_t count = 0;
  while (count < bins.size() && bins[count].at_s <= start_s) ++count;
  return bins.first(std::max<std::size_t>(count, 1));
}

std::span<const TimeBin> last_third_of(std::span<const TimeBin> bins) {
  return bins.last(std::max<std::size_t>(bins.size() / 3, 1));
}

// Returns when the rate comes within 2 % of the last third's, or its own variation there, and stays: by
// medians of five bins, as a single one may be disturbed. Never later than where the last third begins.
double time_to_plateau(std::span<const TimeBin> bins) {
  constexpr std::size_t width = 5;
  const auto last = last_third_of(bins);
  std::vector<double> times;
  for (const auto& bin : last) times.push_back(bin.time_s);
  const Summary of = summarize(times);
  const double allowed = std::max(0.02 * of.median, of.p75 - of.p25);
  double reached_s = 0;
  for (std::size_t i = 0; i + last.size() < bins.size(); ++i) {
    const Stretch here(bins.subspan(i, std::min(width, bins.size() - i)));
    if (std::abs(here.time_s - of.median) > allowed) reached_s = bins[i].at_s;
  }
  return reached_s;
}

// Returns the longest case of a kernel with these contents that has bins, or null.
const Outcome* longest(const std::vector<Outcome>& outcomes, const std::string& kernel,
                       const char* contents) {
  const Outcome* found = nullptr;
  for (const auto& o : outcomes) {
    if (!o.at.is("kernel", kernel) || !o.at.is("contents", contents) || o.over_time.empty()) continue;
    if (found == nullptr || o.at.number("duration_ms") > found->at.number("duration_ms")) found = &o;
  }
  return found;
}

void add_course(const std::string& kernel, const Outcome& o, std::vector<Finding>& out) {
  const auto bins = bins_of(o.over_time);
  if (bins.size() < 12) return;  // of a smoke test
  const Stretch start(first_of(bins)), end(last_third_of(bins));
  const double reached_s = time_to_plateau(bins);
  Finding& ratio = out.emplace_back(Finding{
      kernel + "_sustained", start.time_s / end.time_s, "ratio",
      fmt::format("rate in the last third of {:.3g} s / in the first quarter of a second: {} after {}",
                  bins.back().at_s, end.text(o), start.text(o))});
  ratio.from = {&o};
  Finding& when = out.emplace_back(Finding{
      kernel + "_plateau", reached_s, "s",
      fmt::format("after {:.3g} s the rate stays within 2 %, or its own variation, of that of the last "
                  "third of {:.3g} s",
                  reached_s, bins.back().at_s)});
  when.from = {&o};
}

void add_contents(const std::string& kernel, const Outcome& random, const Outcome& other,
                  const std::string& contents, std::vector<Finding>& out) {
  const auto bins_of_random = bins_of(random.over_time), bins_of_other = bins_of(other.over_time);
  if (bins_of_random.size() < 12 || bins_of_other.size() < 12) return;
  const Stretch one(last_third_of(bins_of_random)), two(last_third_of(bins_of_other));
  Finding& gain = out.emplace_back(
      Finding{fmt::format("{}_{}_gain", kernel, contents), one.time_s / two.time_s, "ratio",
              fmt::format("time of {} with random operands / with {} ones, in the last third: {} and {}",
                          kernel, contents, one.text(random), two.text(other))});
  gain.from = {&random, &other};
  if (random.energy_j && other.energy_j)
    out.push_back(
        energy_ratio_of(fmt::format("{}_{}_energy", kernel, contents), random, other,
                        fmt::format("energy of {} with random operands / with {} ones", kernel, contents)));
}

std::vector<Finding> findings(const std::vector<Outcome>& outcomes, const DeviceInfo& /*device*/) {
  std::vector<Finding> out;
  for (const std::string kernel : {"multiply_add", "copy"}) {
    const Outcome* random = longest(outcomes, kernel, "random");
    if (random == nullptr) continue;
    add_course(kernel, *random, out);
    for (const char* contents : {"zeros", "constant"}) {
      const Outcome* other = longest(outcomes, kernel, contents);
      if (other != nullptr) add_contents(kernel, *random, *other, contents, out);
    }
  }
  return out;
}

}  // namespace

Family sustained() {
  const auto copies = [](const Case& at) { return is_copy(at); };
  const auto computes = [](const Case& at) { return !is_copy(at); };
  return {
      .name = "sustained",
      .question =
          "How fast does a device begin, how fast is it after seconds of the same work, and what do the "
          "bits of the operands change?",
      .brief = "speed after seconds of the same work",
      .axes = {{.name = "kernel",
                .meaning =
                    "multiply_add: turns points of float by multiply-adds; copy: one vector per work-item",
                .values = {"multiply_add", "copy"}},
               axis_contents({}),
               {.name = "duration_ms",
                .meaning = "how long it is repeated, in milliseconds",
                .values = {60'000},
                .domain = whole(1, most_ms)},
               {.name = "iterations",
                .meaning = "turns of each of 8 points per work-item",
                .values = {4096},
                .domain = whole(1, most_iterations),
                .when = computes},
               {.name = "items_per_unit",
                .meaning = "work-items per compute unit",
                .values = {2048},
                .domain = whole(1, 1 << 20),
                .when = computes},
               {.name = "n",
                .meaning = "32-bit words copied",
                .values = {1 << 26},
                .domain = multiples_of(4, 4, std::int64_t{1} << 36),
                .when = copies}},
      .presets =
          {.smoke = {"kernel=multiply_add contents=random duration_ms=1 iterations=5 items_per_unit=67",
                     "kernel=copy contents=random,ramp duration_ms=1 n=4100"},
           .quick = {"kernel=multiply_add contents=random,zeros duration_ms=2000",
                     "kernel=copy contents=random duration_ms=2000 n=16777216"},
           .profile = {"kernel=multiply_add contents=random duration_ms=2000"},
           .paper = {"kernel=multiply_add contents=random,zeros,constant",
                     "kernel=copy contents=random,zeros,constant"},
           .full = {"kernel=multiply_add,copy contents=random,zeros,constant,ramp duration_ms=10000,60000"}},
      .view = {.rows = {"kernel", "contents"}, .columns = {"duration_ms"}, .quantity = "items"},
      .plan = plan,
      .findings = findings,
      .traits = {{"multiply_add_sustained", "x", "rate of multiply-adds after seconds / at first"},
                 {"multiply_add_plateau", "s", "until their rate stays as it is"},
                 {"copy_sustained", "x", "rate of a copy after seconds / at first"},
                 {"multiply_add_zeros_gain", "x", "time of multiply-adds of random values / of zeros"}}};
}

}  // namespace clweave::families
