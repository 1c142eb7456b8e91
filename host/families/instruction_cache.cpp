// SPDX-License-Identifier: Apache-2.0
// instruction_cache: how long may the code of a loop be before its instructions are executed more slowly?
//
// One work-group repeats straight-line code. At every length it executes as many statements in all, so that
// only where the instructions come from differs. A cache level ends where statements become slower; between
// the last length that fits and the first that does not, the family measures more until they are 12 % apart.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <memory>
#include <mutex>
#include <optional>
#include <set>

#include "base/quantity.hpp"
#include "families/shared/levels.hpp"
#include "families/shared/loop_limit.hpp"
#include "families/shared/monotone.hpp"
#include "suite/family.hpp"

namespace clweave::families {

namespace {

constexpr std::uint64_t values = 8;  // of a work-item
constexpr std::int64_t least = 64, most = 65536;

bool is_processor(const DeviceInfo& device) { return device.type == "cpu"; }

// Returns passes such that the number of statements executed does not depend on the length of the code.
std::uint64_t passes_of(const Case& at, const DeviceInfo& device) {
  const std::uint64_t executed = std::uint64_t{1} << (is_processor(device) ? 20 : 18);
  const std::uint64_t wanted = at.count("iterations", 0, 1 << 20);
  return wanted > 0 ? wanted : executed / at.count("statements", least, most);
}

// Returns the constants of the statements, in their order: of each bit of `statements` from the lowest, a
// stretch of so many. Each is the number of the bit and the place in its stretch, in whole hexadecimal
// digits.
template <class T>
std::vector<T> constants_of(std::uint64_t statements) {
  constexpr std::uint64_t prefix = 0xa0, low_bits = 0x5bd1e995;
  std::vector<T> out;
  for (unsigned bit = 6; bit <= 16; ++bit) {
    const std::uint64_t stretch = statements & (std::uint64_t{1} << bit);
    const unsigned digits = (bit + 3) / 4;
    for (std::uint64_t place = 0; place < stretch; ++place) {
      const std::uint64_t named = (prefix + bit - 6) << 4 * digits | place;
      out.push_back(static_cast<T>(sizeof(T) == 8 ? named << 32 | low_bits : named));
    }
  }
  return out;
}

// Values that the work-items end with, computed on first use.
template <class T>
class Ends {
 public:
  Ends(std::uint64_t statements, std::uint64_t passes, std::uint64_t items, std::uint64_t seed)
      : statements_(statements), passes_(passes), items_(items), seed_(seed) {}

  T of(std::uint64_t i) {
    std::call_once(once_, [this] {
      const Random<T> value(seed_, 1);
      const std::vector<T> constants = constants_of<T>(statements_);
      for (std::uint64_t item = 0; item < items_; ++item) {
        std::array<T, values> x = {};
        for (std::uint64_t k = 0; k < values; ++k) x[k] = value(values * item + k);
        for (std::uint64_t pass = 0; pass < passes_; ++pass) {
          for (std::uint64_t s = 0; s < constants.size(); s += values) {
            for (std::uint64_t k = 0; k < values; ++k) x[k] ^= x[(k + 1) % values] + constants[s + k];
          }
        }
        ends_.insert(ends_.end(), x.begin(), x.end());
      }
    });
    return ends_[i];
  }

