// SPDX-License-Identifier: Apache-2.0
// compiler_options: what do the options of OpenCL's compilers gain in time, and what do they cost in
// accuracy?
//
// Six kernels are built without options and with one each. Every output is held against double precision
// on the host, within a bound that follows from the error bounds of OpenCL: those of its table for unsafe
// optimisations under -cl-fast-relaxed-math, else the ordinary ones. An option that only permits what the
// compiler does anyway gains nothing and costs nothing.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "families/shared/loop_limit.hpp"
#include "families/shared/ulp.hpp"
#include "suite/family.hpp"

namespace clweave::families {

namespace {

struct Option {
  const char *name, *text;
};
constexpr std::array<Option, 5> options = {{{"default", ""},
                                            {"opt_disable", "-cl-opt-disable"},
                                            {"mad_enable", "-cl-mad-enable"},
                                            {"denorms_are_zero", "-cl-denorms-are-zero"},
                                            {"fast_relaxed_math", "-cl-fast-relaxed-math"}}};

const Option& option_of(const Case& at) {
  return *std::ranges::find_if(options, [&](const Option& o) { return at.is("options", o.name); });
}

// What a work-item computes from. x is from [0.5, 1), t from [0.5, 1.5), both multiples of 2^-12.
struct Inputs {
  Random<std::uint16_t> of_items, of_all;

