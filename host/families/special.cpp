// SPDX-License-Identifier: Apache-2.0
// special: throughput and error of sin, exp, log, rsqrt, sqrt, division and powr in full, half and native
// precision.
//
// Every work-item sums the values at points of a grid, which takes the time, and writes one value of a sweep
// of the arguments, whose largest error is the row's value. Full and half precision must keep OpenCL's error
// bounds. Native precision is implementation-defined: it must keep those of half precision, near a zero of
// the function as an absolute error.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <mutex>
#include <numbers>

#include "families/shared/ulp.hpp"
#include "suite/family.hpp"

namespace clweave::families {

namespace {

using Exact = long double;

// Sweep of a function: half of the points spread over the float representations in `wide`, the other half
// evenly in `near`. If `wide` has both signs it lists the positive ones.
struct Domain {
  float wide_low, wide_high;
  bool both_signs;
  float near_low, near_high;

  float at(double place, bool wide, bool negative) const {
    if (!wide) return static_cast<float>(std::lerp(double{near_low}, double{near_high}, place));
    const auto low = std::bit_cast<std::uint32_t>(wide_low), high = std::bit_cast<std::uint32_t>(wide_high);
    const auto bits = low + static_cast<std::uint32_t>(place * (high - low));
    return (both_signs && negative ? -1.0F : 1.0F) * std::bit_cast<float>(bits);
  }
};

struct Function {
  const char* name;
  int arguments;
  double ulps;       // OpenCL's error bound in full precision
  bool has_zero;     // in the sweep
  float grid_first;  // sums are of values in [first, first + 1), well above 0
  Domain x, y;
  Exact (*exact)(Exact x, Exact y);
};

constexpr float most = 0x1p127F, least = 0x1p-126F;
constexpr Domain none = {1, 2, false, 1, 2}, positive = {least, most, false, 0.5F, 4};
// No argument gives a denormal or overflows.
constexpr std::array<Function, 7> functions = {
    {{"sin",
      1,
      4,
      true,
      1,
      {0x1p-100F, 0x1p16F, true, -8, 8},
      none,
      [](Exact x, Exact) { return std::sin(x); }},
     {"exp", 1, 3, false, 1, {0x1p-100F, 87, true, -4, 4}, none, [](Exact x, Exact) { return std::exp(x); }},
     {"log", 1, 3, true, 2, positive, none, [](Exact x, Exact) { return std::log(x); }},
     {"rsqrt", 1, 2, false, 1, positive, none, [](Exact x, Exact) { return 1 / std::sqrt(x); }},
     {"sqrt", 1, 3, false, 1, positive, none, [](Exact x, Exact) { return std::sqrt(x); }},
     {"divide",
      2,
      2.5,
      false,
      1,
      {0x1p-60F, 0x1p60F, true, 1, 2},
      {0x1p-60F, 0x1p60F, true, 1, 2},
      [](Exact x, Exact y) { return x / y; }},
     {"powr",
      2,
      16,
      false,
      1,
      {0x1p-4F, 0x1p4F, false, 0.5F, 2},
      {0x1p-10F, 0x1p4F, true, -2, 2},
      [](Exact x, Exact y) { return std::pow(x, y); }}}};

const Function& function_of(const Case& at) {
  const auto* const it =
      std::ranges::find_if(functions, [&](const Function& f) { return at.is("function", f.name); });
  if (it == functions.end()) throw Error(ErrorCode::usage, "special has no function " + at.text("function"));
  return *it;
}

// Vendors specify native sines up to pi.
Domain domain_of(const Case& at, const Function& f) {
  constexpr auto pi = std::numbers::pi_v<float>;
  if (f.name != std::string("sin") || !at.is("path", "native")) return f.x;
  return {f.x.wide_low, pi, true, -pi, pi};
}

struct Bound {
  double ulps, absolute;
};
Bound bound_of(const Case& at, const Function& f) {
  constexpr double of_half = 8192;
  if (at.is("path", "full")) return {f.ulps, 0};
  return {of_half, at.is("path", "native") && f.has_zero ? 0x1p-10 : 0};
}

constexpr std::uint64_t grid_points = 4096;  // starting points of sums, each at most as long
constexpr float grid_step = 1.0F / (2 * grid_points);

// Prefix sums of the values on the grid, computed on first use.
class GridSums {
 public:
  explicit GridSums(const Function& f) : f_(f) {}

