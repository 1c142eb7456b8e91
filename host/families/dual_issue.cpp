// SPDX-License-Identifier: Apache-2.0
// dual_issue: are instructions of two kinds executed at once, because each has a pipe of its own, or in
// turns?
//
// Work-items compute chains of one kind, chains of another, and both together. The sum of the two single
// times over the joint time is 1 where they take turns and 2 where they run at once and each alone takes as
// long as the other. So that they do, the family measures how long a step of each takes alone, and then asks
// for so many steps of the faster kind per step of the slower.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <optional>

#include "families/shared/loop_limit.hpp"
#include "suite/family.hpp"

namespace clweave::families {

namespace {

using Word = std::uint32_t;
constexpr std::uint64_t chains = 8, rows = 8, groups_per_cu = 16;
constexpr std::int64_t most_ratio = 16;
// From the kind that is the fastest on most devices.
constexpr std::array<const char*, 4> kinds = {"float", "int", "special", "local"};

std::size_t place_of(const std::string& kind) {
  return static_cast<std::size_t>(std::ranges::find(kinds, kind) - kinds.begin());
}

bool is_alone(const Case& at) { return at.is("second", "none"); }

// The launch, and what its work-items end with.
struct Work {
  std::uint64_t width, group, items, steps, ratio, unroll;  // steps of each chain of the second kind
  Random<Word> start;

  Work(const Case& at, const DeviceInfo& device)
      : width(device.type == "cpu" ? 8 : 1),
        group(device.type == "cpu" ? 1
                                   : std::bit_floor(std::min<std::uint64_t>(
                                         256, static_cast<std::uint64_t>(device.max_group)))),
        items(device.units() * groups_per_cu * group),
        steps(at.count("iterations")),
        ratio(at.count("ratio", 1, most_ratio)),
        unroll(std::min<std::uint64_t>(8, 64 / ratio)),
        start(at.seed, 1) {}

  std::uint64_t width_of(const std::string& kind) const { return kind == "local" ? 1 : width; }
  std::uint64_t all_steps(const std::string& kind, std::uint64_t of_chain) const {
    return items * width_of(kind) * chains * of_chain;
  }
};

// Composes `steps` steps of rotate(x, 7) ^ bits: a rotation and a mask.
Word mask_of(std::uint64_t steps) {
  Word x = 0;
  for (std::uint64_t s = 0; s < steps; ++s) x = std::rotl(x, 7) ^ 0x9e3779b9U;
  return x;
}

// Expects what chains of a kind end with after so many steps each.
void expect_ends(Plan& p, Buffer out, const std::string& kind, const Work& work, std::uint64_t steps) {
  const std::uint64_t width = work.width;
  const auto start = [=, value = work.start](std::uint64_t i, std::uint64_t k) {
    return value(k * width + i % width);
  };
  const auto small = [=](std::uint64_t i, std::uint64_t k) {
    return static_cast<double>((start(i, k) & 255U) + i / width % 64);
  };
  if (kind == "int") {
    const Word mask = mask_of(steps);
    p.expect<Word>(out, [=](std::uint64_t i) {
      Word sum = 0;
      for (std::uint64_t k = 0; k < chains; ++k)
        sum ^= std::rotl(start(i, k) + static_cast<Word>(i / width), static_cast<int>(7 * steps % 32)) ^ mask;
      return sum;
    });
  } else if (kind == "float") {
    // Below 2^24, where floats are exact.
    p.expect<float>(out, [=](std::uint64_t i) {
      double sum = 0;
      for (std::uint64_t k = 0; k < chains; ++k) sum += small(i, k) + static_cast<double>(steps);
      return static_cast<float>(sum);
    });
  } else if (kind == "special") {
    // An error of a step is halved by the next one; the bound of a step is that of half_rsqrt, 8192 ULP.
    constexpr double error = 2 * 8192 * 0x1p-23;
    const double power = std::pow(-0.5, static_cast<double>(steps));
    p.expect<float>(
        out,
        [=](std::uint64_t i) {
          double sum = 0;
          for (std::uint64_t k = 0; k < chains; ++k) sum += std::pow(small(i, k) / 64 + 1, power);
          return static_cast<float>(sum);
        },
        error);
  } else {
    p.expect<Word>(out, [=, group = work.group](std::uint64_t i) {
      Word sum = 0;
      for (std::uint64_t k = 0; k < chains; ++k)
        sum += static_cast<Word>(4 * ((k + steps) % rows * group + i % group));
      return sum;
    });
  }
}

Buffer output_of(Plan& p, const std::string& kind, const Work& work) {
  const std::uint64_t n = work.items * work.width_of(kind);
  return kind == "float" || kind == "special" ? p.output<float>(n) : p.output<Word>(n);
}

std::string define_of(const std::string& kind) {
  std::string out;
  for (const char letter : kind) out += static_cast<char>(letter - 'a' + 'A');
  return out;
}

Plan plan(const Case& at, const DeviceInfo& device) {
  const Work work(at, device);
  const std::string &first = at.text("first"), &second = at.text("second");
  Plan::need(work.steps % 8 == 0, "iterations must be a multiple of 8");
  Plan::need(!device.is_llvmpipe() || work.ratio == 1,
             "llvmpipe takes minutes to compile the steps of a ratio above 1");
  const std::uint64_t trips = work.steps / work.unroll;
  require_iterations(device, work.items / work.group * trips, "iterations");
  Plan p;
  p.define("FIRST", define_of(first)).define("SECOND", define_of(second)).define("RATIO", work.ratio);
  p.define("CHAINS", chains).define("UNROLL", work.unroll).define("WIDTH", work.width);
  p.define("GROUP", work.group).define("ROWS", rows);
  // NVIDIA's native functions need no steps of other kinds around them then; others' need none anyway.
  if (device.vendor.find("NVIDIA") != std::string::npos) p.options = "-cl-denorms-are-zero";
  if (first == "local" || second == "local") Plan::need_local(device, work.group * rows * sizeof(Word));
  const auto in = p.input<Word>(chains * work.width, work.start);
  const std::uint64_t of_first = work.steps * work.ratio;
  const Buffer first_out = output_of(p, first, work);
  expect_ends(p, first_out, first, work, of_first);
  std::uint64_t all = work.all_steps(first, of_first);
  const Word one = 1, passes = static_cast<Word>(trips);
  if (is_alone(at)) {
    p.launch("steps", {work.items}, {work.group}, first_out, in, one, passes);
  } else {
    const Buffer second_out = output_of(p, second, work);
    expect_ends(p, second_out, second, work, work.steps);
    p.launch("steps", {work.items}, {work.group}, first_out, second_out, in, one, passes);
    all += work.all_steps(second, work.steps);
  }
  std::uint64_t written = 0;
  for (const auto& check : p.checks) written += p.buffers[check.buffer.index].bytes;
  p.cost = {.read = chains * work.width * sizeof(Word), .written = written, .flops = 0, .items = all};
  return p;
}

// ---- Findings ---------------------------------------------------------------------------------------------

// Seconds of a case per iteration: a step of each chain of the second kind, with those of the first.
struct Seconds {
  double low = 0, middle = 0, high = 0;

