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

using Figure = std::optional<std::int64_t>;  // empty: nobody says

struct Figures {
  Figure width, group_limit, registers, accumulators, scalars, scratch, spilled, local, waves, occupancy,
      instructions, branches, selects, fmas, loads, wide_loads, barriers, exchanges;
};

// All of them, in the order of tables. `heading` is for narrow ones, which the lowest `leaves` leaves first.
struct NamedFigure {
  const char* name;
  const char* heading;
  int leaves;
  const char* meaning;
  Figure Figures::*value;
};
inline constexpr std::array<NamedFigure, 18> all_figures = {{
    {"width", "width", 9, "work-items in lock-step", &Figures::width},
    {"group_limit", "limit", 1, "most items of a group", &Figures::group_limit},
    {"registers", "regs", 20, "vector registers of an item; Intel: registers of a thread",
     &Figures::registers},
    {"accumulators", "acc", 2, "accumulation registers of an item (AMD)", &Figures::accumulators},
    {"scalars", "scalar", 4, "scalar registers of a wave (AMD)", &Figures::scalars},
    {"scratch", "scratch", 18, "bytes of an item in memory, in place of registers", &Figures::scratch},
    {"spilled", "spills", 19, "registers that went there, as they did not suffice", &Figures::spilled},
    {"local", "local", 8, "bytes of local memory that the kernel declares", &Figures::local},
    {"waves", "waves", 3, "of a SIMD unit at once, by their registers", &Figures::waves},
    {"occupancy", "occ. %", 17, "waves at once of those possible; by registers, group and local memory, too",
     &Figures::occupancy},
    {"instructions", "instr.", 10, "as they stand, loops not multiplied", &Figures::instructions},
    {"branches", "branch", 16, "instructions by which items of a wave part", &Figures::branches},
    {"selects", "select", 15, "choices between two values without a branch", &Figures::selects},
    {"fmas", "fma", 14, "multiply-adds of an item", &Figures::fmas},
    {"loads", "loads", 13, "of an item from global memory", &Figures::loads},
    {"wide_loads", "16 B", 12, "those of 16 bytes or more", &Figures::wide_loads},
    {"barriers", "barrier", 11, "of the work-group", &Figures::barriers},
    {"exchanges", "lanes", 7, "shuffles, ballots and the like among a wave", &Figures::exchanges},
}};

// What in the text of instructions stands for what: a regular expression (RE2, multi-line). A group in it is
// the number of items that one such instruction does the work of, `each` how often it does it.
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

// What of a device decides how much of it a kernel occupies. A unit is what a work-group stays on.
struct Unit {
  int simds = 0;                        // with waves of their own
  int waves = 0;                        // most of a SIMD
  int registers = 0, granule = 1;       // of a lane of a SIMD, dealt out in such steps; 0: never the limit
  int scalars = 0, scalar_granule = 1;  // the same of a SIMD
  std::int64_t local_bytes = 0, reserved = 0;  // of the unit; that each group has beside its own
  int groups = 0;                              // most of the unit; 0: as many as there are waves
};

// Fills `waves` and `occupancy`. `group` items launched together, 0 where the driver chooses; `local`: bytes
// of their arguments in local memory. Returns what is the limit: registers, local memory, groups; nothing at
// full occupancy.
std::string occupy(Figures&, const Unit&, std::uint64_t group, std::uint64_t local);

}  // namespace clweave::compilers