  Exact of(std::uint64_t first, std::uint64_t count) {
    std::call_once(once_, [this] {
      sums_.push_back(0);
      const Exact mirror = 2 * Exact{f_.grid_first} + 1;
      for (std::uint64_t i = 0; i < 2 * grid_points; ++i) {
        const Exact x = f_.grid_first + Exact{grid_step} * static_cast<Exact>(i);
        sums_.push_back(sums_.back() + f_.exact(x, mirror - x));
      }
    });
    return sums_[first + count] - sums_[first];
  }

 private:
  const Function& f_;
  std::once_flag once_;
  std::vector<Exact> sums_;
};

Plan plan_of_evaluation(const Case& at) {
  const Function& f = function_of(at);
  const std::uint64_t n = at.count("n"), trips = at.count("iterations", 4, grid_points);
  Plan::need(trips % 4 == 0, "iterations must be a multiple of 4");
  const Domain domain = domain_of(at, f);
  const Random<double> jitter(at.seed, 1), place_of_y(at.seed, 2);
  const Random<std::uint8_t> sign_of_x(at.seed, 3), sign_of_y(at.seed, 4);
  const auto x = [=, both = domain](std::uint64_t i) {
    const double place = (static_cast<double>(i) + (jitter(i) + 1) / 2) / static_cast<double>(n);
    return both.at(place, i % 2 == 0, sign_of_x(i) % 2 == 1);
  };
  const auto y = [=, both = f.y](std::uint64_t i) {
    return both.at((place_of_y(i) + 1) / 2, i % 2 == 0, sign_of_y(i) % 2 == 1);
  };
  Plan p;
  const bool two = f.arguments == 2, full = at.is("path", "full");
  const std::string prefix = !full ? at.text("path") + "_" : at.is("function", "divide") ? "full_" : "";
  p.define("FUNCTION", prefix + f.name).define("ARGUMENTS", f.arguments);
  const auto xs = p.input<float>(n, x);
  const auto values = p.output<float>(n);
  const auto sums = p.output<float>(n);
  const auto points = static_cast<std::uint32_t>(grid_points), steps = static_cast<std::uint32_t>(trips);
  if (two)
    p.launch("evaluate", {n}, {}, values, sums, xs, p.input<float>(n, y), f.grid_first, grid_step, points,
             steps);
  else
    p.launch("evaluate", {n}, {}, values, sums, xs, f.grid_first, grid_step, points, steps);

  const Bound bound = bound_of(at, f);
  check_each(p, values, "ULP", [=, exact = f.exact](std::uint64_t i, float got, ComparisonResult& tally) {
    return expect_within(exact(x(i), two ? y(i) : 0), got, bound.ulps, bound.absolute, tally);
  });
  // Error bound of four sums, of adding them up, and of the expectation.
  const double roundings = static_cast<double>(trips) / 4 + 3;
  p.expect<float>(
      sums,
      [trips, exact = std::make_shared<GridSums>(f)](std::uint64_t i) {
        return exact->of(i % grid_points, trips);
      },
      bound.ulps * 0x1p-23 + roundings * 0x1p-24);
  p.cost = {.read = n * sizeof(float) * static_cast<std::uint64_t>(f.arguments),
            .written = 2 * n * sizeof(float),
            .flops = 0,
            .items = n * (trips + 1)};
  return p;
}

// Multiplies four kinds of operands: without denormals, with a denormal result, with a denormal operand, and
// with both. All products are exact.
Plan plan_of_denormals(const Case& at) {
  const std::uint64_t n = at.count("n");
  const Random<std::uint8_t> bits(at.seed, 1);
  const Random<float> normal(at.seed, 2);
  const auto a = [=](std::uint64_t i) {
    constexpr std::array<float, 4> scales = {1, 0x1p-70F, 0x1p-148F, 0x1p-148F};
    return static_cast<float>(bits(i) | 1) * scales[i % 4];
  };
  const auto b = [=](std::uint64_t i) {
    constexpr std::array<float, 4> factors = {0, 0x1p-76F, 0x1p100F, 2};
    return i % 4 == 0 ? std::copysign(std::abs(normal(i)) / 2 + 0.5F, normal(i))
                      : std::copysign(factors[i % 4], normal(i));
  };
  Plan p;
  p.define("FUNCTION", std::string("sin")).define("ARGUMENTS", 1);
  const auto as = p.input<float>(n, a), bs = p.input<float>(n, b);
  const auto out = p.output<float>(n);
  p.launch("denormals", {n}, {}, out, as, bs);
  check_each(p, out, "flushed", [=](std::uint64_t i, float got, ComparisonResult& tally) {
    const auto want = static_cast<float>(double{a(i)} * b(i));
    const bool flushed = i % 4 != 0 && (std::bit_cast<std::uint32_t>(got) << 1) == 0;  // of either sign
    if (got != want && !flushed) return fmt::format("{:.9g}{}", want, i % 4 != 0 ? " or 0" : "");
    if (i % 4 != 0) measure(tally, flushed ? 1 : 0);
    return std::string();
  });
  p.cost = {.read = 2 * n * sizeof(float), .written = n * sizeof(float), .flops = 0, .items = n};
  return p;
}

// Cancels all but a 64th of the product by c, so that its rounding shows.
Plan plan_of_contraction(const Case& at) {
  const std::uint64_t n = at.count("n");
  const Random<float> one(at.seed, 1), other(at.seed, 2);
  const auto a = [=](std::uint64_t i) { return 1 + std::abs(one(i)); };
  const auto b = [=](std::uint64_t i) { return 1 + std::abs(other(i)); };
  const auto product = [=](std::uint64_t i) { return static_cast<float>(double{a(i)} * b(i)); };
  const auto c = [=](std::uint64_t i) { return product(i) * (-63.0F / 64); };
  Plan p;
  p.define("FUNCTION", std::string("sin")).define("ARGUMENTS", 1);
  const auto as = p.input<float>(n, a), bs = p.input<float>(n, b), cs = p.input<float>(n, c);
  const auto out = p.output<float>(n);
  p.launch("contraction", {n}, {}, out, as, bs, cs);
  check_each(p, out, "fused", [=](std::uint64_t i, float got, ComparisonResult& tally) {
    const float fused = std::fma(a(i), b(i), c(i)), apart = static_cast<float>(double{product(i)} + c(i));
    if (got != fused && got != apart) return fmt::format("{:.9g} or {:.9g}", fused, apart);
    if (fused != apart) measure(tally, got == fused ? 1 : 0);
    return std::string();
  });
  p.cost = {.read = 3 * n * sizeof(float), .written = n * sizeof(float), .flops = 2 * n, .items = n};
  return p;
}

// Returns an argument of kernel bits, which no seed and no host's rounding changes: the floats in `wide` at
// equal distances, of both signs in turn where the function takes both.
float grid_argument(const Domain& domain, std::uint64_t place, std::uint64_t places, bool negative) {
  const auto low = std::bit_cast<std::uint32_t>(domain.wide_low),
             high = std::bit_cast<std::uint32_t>(domain.wide_high);
  const auto bits = low + static_cast<std::uint32_t>(std::uint64_t{high - low} * place / places);
  return (domain.both_signs && negative ? -1.0F : 1.0F) * std::bit_cast<float>(bits);
}

// Evaluates all functions at the same arguments in every run and hashes the values, and at random ones behind
// them.
Plan plan_of_bits(const Case& at) {
  constexpr std::uint64_t scatter = 0x9E3779B1;  // odd, so that y meets every place, far from that of x
  const std::uint64_t grid = at.count("n"), beside = 64, n = grid + beside;
  Plan p;
  p.define("FUNCTION", std::string("sin")).define("ARGUMENTS", 1);
  p.define("PATH", at.is("path", "full") ? 0 : at.is("path", "half") ? 1 : 2);
  std::vector<Arg> outputs, inputs;
  std::uint64_t stream = 1;
  for (const Function& f : functions) {
    const Random<double> place_of_x(at.seed, stream), place_of_y(at.seed, stream + 1);
    stream += 2;
    const auto x = [=, both = domain_of(at, f)](std::uint64_t i) {
      if (i < grid) return grid_argument(both, i, grid, i % 2 == 1);
      return both.at((place_of_x(i) + 1) / 2, i % 3 != 0, i % 2 == 1);
    };
    const auto y = [=, both = f.y](std::uint64_t i) {
      if (i < grid) return grid_argument(both, i * scatter % grid, grid, i / 2 % 2 == 1);
      return both.at((place_of_y(i) + 1) / 2, i % 3 != 0, i % 2 == 0);
    };
    const bool two = f.arguments == 2;
    inputs.emplace_back(p.input<float>(n, x));
    if (two) inputs.emplace_back(p.input<float>(n, y));
    const auto values = p.output<float>(n);
    outputs.emplace_back(values);
    check_each(
        p, values, "",
        [=, bound = bound_of(at, f), exact = f.exact](std::uint64_t i, float got, ComparisonResult& tally) {
          if (i < grid) tally.hash = tally.hash.value_or(0) + hash_of_bits(i, got);
          ComparisonResult unused;  // a row has one value, and this has seven functions
          return expect_within(exact(x(i), two ? y(i) : 0), got, bound.ulps, bound.absolute, unused);
        });
    p.checks.back().hash_name = f.name;
  }
  p.launch("bits", {n}, {});
  auto& arguments = std::get<Launch>(p.steps.back()).args;
  arguments = outputs;
  arguments.insert(arguments.end(), inputs.begin(), inputs.end());
  p.cost = {.read = inputs.size() * n * sizeof(float),
            .written = outputs.size() * n * sizeof(float),
            .flops = 0,
            .items = outputs.size() * n};
  return p;
}

Plan plan(const Case& at, const DeviceInfo& /*device*/) {
  if (at.is("kernel", "bits")) return plan_of_bits(at);
  if (at.is("kernel", "denormals")) return plan_of_denormals(at);
  if (at.is("kernel", "contraction")) return plan_of_contraction(at);
  return plan_of_evaluation(at);
}

// ---- Findings ---------------------------------------------------------------------------------------------

// Returns the fastest evaluation of a function on a path, and the largest error.
struct Evaluated {
  const Outcome* fastest = nullptr;
  std::optional<double> ulps;