  explicit Seconds(const Outcome& o)
      : low(o.low_s.value_or(o.time_s) / steps_of(o)),
        middle(o.time_s / steps_of(o)),
        high(o.high_s.value_or(o.time_s) / steps_of(o)) {}

  static double steps_of(const Outcome& o) { return static_cast<double>(o.at.number("iterations")); }
};

std::map<std::string, const Outcome*> alone_of(const std::vector<Outcome>& outcomes) {
  std::map<std::string, const Outcome*> out;
  for (const auto& o : outcomes) {
    if (!is_alone(o.at)) continue;
    const Outcome*& best = out[o.at.text("first")];
    if (best == nullptr || Seconds(o).middle < Seconds(*best).middle) best = &o;
  }
  return out;
}

// Returns the steps of the first kind that take about as long as one of the second.
std::int64_t balanced(double first_s, double second_s) {
  const double steps = std::clamp(second_s / first_s, 1.0, static_cast<double>(most_ratio));
  return std::llround(std::exp2(std::round(std::log2(steps))));
}

std::vector<Case> refine(const std::vector<Outcome>& outcomes, const DeviceInfo& /*device*/) {
  const auto alone = alone_of(outcomes);
  std::vector<Case> out;
  for (const auto& o : outcomes) {
    const auto first = alone.find(o.at.text("first")), second = alone.find(o.at.text("second"));
    if (is_alone(o.at) || first == alone.end() || second == alone.end()) continue;
    const Case wanted =
        o.at.with("ratio", balanced(Seconds(*first->second).middle, Seconds(*second->second).middle));
    const auto is_wanted = [&](const auto& other) { return other.id() == wanted.id(); };
    if (std::ranges::none_of(outcomes, is_wanted, &Outcome::at) && std::ranges::none_of(out, is_wanted))
      out.push_back(wanted);
  }
  return out;
}

// Two kinds together, and each alone.
struct Pair {
  const Outcome *first, *second, *both;

