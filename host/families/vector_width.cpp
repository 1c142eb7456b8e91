// SPDX-License-Identifier: Apache-2.0
// vector_width: how fast is arithmetic on each type in vectors of OpenCL C, and how much slower are integer
// division and remainder?
//
// Processors execute a vector by one instruction, GPUs element by element; few have an instruction for
// integer division, and a compiler replaces one by a known number by a multiplication.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <mutex>
#include <type_traits>
#include <vector>

#include "families/shared/loop_limit.hpp"
#include "suite/family.hpp"

namespace clweave::families {

namespace {

constexpr std::uint64_t distinct = 64;  // elements of a chain, as the host takes long for divisions
constexpr std::uint64_t constant_divisor = 7;

bool divides(const Case& at) { return !at.is("operation", "multiply_add"); }

// Numbers of a case: what chains begin with, their factors or divisors, and what is added.
template <class T>
struct Numbers {
  std::uint64_t seed;
  bool division;
  std::string divisor;

  explicit Numbers(const Case& at) : seed(at.seed), division(divides(at)), divisor(at.text("divisor")) {}

  T start(std::uint64_t i) const {
    const Random<std::uint64_t> random(seed, 1);
    const std::uint64_t bits = random(i % distinct);
    if constexpr (std::is_floating_point_v<T>)
      return static_cast<T>(1 + static_cast<double>(bits % 256) / 256);
    return static_cast<T>(bits);
  }
  // That of floating-point numbers is so little above -1 that results have the other sign after each step,
  // and stay away from 0 for all steps.
  T factor(std::uint64_t i) const {
    const Random<std::uint64_t> random(seed, 2);
    if constexpr (std::is_floating_point_v<T>)
      return static_cast<T>(0x1p-14 * (1 + static_cast<double>(random(i % distinct) % 1024) / 1024) - 1);
    if (divisor == "constant") return static_cast<T>(constant_divisor);
    const std::uint64_t bits = random(divisor == "argument" ? distinct : i % distinct);
    return static_cast<T>(division ? 3 + bits % 1000 : bits | 1);
  }
  T addend() const {
    if constexpr (std::is_floating_point_v<T>) return static_cast<T>(1.0 / 3);
    const Random<std::uint64_t> random(seed, 3);
    constexpr unsigned bits = 8 * sizeof(T);
    if (!division) return static_cast<T>(random(0));
    // Between a quarter and half of the largest number: what is divided next is large, and fits.
    constexpr std::uint64_t quarter = std::uint64_t{1} << (bits - 3);
    return static_cast<T>(quarter + random(0) % quarter);
  }
};

// Returns what a chain ends with. Products wrap, which signed numbers of C++ do not.
template <class T>
T end_of(const std::string& operation, T x, T m, T c, std::uint64_t steps) {
  if constexpr (std::is_floating_point_v<T>) {
    double sum = x;
    for (std::uint64_t i = 0; i < steps; ++i) sum = sum * static_cast<double>(m) + static_cast<double>(c);
    return static_cast<T>(sum);
  } else {
    for (std::uint64_t i = 0; i < steps; ++i) {
      if (operation == "multiply_add")
        x = static_cast<T>(static_cast<std::uint64_t>(x) * static_cast<std::uint64_t>(m) +
                           static_cast<std::uint64_t>(c));
      else
        x = static_cast<T>((operation == "divide" ? x / m : x % m) + c);
    }
    return x;
  }
}

template <class T>
Plan plan_of_type(const Case& at, const DeviceInfo& device) {
  Plan::need_type<T>(device);
  const std::uint64_t width = at.count("width"), ilp = at.count("ilp"), group = at.count("group");
  const std::uint64_t items = device.units() * at.count("groups_per_cu") * group,
                      steps = at.count("iterations");
  const std::string &type = at.text("type"), &operation = at.text("operation"), &divisor = at.text("divisor");
  require_iterations(device, items / group * steps, "iterations");
  Plan p;
  p.define("T", type).define("V", width > 1 ? fmt::format("{}{}", type, width) : type).define("ILP", ilp);
  p.define("OPERATION", operation == "multiply_add" ? 0 : operation == "divide" ? 1 : 2);
  p.define("DIVISOR", !divides(at) || divisor == "each" ? 0 : divisor == "argument" ? 1 : constant_divisor);
  const Numbers<T> numbers(at);
  // Places within `distinct` elements repeat; a vector's elements have factors of their own.
  const std::uint64_t elements = items * ilp * width;
  const auto factor_of = [=](std::uint64_t i) {
    return numbers.factor(i / (ilp * width) * width + i % width);
  };
  const auto in = p.input<T>(elements, [=](std::uint64_t i) { return numbers.start(i); });
  const auto out = p.output<T>(elements);
  p.launch("chains", {items}, {group}, out, in, numbers.addend(), static_cast<std::uint32_t>(steps));
  std::uint64_t read = elements;
  if (!divides(at) || divisor == "each") {
    p.pass(p.input<T>(items * width, [=](std::uint64_t i) { return numbers.factor(i); }));
    read += items * width;
  } else if (divisor == "argument") {
    p.pass(numbers.factor(0));
  }
  // Starts and factors repeat together after so many elements.
  const std::uint64_t period = distinct * ilp;
  struct Ends {
    std::once_flag once;
    std::vector<T> of;
  };
  const auto ends = std::make_shared<Ends>();
  // Of floating-point numbers a step rounds by one unit of numbers below 2, and results are above 1/8.
  const double tolerance = std::is_floating_point_v<T>
                               ? static_cast<double>(steps) * std::ldexp(16, type == "float" ? -23 : -52)
                               : 0;
  p.expect_from<T>(
      out,
      [=](std::uint64_t begin) {
        std::call_once(ends->once, [&] {
          ends->of.resize(std::min(period, elements));
          for (std::uint64_t i = 0; i < ends->of.size(); ++i)
            ends->of[i] = end_of(operation, numbers.start(i), factor_of(i), numbers.addend(), steps);
        });
        return [ends, i = begin]() mutable { return ends->of[i++ % ends->of.size()]; };
      },
      tolerance);
  p.cost = {.read = read * sizeof(T),
            .written = elements * sizeof(T),
            .flops = elements * steps * 2,
            .items = elements * steps};
  return p;
}

// ---- Findings --------------------------------------------------------------------------------------------

double rate_of(const Outcome& o) { return as_double(o.flops) / o.time_s; }

const Outcome* best(const std::vector<Outcome>& outcomes, const std::string& type,
                    const std::string& operation, std::int64_t width, const std::string& divisor = "each") {
  const Outcome* found = nullptr;
  for (const auto& o : outcomes) {
    if (o.at.is("type", type) && o.at.is("operation", operation) && o.at.is("divisor", divisor) &&
        (width == 0 || o.at.number("width") == width) && (found == nullptr || rate_of(o) > rate_of(*found)))
      found = &o;
  }
  return found;
}

// Makes a finding of the ratio of two rates: first over second.
Finding rates_finding(const std::string& name, const Outcome& first, const Outcome& second,
                      const std::string& text) {
  return throughput_ratio_of(name, first, second, as_double(first.flops) / as_double(second.flops), text);
}

const std::array<const char*, 8> types = {"float", "double", "char", "short", "int", "long", "uint", "ulong"};

std::vector<Finding> findings(const std::vector<Outcome>& outcomes, const DeviceInfo& /*device*/) {
  std::vector<Finding> out;
  for (const std::string type : types) {
    const Outcome *scalar = best(outcomes, type, "multiply_add", 1),
                  *widest = best(outcomes, type, "multiply_add", 0);
    if (scalar != nullptr && widest != scalar)
      out.push_back(rates_finding("vector_gain_" + type, *widest, *scalar,
                                  fmt::format("rate of {} multiply-adds in vectors of {} / in scalars", type,
                                              widest->at.number("width"))));
    for (const std::string operation : {"divide", "remainder"}) {
      const Outcome* slow = best(outcomes, type, operation, 0);
      if (widest != nullptr && slow != nullptr)
        out.push_back(
            rates_finding(fmt::format("{}_{}_cost", type, operation), *widest, *slow,
                          fmt::format("time of {} {} / of a multiply-add of it, by the fastest width of "
                                      "each",
                                      type, operation)));
    }
  }
  return out;
}

}  // namespace

Family vector_width() {
  Values all;
  for (const char* type : types) all.emplace_back(std::string(type));
  const std::string tiny = " ilp=2 group=16 groups_per_cu=1 iterations=";
  const std::string integers = "type=int,long,uint,ulong operation=divide,remainder";
  return {
      .name = "vector_width",
      .question =
          "How fast is arithmetic on each type in vectors of 1 to 16, and how much slower are integer "
          "division and remainder?",
      .brief = "float1 to float16, integer division",
      .axes = {{.name = "type", .meaning = "type of the elements", .values = all},
               {.name = "operation",
                .meaning = "multiply_add: x * m + c; divide: x / m + c; remainder: x % m + c",
                .values = {"multiply_add", "divide", "remainder"}},
               {.name = "divisor",
                .meaning = "each: another one for each element of a vector; argument: one that the compiler "
                           "does not know; constant: 7",
                .values = {"each", "argument", "constant"},
                .when = divides},
               {.name = "width",
                .meaning = "elements of a vector",
                .values = {1, 2, 4, 8, 16},
                .domain = powers_of_two(1, 16)},
               {.name = "ilp",
                .meaning = "vectors per work-item, each an independent dependency chain",
                .values = {4, 1, 2, 8},
                .domain = whole(1, 16)},
               {.name = "group",
                .meaning = "work-items per work-group",
                .values = {64, 256},
                .domain = whole(1, 1024)},
               {.name = "groups_per_cu",
                .meaning = "work-groups per compute unit",
                .values = {16},
                .domain = whole(1, 1024),
                .per_compute_unit = more_than_zero("groups_per_cu")},
               {.name = "iterations",
                .meaning = "steps of each dependency chain",
                .values = {1024},
                .domain = whole(1, 8192)}},
      .presets = {.smoke = {"type=" + all + " width=4" + tiny + "37",
                            "type=char,float width=1,16" + tiny + "1,37",
                            "type=int,ulong operation=divide divisor=each,argument,constant" + tiny + "37",
                            "type=long,uint operation=remainder width=4" + tiny + "37"},
                  .quick = {"type=float,char width=1,16", "type=int", "type=int operation=divide"},
                  .paper = {"type=" + all + " width=1,2,4,8,16",
                            integers + " divisor=each,argument,constant width=1,4"},
                  .full = {"type=" + all + " width=1,2,4,8,16 ilp=1,4,8",
                           integers + " divisor=each,argument,constant width=1,4,16"}},
      .view = {.rows = {"type", "operation", "divisor"},
               .columns = {"width"},
               .quantity = "items",
               .graphs = {{.name = "widths",
                           .x = {"width"},
                           .series = {"type"},
                           .apart = {"operation"},
                           .quantity = "items",
                           .findings = {"vector_gain_float"}}}},
      .is_valid =
          [](const Case& at) {
            const std::string& type = at.text("type");
            return !divides(at) || type == "int" || type == "long" || type == "uint" || type == "ulong";
          },
      .plan =
          [](const Case& at, const DeviceInfo& device) {
            const std::string& type = at.text("type");
            if (type == "char") return plan_of_type<std::int8_t>(at, device);
            if (type == "short") return plan_of_type<std::int16_t>(at, device);
            return for_types<float, double, std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>(
                []<class T>(const Case& one, const DeviceInfo& on) { return plan_of_type<T>(one, on); })(
                at, device);
          },
      .findings = findings,
      .trait_group = TraitGroup::formats,
      .traits = {{"vector_gain_float", "x", "FP32 multiply-adds: rate in vectors over rate in scalars"},
                 {"vector_gain_char", "x", "the same of 8-bit integers"},
                 {"int_divide_cost", "x", "32-bit integer division: time over a multiply-add's"}}};
}

}  // namespace clweave::families
