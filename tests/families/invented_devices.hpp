// SPDX-License-Identifier: Apache-2.0
// invented_devices: devices of known width, banks and caches, their rows under noise, and whether what
// families conclude of these rows is right.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numbers>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "draws.hpp"
#include "suite/family.hpp"
#include "suite/mock_devices.hpp"

namespace clweave::commands {

class Chance : public draws::Draws {
 public:
  using Draws::Draws;
  template <class T>
  T one_of(const std::vector<T>& values) {
    return values[static_cast<std::size_t>(uniform() * static_cast<double>(values.size()))];
  }
};

struct CacheLevel {
  double bytes = 0, ns = 0;
  bool own = true;  // of each compute unit
};

struct Invented {
  std::int64_t width = 32;                               // SIMD
  std::int64_t banks = 32, bank_bytes = 4, served = 32;  // banks 0: local memory without
  double unconflicted = 1;  // a read without conflicts takes as long as so many words of a bank
  std::vector<CacheLevel> caches = {};
  double memory_ns = 400;
  std::vector<CacheLevel> code_caches = {};  // nanoseconds of a statement in loops that fit
  double code_memory_ns = 6;
  bool all_or_nothing = true;  // a set that does not fit misses every load; else as many as it has too much
  std::int64_t line = 64;      // 0: no distance misses
  double tlb_bytes = 0;        // 0: unlimited
  std::int64_t live = 64;      // values in registers
  double launch_s = 5e-6;
};

// Noise of a row, of the logarithm of its time, and whether its own interval tells of it.
struct Noise {
  double sd = 0;
  bool told = true;
};

double load_ns(const Invented&, double bytes, double units);

// Bytes of a statement of instruction_cache on NVIDIA's devices, which `roomy` is.
constexpr double statement_bytes = 32;

namespace detail {

// Returns the nanoseconds of an access to a working set of each of so many compute units.
inline double level_ns(const std::vector<CacheLevel>& levels, double beyond_ns, bool all_or_nothing,
                       double bytes, double units) {
  double ns = beyond_ns;
  for (auto level = levels.rbegin(); level != levels.rend(); ++level) {
    const double all = bytes * (level->own ? 1 : units);
    const double hits = all <= level->bytes ? 1 : all_or_nothing ? 0 : level->bytes / all;
    ns = hits * level->ns + (1 - hits) * ns;
  }
  return ns;
}

inline double conflicts(const Invented& device, std::int64_t stride, std::int64_t shift, std::int64_t words) {
  if (device.banks == 0) return 1;
  double sum = 0;
  for (std::int64_t first = 0; first < 64; first += device.served) {
    std::map<std::int64_t, std::set<std::int64_t>> asked;
    std::size_t most = 0;
    for (std::int64_t lane = first; lane < first + device.served; ++lane) {
      const std::int64_t at = 4 * ((lane * stride + lane % 2 * shift / 4) % words) / device.bank_bytes;
      asked[at % device.banks].insert(at);
      most = std::max(most, asked[at % device.banks].size());
    }
    sum += std::max(static_cast<double>(most), device.unconflicted);
  }
  return sum * static_cast<double>(device.served) / 64;
}

inline double paths(const Invented& device, const Case& at) {
  const std::int64_t group = at.number("group");
  std::int64_t units = 0, sum = 0;
  for (std::int64_t first = 0; first < group; first += device.width, ++units) {
    std::set<std::int64_t> taken;
    for (std::int64_t i = first; i < std::min(first + device.width, group); ++i)
      taken.insert(i / at.number("granularity") % at.number("paths"));
    sum += static_cast<std::int64_t>(taken.size());
  }
  return static_cast<double>(sum) / static_cast<double>(units) *
         (1 + 0.05 * static_cast<double>(at.number("paths")));
}

inline double cache_seconds(const Invented& device, const Case& at, const Plan& plan, double units) {
  const auto bytes = static_cast<double>(at.number("working_set"));
  const auto loads = static_cast<double>(plan.cost.items);
  if (at.is("kernel", "chase")) return 1e-9 * loads * load_ns(device, bytes, 1);
  if (at.is("kernel", "chase_private")) return 1e-9 * loads / units * load_ns(device, bytes, units);
  if (at.is("kernel", "tlb")) {
    const double slower = device.tlb_bytes > 0 && bytes > device.tlb_bytes ? 1.7 : 1;
    return 1e-9 * loads * slower * load_ns(device, bytes / 4160 * 64, 1);
  }
  if (at.is("kernel", "pair")) {
    const bool misses = device.line > 0 && at.number("apart") >= device.line;
    return 1e-9 * loads * (misses ? 1.75 : 1) * device.memory_ns;
  }
  return 1e-9 * loads;
}

}  // namespace detail

inline double load_ns(const Invented& device, double bytes, double units) {
  return detail::level_ns(device.caches, device.memory_ns, device.all_or_nothing, bytes, units);
}

// Returns the seconds of a case of branch_divergence, banks, cache, registers, instruction_cache or latency,
// without noise.
inline double seconds_of(const Invented& device, const std::string& family, const Case& at, const Plan& plan,
                         double units) {
  if (family == "branch_divergence") return 1e-4 * detail::paths(device, at);
  if (family == "banks")
    return 1e-4 * detail::conflicts(device, at.number("stride"), at.number("shift"),
                                    at.number("stride") > 64 ? 8192 : 4096);
  if (family == "cache") return device.launch_s + detail::cache_seconds(device, at, plan, units);
  if (family == "registers")
    return 1e-12 * static_cast<double>(plan.cost.flops) * (at.number("live") <= device.live ? 1 : 3);
  if (family == "instruction_cache") {
    const double bytes = statement_bytes * static_cast<double>(at.number("statements"));
    return 1e-9 * static_cast<double>(plan.cost.items) *
           detail::level_ns(device.code_caches, device.code_memory_ns, device.all_or_nothing, bytes, 1);
  }
  const double step_ns = at.is("kernel", "chase") ? device.memory_ns : 4;
  return device.launch_s + 1e-9 * step_ns * static_cast<double>(plan.cost.items);
}

// Returns the outcomes of preset quick and of what the family asks for then.
inline std::vector<Outcome> measured(const Invented& device, const Family& family, const Noise& noise,
                                     std::uint64_t seed) {
  const DeviceInfo info = roomy();
  Chance chance(seed);
  std::vector<Outcome> out;
  std::set<std::string> ids;
  auto wanted = cases_of(family, family.presets.at("quick"), 1);
  for (int round = 0; !wanted.empty() && round < 40; ++round) {
    for (const auto& at : wanted) {
      if (!ids.insert(at.id()).second) continue;
      const Plan plan = plan_of(family, at, info);
      const double time_s = seconds_of(device, family.name, at, plan, static_cast<double>(info.units())) *
                            std::exp(noise.sd * chance.normal());
      const double reach = std::exp(1.96 * (noise.told ? noise.sd : 0.002));
      Outcome& o = out.emplace_back(at, time_s, time_s / reach, time_s * reach);
      o.bytes = static_cast<std::int64_t>(plan.cost.read + plan.cost.written);
      o.flops = static_cast<std::int64_t>(plan.cost.flops);
      o.items = static_cast<std::int64_t>(plan.cost.items);
      if (!noise.told) o.min_s = time_s;
    }
    wanted = family.refine ? family.refine(out, info) : std::vector<Case>();
    std::erase_if(wanted, [&](const Case& at) { return ids.contains(at.id()); });
  }
  return out;
}

enum class Answer { right, undecided, wrong };

// Holds a finding against the truth: a value whose interval holds it, or which has none and equals it, is
// right; so is no value where there is nothing (`truth` 0).
inline Answer judged(const std::vector<Finding>& findings, const std::string& name, double truth) {
  const auto found = std::ranges::find(findings, name, &Finding::name);
  if (found == findings.end() || !found->value) return truth == 0 ? Answer::right : Answer::undecided;
  if (truth == 0) return Answer::wrong;
  const double low = found->low.value_or(*found->value), high = found->high.value_or(*found->value);
  constexpr double rounding = 1e-9;
  return low <= truth * (1 + rounding) && truth <= high * (1 + rounding) ? Answer::right : Answer::wrong;
}

// Returns which part of the devices a trait must be right of under 5 % of noise. The lengths of code are few,
// as compilers take seconds for each, so that their noise is less well known.
inline double least_right(const std::string& trait) { return trait == "instruction_cache_1" ? 0.6 : 0.9; }

// Draws a device as real ones are made: powers of two mostly, caches at least eight times as large and 1.8
// times as slow as the one before.
inline Invented drawn_device(Chance& chance) {
  Invented out;
  out.width = chance.one_of<std::int64_t>({1, 2, 4, 8, 16, 32, 64, 128});
  out.banks = chance.one_of<std::int64_t>({8, 16, 24, 32, 64, 128});
  out.bank_bytes = chance.one_of<std::int64_t>({4, 8, 16});
  out.served = chance.one_of<std::int64_t>({16, 32, 64});
  out.unconflicted = 1 + chance.uniform();
  out.line = chance.one_of<std::int64_t>({32, 64, 128, 256});
  out.live = chance.one_of<std::int64_t>({16, 24, 40, 64, 100, 128});
  out.all_or_nothing = chance.uniform() < 0.75;
  out.tlb_bytes = std::exp2(19 + 7 * chance.uniform());
  double bytes = 16384 * std::exp2(4 * chance.uniform()), ns = 1 + 30 * chance.uniform();
  const int levels = chance.one_of<int>({1, 2, 2, 3});
  for (int i = 0; i < levels && bytes < (24 << 20); ++i) {
    out.caches.push_back({bytes, ns, i == 0 || chance.uniform() < 0.3});
    bytes *= std::exp2(3 + 2 * chance.uniform());
    ns *= 1.8 + 3 * chance.uniform();
  }
  out.memory_ns = std::max(ns, 1.8 * out.caches.back().ns);
  bytes = 8192 * std::exp2(2 * chance.uniform()), ns = 1;
  for (int level = chance.one_of<int>({1, 2, 2}); level > 0; --level) {
    out.code_caches.push_back({bytes, ns});
    bytes *= std::exp2(1.5 + chance.uniform());
    ns *= 1.6 + 1.5 * chance.uniform();
  }
  out.code_memory_ns = ns;
  return out;
}

// Answers by trait, of one device.
inline std::map<std::string, Answer> answers_of(const Invented& device, const Noise& noise,
                                                std::uint64_t seed) {
  std::map<std::string, Answer> out;
  std::vector<Finding> all;
  for (const auto& family : all_families()) {
    if (family.name != "branch_divergence" && family.name != "banks" && family.name != "cache" &&
        family.name != "registers" && family.name != "instruction_cache" && family.name != "latency")
      continue;
    const auto rows = measured(device, family, noise, seed);
    for (const auto& found : family.findings(rows, roomy())) all.push_back(found);
  }
  const auto judge = [&](const std::string& name, double truth) { out[name] = judged(all, name, truth); };
  judge("simd_width", static_cast<double>(device.width));
  judge("banks", static_cast<double>(device.banks));
  judge("bank_bytes", device.banks > 0 ? static_cast<double>(device.bank_bytes) : 0);
  for (std::size_t i = 0; i < 3; ++i) {
    const bool has = i < device.caches.size();
    judge("l" + std::to_string(i + 1) + "_bytes", has ? device.caches[i].bytes : 0);
    judge("l" + std::to_string(i + 1) + "_latency", has ? device.caches[i].ns : 0);
  }
  judge("fetch_granularity", static_cast<double>(device.line));
  judge("tlb_reach", device.tlb_bytes);
  judge("live_values_before_slowdown", static_cast<double>(device.live));
  judge("instruction_cache_1", device.code_caches.front().bytes);
  judge("dram_latency", device.memory_ns);
  return out;
}

}  // namespace clweave::commands