  double ratio() const { return static_cast<double>(both->at.number("ratio")); }
  // Returns the sum of the single times over the longer one: what is possible.
  double most() const {
    const double one = ratio() * Seconds(*first).middle, other = Seconds(*second).middle;
    return (one + other) / std::max(one, other);
  }
};

Finding overlap_of(const std::string& name, const Pair& pair) {
  constexpr double beyond = 1.1;
  const Seconds first(*pair.first), second(*pair.second), both(*pair.both);
  const double ratio = pair.ratio(), overlap = (ratio * first.middle + second.middle) / both.middle;
  const std::string &one = pair.first->at.text("first"), &other = pair.second->at.text("first");
  Finding out{
      name, overlap, "x",
      fmt::format("{} and {} steps together are {:.2f} times as fast as one after the other, of {:.2f} "
                  "possible: 1: they take turns; {} {} per {} step",
                  one, other, overlap, pair.most(), ratio, one, other)};
  out.low = (ratio * first.low + second.low) / both.high;
  out.high = (ratio * first.high + second.high) / both.low;
  out.note = fmt::format("of {:.2f} possible", pair.most());
  out.from = {pair.first, pair.second, pair.both};
  if (overlap > beyond * pair.most()) {
    out.value.reset();
    out.text =
        fmt::format("{} and {} steps together take less time than the slower of them alone", one, other);
  }
  return out;
}

std::vector<Finding> findings(const std::vector<Outcome>& outcomes, const DeviceInfo& /*device*/) {
  const auto alone = alone_of(outcomes);
  std::map<std::pair<std::size_t, std::size_t>, Pair> pairs;  // the best balanced of each
  for (const auto& o : outcomes) {
    const auto first = alone.find(o.at.text("first")), second = alone.find(o.at.text("second"));
    if (is_alone(o.at) || first == alone.end() || second == alone.end()) continue;
    const Pair pair = {first->second, second->second, &o};
    const auto [it, is_new] = pairs.try_emplace({place_of(first->first), place_of(second->first)}, pair);
    if (!is_new && pair.most() > it->second.most()) it->second = pair;
  }
  std::vector<Finding> out;
  for (const auto& [places, pair] : pairs)
    out.push_back(overlap_of(fmt::format("overlap_{}_{}", kinds[places.first], kinds[places.second]), pair));
  return out;
}

}  // namespace

Family dual_issue() {
  const std::string each_alone = "first=float,int,special,local",
                    pairs_of_float = "first=float second=int,special,local",
                    int_and_special = "first=int second=special";
  const Values ratios = {1, 2, 4, 8, 16};
  const Sweeps all = {each_alone, pairs_of_float, int_and_special};
  return {
      .name = "dual_issue",
      .question =
          "Are instructions of two kinds executed at once, each kind in its own pipe, or do they take turns?",
      .brief = "instructions of two kinds at once",
      .axes = {{.name = "first",
                .meaning = "kind of steps: float: a multiply-add; int: a rotation and an exclusive or; "
                           "special: native_rsqrt; local: a load from local memory",
                .values = {"float", "int", "special", "local"}},
               {.name = "second",
                .meaning = "kind of steps computed together with them, which do not depend on them",
                .values = {"none", "int", "special", "local"}},
               {.name = "ratio",
                .meaning = "steps of the first kind per step of the second",
                .values = ratios,
                .domain = powers_of_two(1, most_ratio),
                .when = [](const Case& at) { return !is_alone(at); }},
               {.name = "iterations",
                .meaning = "steps of each dependency chain of the second kind, or of the only one",
                .values = {4096},
                .domain = multiples_of(8, 8, 65536)}},
      .presets = {.smoke = {each_alone + " iterations=8", pairs_of_float + " iterations=8 ratio=1,4",
                            "first=int second=special,local iterations=16 ratio=16",
                            "first=special second=local iterations=8"},
                  .quick = all,
                  .profile = all,
                  .paper = {},
                  .full = {each_alone, "first=float,int,special second=int,special,local ratio=" + ratios}},
      .view = {.rows = {"first", "second"},
               .columns = {"ratio"},
               .quantity = "items",
               .chapter = "Parallelism",
               .graphs = {{.name = "pairs",
                           .kind = Graph::Kind::bars,
                           .series = {"first", "second", "ratio"},
                           .quantity = "ns",
                           .findings = {"overlap_*"}}}},
      .is_valid =
          [](const Case& at) {
            return is_alone(at) || place_of(at.text("second")) > place_of(at.text("first"));
          },
      .plan = plan,
      .refine = refine,
      .findings = findings,
      .traits = {
          {"overlap_float_int", "x", "float and int steps: sum of their single times over their joint time"},
          {"overlap_float_special", "x", "the same of float and special functions"},
          {"overlap_float_local", "x", "the same of float and loads from local memory"},
          {"overlap_int_special", "x", "the same of int and special functions"}}};
}

}  // namespace clweave::families
