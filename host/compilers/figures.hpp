// SPDX-License-Identifier: Apache-2.0
// figures: what a compiler made of one kernel, in numbers.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/namespaces.hpp"

namespace clweave::compilers {

using Figure = std::optional<std::int64_t>;  // empty: unknown

struct Figures {
  Figure width, group_limit, registers, accumulators, scalars, scratch, spilled, local, waves, occupancy,
      instructions, branches, selects, fmas, loads, wide_loads, barriers, exchanges;
};

// Names a figure in tables. `heading` is for narrow ones, which drop the column with the lowest `leaves`
// first.
struct NamedFigure {
  const char* name;
  const char* heading;
  int leaves;
  const char* meaning;
  Figure Figures::*value;
};
inline constexpr std::array<NamedFigure, 18> all_figures = {{
    {"width", "width", 9, "SIMD width in work-items", &Figures::width},
    {"group_limit", "limit", 1, "largest work-group", &Figures::group_limit},
    {"registers", "regs", 20, "vector registers per work-item; Intel: registers per hardware thread",
     &Figures::registers},
    {"accumulators", "acc", 2, "accumulation registers per work-item (AMD)", &Figures::accumulators},
    {"scalars", "scalar", 4, "scalar registers per wavefront (AMD)", &Figures::scalars},
    {"scratch", "scratch", 18, "bytes of scratch memory per work-item", &Figures::scratch},
    {"spilled", "spills", 19, "spilled registers", &Figures::spilled},
    {"local", "local", 8, "bytes of local memory that the kernel declares", &Figures::local},
    {"waves", "waves", 3, "resident wavefronts per SIMD unit, limited by registers", &Figures::waves},
    {"occupancy", "occ. %", 17,
     "resident wavefronts over the maximum, limited by registers, work-group and local memory",
     &Figures::occupancy},
    {"instructions", "instr.", 10, "static count, loops not multiplied", &Figures::instructions},
    {"branches", "branch", 16, "divergent branches", &Figures::branches},
    {"selects", "select", 15, "selects instead of branches", &Figures::selects},
    {"fmas", "fma", 14, "FMAs per work-item", &Figures::fmas},
    {"loads", "loads", 13, "loads from global memory per work-item", &Figures::loads},
    {"wide_loads", "16 B", 12, "loads of 16 bytes or more", &Figures::wide_loads},
    {"barriers", "barrier", 11, "work-group barriers", &Figures::barriers},
    {"exchanges", "lanes", 7, "sub-group shuffles, ballots and the like", &Figures::exchanges},
}};

// Regular expression (RE2, multi-line) that counts a kind of instruction in disassembly. A group in it
// captures how many work-items one such instruction serves, `each` is how often it counts.
struct Symptom {
  const char* pattern = "";
  int each = 1;
};
struct Symptoms {
  std::vector<Symptom> instructions = {}, branches = {}, selects = {}, fmas = {}, loads = {}, wide_loads = {},
                       barriers = {}, exchanges = {};
};

// The figures behind `instructions`, counted in the text of one kernel whose `width` is known.
void count_signs(Figures&, const Symptoms&, const std::string& isa);

// Limits of a device that decide occupancy, per compute unit.
struct Unit {
  int simds = 0;                   // each with waves of its own
  int waves = 0;                   // at most, of a SIMD
  int registers = 0, granule = 1;  // per lane of a SIMD, allocated in units of `granule`; 0: never the limit
  int scalars = 0, scalar_granule = 1;  // the same per SIMD
  std::int64_t local_bytes = 0,
               reserved = 0;  // of the compute unit; allocated to each work-group beside its own
  int groups = 0;             // at most, of the compute unit; 0: as many as there are waves
};

// Fills `waves` and `occupancy`. `group` items launched together, 0 where the driver chooses; `local`: bytes
// of their arguments in local memory. Returns what is the limit: registers, local memory, groups; nothing at
// full occupancy.
std::string occupy(Figures&, const Unit&, std::uint64_t group, std::uint64_t local);

}  // namespace clweave::compilers