 private:
  std::uint64_t statements_, passes_, items_, seed_;
  std::once_flag once_;
  std::vector<T> ends_;
};

// Returns the bytes of a statement's instructions, as counted in machine code: x86-64 of PoCL and of Intel's
// compiler (a constant of 64 bits in an instruction of its own), AMD from GCN 5 on, NVIDIA from Volta on,
// whose instructions are all 16 bytes long. Empty: unknown.
std::optional<double> statement_bytes(const DeviceInfo& device) {
  // A results file has no vendor, but its platform and name say it.
  const auto made_by = [words = device.vendor + "|" + device.platform + "|" + device.name](const char* who) {
    return words.find(who) != std::string::npos;
  };
#if defined(__x86_64__)
  if (is_processor(device) && !device.is_llvmpipe()) return 17;
#endif
  if (device.type != "gpu") return {};
  if (made_by("NVIDIA")) return 32;
  if (made_by("Advanced Micro Devices") || made_by("AMD")) return 12;
  return {};
}

template <class T>
Plan plan_of_type(const Case& at, const DeviceInfo& device) {
  const std::uint64_t statements = at.count("statements", least, most), passes = passes_of(at, device);
  // A processor's work-items would be executed one after the other, or become vectors.
  const std::uint64_t items =
      is_processor(device) ? 1 : std::min<std::uint64_t>(32, static_cast<std::uint64_t>(device.max_group));
  Plan::need(!device.is_llvmpipe() || statements <= 128,
             "llvmpipe takes minutes to compile more than 128 statements");
  require_iterations(device, passes, "iterations");
  Plan p;
  p.define("STATEMENTS", statements).define("CPU", is_processor(device) ? 1 : 0);
  const auto in = p.input<T>(values * items, Random<T>(at.seed, 1));
  const auto out = p.output<T>(values * items);
  constexpr std::uint32_t never = 0;
  p.launch("straight", {items}, {items}, out, in, static_cast<std::uint32_t>(passes), never);
  p.expect<T>(out, [ends = std::make_shared<Ends<T>>(statements, passes, items, at.seed)](std::uint64_t i) {
    return ends->of(i);
  });
  p.cost = {.read = values * items * sizeof(T),
            .written = values * items * sizeof(T),
            .flops = 0,
            .items = statements * passes};
  if (const auto bytes = statement_bytes(device))
    p.derive("code_bytes", std::llround(static_cast<double>(statements) * *bytes));
  return p;
}

Plan plan(const Case& at, const DeviceInfo& device) {
  return is_processor(device) ? plan_of_type<std::uint64_t>(at, device)
                              : plan_of_type<std::uint32_t>(at, device);
}

// ---- Findings ---------------------------------------------------------------------------------------------

// Returns the least nanoseconds per statement by the length of the code, as interference only makes it
// slower.
Curve curve_of(const std::vector<Outcome>& outcomes) {
  Curve out;
  for (const auto& o : outcomes) {
    const double ns = 1e9 * o.min_s.value_or(o.time_s) / as_double(o.items);
    const auto [it, first] = out.emplace(o.at.number("statements"), ns);
    if (!first) it->second = std::min(it->second, ns);
  }
  return out;
}

constexpr std::size_t fewest = 5;  // of a curve

// Two lengths between which statements become slower.
struct End {
  std::int64_t fits, beyond;
};

// Returns where the first cache ends, also where no second level is flat for long.
std::optional<End> end_of_first(const Curve& curve) {
  constexpr double slower = 1.22;  // half-way between what levels_of takes for the same and for another level
  const auto beyond =
      std::ranges::find_if(curve, [&](const auto& at) { return at.second > slower * curve.begin()->second; });
  if (beyond == curve.begin() || beyond == curve.end()) return {};
  return End{std::prev(beyond)->first, beyond->first};
}

// Asks for lengths between where a level ends, and for one that is beyond GPUs' caches, whose statements are
// longer and whose compilers are faster than processors'. Where statements become slower and slower, asks for
// half octaves, too, in which levels may lie.
std::vector<Case> refine(const std::vector<Outcome>& outcomes, const DeviceInfo& device) {
  constexpr double close_enough = 1.12, half_octave = 1.5, other = 1.15;
  constexpr std::int64_t beyond_gpus = 8192;
  const Curve curve = curve_of(outcomes);
  if (curve.size() < fewest) return {};  // the user's choice of lengths, no curve
  std::vector<Case> out;
  if (device.type == "gpu" && curve.rbegin()->first < beyond_gpus)
    out.push_back(outcomes.front().at.with("statements", beyond_gpus));
  std::set<std::int64_t> lengths;
  const auto ask_between = [&](std::int64_t fits, std::int64_t beyond, double enough) {
    if (static_cast<double>(beyond) <= enough * static_cast<double>(fits)) return;
    const double middle = std::sqrt(static_cast<double>(fits) * static_cast<double>(beyond));
    const std::int64_t length = std::llround(middle / least) * least;
    if (length > fits && length < beyond) lengths.insert(length);
  };
  const Curve rising = made_monotone(curve);
  for (const Level& level : levels_of(rising)) {
    if (level.beyond > 0) ask_between(level.fits, level.beyond, close_enough);
  }
  if (const auto first = end_of_first(rising)) ask_between(first->fits, first->beyond, close_enough);
  for (auto at = rising.begin(); std::next(at) != rising.end(); ++at) {
    if (std::next(at)->second > other * at->second) ask_between(at->first, std::next(at)->first, half_octave);
  }
  for (const auto length : lengths) out.push_back(outcomes.front().at.with("statements", length));
  return out;
}

// Returns the least capacity of a level in which `length` seems to fit. The level begins at length `first`
// and takes `level_ns` a statement. A cache that replaces lines at random misses a part 1 - 1 / x of
// a loop x times as long as it holds, and is slower by that part of the rise to the next level, which the
// time at twice the length bounds from below. Where that is not slower by half of the least rise of a level,
// the length fits.
double least_capacity(const Curve& curve, std::int64_t first, std::int64_t length, double level_ns,
                      double noise) {
  const auto at = std::prev(curve.upper_bound(length));
  const double slower = std::max(at->second / level_ns, 1.0) + noise;
  const auto twice = curve.lower_bound(2 * at->first);
  const double rise = (twice == curve.end() ? *curve.rbegin() : *twice).second / level_ns;
  constexpr double half_of_least = 1.15;
  if (rise < half_of_least - noise) return static_cast<double>(at->first);
  const double part_that_fits = rise > slower ? 1 - (slower - 1) / (rise - 1) : 0;
  return std::max(as_double(first), part_that_fits * as_double(at->first));
}

std::string length_text(std::int64_t statements, const std::optional<double>& bytes) {
  if (!bytes) return fmt::format("{} statements", statements);
  return bytes_text(static_cast<double>(statements) * *bytes);
}

std::vector<Finding> findings(const std::vector<Outcome>& outcomes, const DeviceInfo& device) {
  const Curve measured = curve_of(outcomes);
  if (measured.size() < fewest) return {};
  const Curve curve = made_monotone(measured);
  const double noise = noise_of({measured});
  const std::vector<Level> levels = levels_of(curve, noise);
  const auto bytes = statement_bytes(device);
  std::vector<Finding> out;
  for (std::size_t i = 0; i + 1 < levels.size(); ++i) {
    const Level &level = levels[i], &next = levels[i + 1];
    Finding capacity{
        fmt::format("instruction_cache_{}", i + 1),
        {},
        "B",
        fmt::format("a statement takes {:.3g} ns in loops of up to {} of code, {:.3g} ns from {} on",
                    level.ns, length_text(level.last, bytes), next.ns, length_text(next.first, bytes))};
    if (!level.is_sure) {
      capacity.text =
          fmt::format("the times are too noisy to tell where loops become slower; {} explains them best",
                      length_text(level.fits, bytes));
    } else if (!bytes) {
      capacity.text += "; how many bytes a statement has is not known of this device";
    } else {
      capacity.value = *bytes * std::sqrt(as_double(level.fits) * as_double(level.beyond));
      capacity.low = *bytes * least_capacity(curve, level.first, level.low, level.ns, noise);
      capacity.high = *bytes * as_double(level.high);
    }
    out.push_back(std::move(capacity));
  }
  if (const auto first = end_of_first(curve); levels.size() < 2 && first) {
    const double times = curve.rbegin()->second / curve.begin()->second;
    Finding capacity{
        "instruction_cache_1",
        {},
        "B",
        fmt::format("statements become slower between {} and {} of code, and {:.3g} times as slow "
                    "towards {}, without a second level",
                    length_text(first->fits, bytes), length_text(first->beyond, bytes), times,
                    length_text(curve.rbegin()->first, bytes))};
    constexpr double too_noisy = 0.07;  // a third of what ends the level
    if (noise > too_noisy) {
      capacity.text =
          fmt::format("the times are too noisy to tell where loops become slower; {} explains them best",
                      length_text(first->fits, bytes));
    } else if (bytes) {
      capacity.value = *bytes * std::sqrt(as_double(first->fits) * as_double(first->beyond));
      capacity.low =
          *bytes * least_capacity(curve, curve.begin()->first, first->fits, curve.begin()->second, noise);
      capacity.high = *bytes * as_double(first->beyond);
    }
    out.push_back(std::move(capacity));
  } else if (levels.size() < 2)
    out.push_back({"instruction_cache_1",
                   {},
                   "B",
                   fmt::format("none found: loops of up to {} of code are as fast as short ones",
                               length_text(curve.rbegin()->first, bytes))});
  out.push_back(
      {"long_code_slowdown", curve.rbegin()->second / curve.begin()->second, "ratio",
       fmt::format("time of a statement in a loop of {} of code / of {}",
                   length_text(curve.rbegin()->first, bytes), length_text(curve.begin()->first, bytes))});
  return out;
}

}  // namespace

Family instruction_cache() {
  const Values octaves = {64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384};
  Values half_octaves;
  for (int k = 0; k <= 18; ++k) half_octaves.emplace_back(std::llround(std::exp2(k / 2.0)) * least);
  return {
      .name = "instruction_cache",
      .question =
          "How long may the code of a loop be before it no longer fits the instruction cache and its "
          "instructions are executed more slowly?",
      .brief = "capacity of the instruction cache",
      .axes = {{.name = "statements",
                .meaning = "length of the loop's straight-line code: statements of two or three "
                           "instructions each, none like another",
                .values = octaves,
                .domain = multiples_of(least, least, most)},
               {.name = "iterations",
                .meaning = "how often the code is executed; 0: as often as makes 2^18 statements, on "
                           "processors 2^20, so that the work stays "
                           "equal",
                .values = {0},
                .domain = whole(0, 1 << 20)}},
      .presets = {.smoke = {"statements=64,192,1984 iterations=1,3"},
                  .quick = {"statements=128,256,512,1024,2048,4096"},
                  .profile = {"statements=128,256,512,1024,2048,4096"},
                  .paper = {"statements=64,256,1024"},
                  .full = {"statements=" + half_octaves}},
      .view = {.rows = {"statements"},
               .columns = {"iterations"},
               .quantity = "items",
               .chapter = "Access and caches",
               .graphs = {{.name = "length",
                           .x = {"statements"},
                           .quantity = "ns",
                           .findings = {"instruction_cache_*", "long_code_slowdown"}}}},
      .derived = {{"code_bytes", "bytes of the loop's code, where the machine code of the device is known"}},
      .plan = plan,
      .refine = refine,
      .findings = findings,
      .traits = {{"instruction_cache_1", "B",
                  "code that a loop may have before its instructions are executed more slowly"},
                 {"long_code_slowdown", "x", "time of an instruction in the longest / shortest code"}}};
}

}  // namespace clweave::families