  double rate() const { return 1e-9 * as_double(fastest->items) / fastest->time_s; }
};
Evaluated evaluated(const std::vector<Outcome>& outcomes, const std::string& function, const char* path) {
  Evaluated out;
  for (const auto& o : outcomes) {
    if (!o.at.is("kernel", "evaluate") || !o.at.is("function", function) || !o.at.is("path", path)) continue;
    out.ulps = std::max(out.ulps, o.value);
    const Evaluated other = {&o, {}};
    if (out.fastest == nullptr || other.rate() > out.rate()) out.fastest = &o;
  }
  return out;
}

std::vector<Finding> findings(const std::vector<Outcome>& outcomes, const DeviceInfo& /*device*/) {
  std::vector<Finding> out;
  for (const auto& f : functions) {
    const std::string name = f.name;
    const Evaluated full = evaluated(outcomes, name, "full");
    for (const char* path : {"full", "half", "native"}) {
      const Evaluated here = evaluated(outcomes, name, path);
      if (here.fastest == nullptr) continue;
      const std::string prefix = path == std::string("full") ? name : fmt::format("{}_{}", name, path);
      const Outcome& o = *here.fastest;
      Finding rate{prefix + "_rate", here.rate(), "G/s",
                   fmt::format("rate of {} in {} precision, all compute units together", name, path)};
      if (o.low_s && o.high_s) {
        rate.low = *rate.value * o.time_s / *o.high_s;
        rate.high = *rate.value * o.time_s / *o.low_s;
      }
      out.push_back(std::move(rate));
      if (here.ulps) {
        const Bound bound = bound_of(o.at, f);
        Finding error{
            prefix + "_ulp", here.ulps, "ULP",
            fmt::format("largest error of {} in {} precision in a sweep of its arguments", name, path),
            here.ulps};
        if (bound.absolute == 0) error.high = bound.ulps;
        out.push_back(std::move(error));
      }
      if (path != std::string("full") && full.fastest != nullptr && full.fastest->items == o.items)
        out.push_back(ratio_of(prefix + "_gain", *full.fastest, o,
                               fmt::format("time of {} in full precision / {}", name, path)));
    }
  }
  const auto whether = [&](const char* kernel, const char* finding, const char* yes, const char* no) {
    std::optional<double> is;
    for (const auto& o : outcomes) {
      if (o.at.is("kernel", kernel)) is = std::max(is, o.value);
    }
    if (is) out.push_back({finding, *is, "", *is > 0 ? yes : no});
  };
  whether("denormals", "denormals_flushed", "1: denormal floats are flushed to zero",
          "0: denormal floats are kept");
  whether("contraction", "contracted", "1: a * b + c is contracted to an FMA by default",
          "0: a * b + c is not contracted by default");
  return out;
}

}  // namespace

Family special() {
  const auto evaluates = [](const Case& at) { return at.is("kernel", "evaluate"); };
  const auto has_path = [=](const Case& at) { return evaluates(at) || at.is("kernel", "bits"); };
  const Values all = {"sin", "exp", "log", "rsqrt", "sqrt", "divide", "powr"};
  const auto sweeps = [](const std::string& of_functions, const std::string& size) -> Sweeps {
    return {of_functions + " " + size, "kernel=denormals,contraction " + size};
  };
  const std::string everything = "function=" + all + " path=full,half,native";
  return {
      .name = "special",
      .question =
          "What do elementary functions cost in full, reduced (half_*) and native precision, and how "
          "large are their "
          "errors?",
      .brief = "sin, exp and others: time and errors",
      .axes = {{.name = "kernel",
                .meaning = "evaluate: a function; denormals: products with denormal operands or results; "
                           "contraction: whether a * b + c is rounded once; bits: all functions at the same "
                           "arguments in every run, whose values column output_hash hashes",
                .values = {"evaluate", "denormals", "contraction", "bits"}},
               {.name = "function", .meaning = "function evaluated", .values = all, .when = evaluates},
               {.name = "path",
                .meaning = "error bound: full: OpenCL's; half: half_sin and the like, on float, 8192 "
                           "units in the last place "
                           "(ULP); native: native_*, "
                           "implementation-defined",
                .values = {"full", "half", "native"},
                .when = has_path},
               {.name = "n",
                .meaning = "arguments of the sweep, one per work-item",
                .values = {262144},
                .domain = whole(1, 1 << 26)},
               {.name = "iterations",
                .meaning = "function values that each work-item sums for the timing",
                .values = {64},
                .domain = multiples_of(4, 4, grid_points),
                .when = evaluates}},
      .presets = {.smoke = sweeps(everything, "n=130 iterations=4") +
                           Sweeps{"path=full,native n=67 iterations=12",
                                  "kernel=bits path=full,half,native n=131"},
                  .quick = sweeps("function=sin,exp,log,rsqrt,divide path=full,native", "n=65536") +
                           Sweeps{"kernel=bits path=full,native"},
                  .profile = sweeps("function=sin,exp,divide path=full,native", "n=65536"),
                  .paper = sweeps(everything, "n=4194304") + Sweeps{"kernel=bits path=full,half,native"},
                  .full = sweeps(everything, "n=262144,4194304,67108864") +
                          Sweeps{"kernel=bits path=full,half,native"}},
      .view = {.rows = {"kernel", "function"}, .columns = {"path", "n"}, .quantity = "items"},
      .plan = plan,
      .findings = findings,
      .trait_group = TraitGroup::formats,
      .traits = {{"sin_rate", "G/s", "full-precision sines"},
                 {"sin_native_gain", "x", "time of a full-precision / native sine"},
                 {"sin_native_ulp", "ULP", "largest error of a native sine"},
                 {"exp_native_gain", "x", "time of a full-precision / native exponential"},
                 {"divide_native_gain", "x", "time of a full-precision / native division"},
                 {"denormals_flushed", "", "denormal floats: 1: become zero; 0: are kept"},
                 {"contracted", "", "a * b + c: 1: is contracted to an FMA; 0: is not"}}};
}

}  // namespace clweave::families
