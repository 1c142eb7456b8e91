// SPDX-License-Identifier: Apache-2.0
#include "compilers/figures.hpp"

#include <re2/re2.h>
#include <algorithm>
#include <cmath>

namespace clweave::compilers {

namespace {

Figure count_of(const std::vector<Symptom>& signs, const std::string& text, const Figure& width) {
  if (signs.empty()) return {};
  std::int64_t count = 0;
  for (const auto& sign : signs) {
    const RE2 pattern(std::string("(?m)") + sign.pattern);
    re2::StringPiece rest(text);
    std::int64_t items = 0;
    if (pattern.NumberOfCapturingGroups() == 0) {
      while (RE2::FindAndConsume(&rest, pattern)) count += sign.each;
      continue;
    }
    if (!width) return {};
    for (std::int64_t n = 0; RE2::FindAndConsume(&rest, pattern, &n);) items += n;
    count += sign.each * items / *width;
  }
  return count;
}

std::int64_t rounded_up(std::int64_t n, std::int64_t step) { return (n + step - 1) / step * step; }

}  // namespace

void count_signs(Figures& figures, const Symptoms& signs, const std::string& isa) {
  const auto count = [&](const std::vector<Symptom>& of) { return count_of(of, isa, figures.width); };
  figures.instructions = count(signs.instructions);
  figures.branches = count(signs.branches);
  figures.selects = count(signs.selects);
  figures.fmas = count(signs.fmas);
  figures.loads = count(signs.loads);
  figures.wide_loads = count(signs.wide_loads);
  figures.barriers = count(signs.barriers);
  figures.exchanges = count(signs.exchanges);
}

std::string occupy(Figures& figures, const Unit& unit, std::uint64_t group, std::uint64_t local) {
  if (!figures.width || !figures.registers || unit.simds == 0) return {};
  std::int64_t by_registers = unit.waves;
  const auto limit = [&](std::int64_t all, std::int64_t granule, std::int64_t used) {
    if (all > 0 && used > 0) by_registers = std::min(by_registers, all / rounded_up(used, granule));
  };
  limit(unit.registers, unit.granule, *figures.registers + figures.accumulators.value_or(0));
  limit(unit.scalars, unit.scalar_granule, figures.scalars.value_or(0));
  figures.waves = by_registers;
  const std::int64_t all = std::int64_t{unit.simds} * unit.waves;
  std::int64_t held = by_registers * unit.simds;
  std::string by = by_registers < unit.waves ? "registers" : "";
  if (group > 0) {
    const std::int64_t of_group =
        rounded_up(static_cast<std::int64_t>(group), *figures.width) / *figures.width;
    std::int64_t groups = held / of_group;
    const auto at_most = [&](std::int64_t most, const char* what) {
      if (most >= groups) return;
      groups = most;
      by = what;
    };
    if (by.empty() && groups * of_group < all) by = "the size of groups";
    if (const auto bytes = static_cast<std::int64_t>(local) + figures.local.value_or(0); bytes > 0)
      at_most(unit.local_bytes / (bytes + unit.reserved), "local memory");
    if (unit.groups > 0) at_most(unit.groups, "the number of groups");
    held = groups * of_group;
  }
  figures.occupancy = std::lround(100.0 * static_cast<double>(held) / static_cast<double>(all));
  return by;
}

}  // namespace clweave::compilers