  explicit Inputs(std::uint64_t seed) : of_items(seed, 1), of_all(seed, 2) {}
  float x(std::uint64_t i) const { return 0.5F + static_cast<float>(of_items(i) >> 5) * 0x1p-12F; }
  float t(std::uint64_t k) const { return 0.5F + static_cast<float>(of_all(k) >> 4) * 0x1p-12F; }
};

// Sums `term(k)`.
template <class Term>
double sum_of(std::uint64_t terms, Term term) {
  double sum = 0;
  for (std::uint64_t k = 0; k < terms; ++k) sum += term(k);
  return sum;
}

double branches_of(const Inputs& in, std::uint64_t i, std::uint64_t steps) {
  const float factor = 0.5F * in.x(i);
  auto state = std::bit_cast<std::uint32_t>(factor);
  double value = 1;
  for (std::uint64_t k = 0; k < steps; ++k) {
    state = state * 1664525u + 1013904223u;
    const std::uint32_t turns = state >> 30;
    if (turns == 0) value = value * 0.25 + double{in.t(k)};
    for (std::uint32_t turn = 0; turn < turns; ++turn)
      value = value * double{factor} + double{in.t(k + turn)};
  }
  return value;
}

// A kernel; `exact` is what work-item i computes in so many steps. The bounds are those of one term of its
// sum, without and with unsafe optimisations, and `per_step` what each step adds, all in 2^-24 of the value:
// a correctly rounded operation adds 1, a function with an error of an ULP 2. A value is at most 2^24 ULP
// large, so that its error has at most as many ULP.
struct Kernel {
  const char* name = "";
  double bound = 0, relaxed_bound = 0, per_step = 0;
  double (*exact)(const Inputs&, std::uint64_t i, std::uint64_t steps) = nullptr;
  double beyond = 0;  // what is let through with unsafe optimisations beyond that, and told
};

// The relaxed bounds are those of the table in OpenCL C 3.0, section "ULP values for single precision
// built-in math functions with unsafe math optimizations", which OpenCL C 1.2 lacks. Of the relaxed sine:
// 2^-11, where it is at least 0.598.
constexpr double relaxed_sine = 0x1p13 / 0.598;
constexpr std::array<Kernel, 6> kernels = {
    {// exp 3 ULP, relaxed 3 + floor(|2 x|) for x below 1.5; sin 4; log 3; a product and a sum.
     {"special", 6 + 8 + 2, 10 + relaxed_sine + 2, 1,
      [](const Inputs& in, std::uint64_t i, std::uint64_t steps) {
        return sum_of(steps, [&, x = in.x(i)](std::uint64_t k) {
          const double y = double{x} + double{in.t(k)};
          return std::exp(y - 1) * std::sin(y) + std::log(y + 2);
        });
      }},
     {"dot_product", 1, 1, 1,
      [](const Inputs& in, std::uint64_t i, std::uint64_t steps) {
        return sum_of(steps, [&](std::uint64_t k) { return double{in.x(i + k)} * double{in.t(k)}; });
      }},
     // The sum of squares has 3, its root half of that and 2 ULP of rsqrt; the cube three times as many and
     // two products, a third with dx. Relaxed maths leaves rsqrt as it is, but Intel's compiler for
     // processors then takes the instruction's 14 bits: what half_rsqrt may have tells that from a wrong
     // result.
     {"n_body", 3 * (1.5 + 4) + 3, 3 * (1.5 + 4) + 3, 1,
      [](const Inputs& in, std::uint64_t i, std::uint64_t steps) {
        return sum_of(steps, [&, x = double{in.x(i)}](std::uint64_t k) {
          const double dx = x + double{in.t(k)}, dy = x + double{in.t(k + 1)}, dz = x + double{in.t(k + 2)};
          const double square = dx * dx + dy * dy + dz * dz;
          return dx / (square * std::sqrt(square));
        });
      },
      3 * 2 * 8192},
     {"divide", 5, 5, 1,
      [](const Inputs& in, std::uint64_t i, std::uint64_t steps) {
        return sum_of(steps, [&, x = double{in.x(i)}](std::uint64_t k) {
          return double{in.t(k)} / (x + double{in.t(k)});
        });
      }},
     {"polynomial", 0, 0, 2,
      [](const Inputs& in, std::uint64_t i, std::uint64_t steps) {
        double value = 0;
        for (std::uint64_t k = 0; k < steps; ++k) value = value * double{in.x(i)} + double{in.t(k)};
        return value;
      }},
     // Each step adds 2 and leaves at most three quarters of the error before it: 2 / (1 - 3/4).
     {"branches", 8, 8, 0, branches_of}}};

const Kernel& kernel_of(const Case& at) {
  return *std::ranges::find_if(kernels, [&](const Kernel& k) { return at.is("kernel", k.name); });
}

bool is_relaxed(const Case& at) { return at.is("options", "fast_relaxed_math"); }

// Returns what OpenCL allows.
double bound_of(const Case& at) {
  const Kernel& kernel = kernel_of(at);
  const double once = is_relaxed(at) ? kernel.relaxed_bound : kernel.bound;
  return once + kernel.per_step * static_cast<double>(at.number("iterations"));
}

constexpr std::int64_t most_steps = 65536;
constexpr std::uint64_t looked_ahead = 3;  // elements of t behind step k that a kernel reads

Plan plan(const Case& at, const DeviceInfo& device) {
  const std::uint64_t n = at.count("n"), steps = at.count("iterations", 1, most_steps);
  require_iterations(device, steps, "iterations");
  const Inputs in(at.seed);
  Plan p;
  p.options = option_of(at).text;
  p.may_fail_to_build = !p.options.empty();
  const auto out = p.output<float>(n);
  p.launch(at.text("kernel"), {n}, {}, out,
           p.input<float>(n + steps, [in](std::uint64_t i) { return in.x(i); }),
           p.input<float>(steps + looked_ahead, [in](std::uint64_t k) { return in.t(k); }),
           static_cast<std::uint32_t>(steps));
  check_each(p, out, "ULP",
             [in, steps, ulps = bound_of(at) + (is_relaxed(at) ? kernel_of(at).beyond : 0),
              exact = kernel_of(at).exact](std::uint64_t i, float got, ComparisonResult& tally) {
               return expect_within(exact(in, i, steps), got, ulps, 0, tally);
             });
  p.cost = {.read = (n + 2 * steps + looked_ahead) * sizeof(float),
            .written = n * sizeof(float),
            .flops = 0,
            .items = n * steps};
  return p;
}

// ---- Findings ---------------------------------------------------------------------------------------------

// Returns the largest case of a kernel with an option, or null.
const Outcome* largest(const std::vector<Outcome>& outcomes, const char* kernel, const char* option) {
  const Outcome* found = nullptr;
  for (const auto& o : outcomes) {
    if (!o.at.is("kernel", kernel) || !o.at.is("options", option)) continue;
    if (found == nullptr || as_double(o.items) > as_double(found->items)) found = &o;
  }
  return found;
}

std::vector<Finding> findings(const std::vector<Outcome>& outcomes, const DeviceInfo& /*device*/) {
  std::vector<Finding> out;
  for (const Option& option : options) {
    for (const Kernel& kernel : kernels) {
      const Outcome *with = largest(outcomes, kernel.name, option.name),
                    *without = largest(outcomes, kernel.name, "default");
      if (with == nullptr) continue;
      const std::string prefix = fmt::format("{}_{}", option.name, kernel.name),
                        how = *option.text == '\0' ? "without options" : fmt::format("with {}", option.text);
      if (without != nullptr && with != without && with->items == without->items)
        out.push_back(ratio_of(prefix + "_gain", *without, *with,
                               fmt::format("time of kernel {} without options / {}", kernel.name, how)));
      if (!with->value) continue;
      Finding& error =
          out.emplace_back(Finding{prefix + "_ulp", with->value, "ULP",
                                   fmt::format("largest error of kernel {} {}; OpenCL allows {:.4g}",
                                               kernel.name, how, bound_of(with->at)),
                                   with->value, std::max(*with->value, bound_of(with->at))});
      error.from = {with};
    }
  }
  return out;
}

}  // namespace

Family compiler_options() {
  const Values all = {"special", "dot_product", "n_body", "divide", "polynomial", "branches"};
  const Values every = {"default", "opt_disable", "mad_enable", "denorms_are_zero", "fast_relaxed_math"};
  const auto sweep = [](const Values& of_kernels, const Values& of_options, const std::string& size) {
    return Sweep("kernel=" + of_kernels + " options=" + of_options + " " + size);
  };
  return {
      .name = "compiler_options",
      .question =
          "What do compiler options such as -cl-fast-relaxed-math gain in time, and how large are the "
          "errors then?",
      .brief = "-cl-fast-relaxed-math: time and errors",
      .axes = {{.name = "kernel",
                .meaning =
                    "special: sums of exp, sin and log; dot_product; n_body: forces by rsqrt; divide: a "
                    "sum of quotients; polynomial: by Horner's rule; branches: a loop with "
                    "data-dependent branches and inner loops",
                .values = all},
               {.name = "options",
                .meaning = "the option the program is built with: default: none; others are -cl- and the "
                           "name with dashes",
                .values = every},
               {.name = "n",
                .meaning = "outputs, one per work-item",
                .values = {1 << 20},
                .domain = whole(1, 1 << 26)},
               {.name = "iterations",
                .meaning = "terms of each sum, or steps of each loop",
                .values = {64},
                .domain = whole(1, most_steps)}},
      .presets = {.smoke = {sweep(all, every, "n=131 iterations=7")},
                  .quick = {sweep({"special", "n_body", "divide"}, {"default", "fast_relaxed_math"},
                                  "n=65536")},
                  .profile = {sweep({"special", "n_body"}, {"default", "fast_relaxed_math"}, "n=65536")},
                  .paper = {sweep(all, every, "n=1048576")},
                  .full = {sweep(all, every, "n=65536,1048576,16777216")}},
      .view = {.rows = {"kernel"}, .columns = {"options", "n"}, .quantity = "items"},
      .plan = plan,
      .findings = findings,
      .trait_group = TraitGroup::formats,
      .traits = {{"fast_relaxed_math_special_gain", "x",
                  "time of exp, sin and log without options / with -cl-fast-relaxed-math"},
                 {"fast_relaxed_math_special_ulp", "ULP", "largest error of them with -cl-fast-relaxed-math"},
                 {"fast_relaxed_math_n_body_gain", "x",
                  "time of forces by rsqrt without options / with -cl-fast-relaxed-math"}}};
}

}  // namespace clweave::families
