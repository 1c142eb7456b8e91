// SPDX-License-Identifier: Apache-2.0
// own_families: families of the suite written again as descriptions, as a user would write theirs.
#pragma once
#include <string>

#include "description/description.hpp"
#include "device/program.hpp"

namespace clweave::commands {

struct OwnFamily {
  std::string name, toml, kernels;

  suite::Family family(const std::filesystem::path& folder = "/nowhere") const {
    return description::family_of(
        description::parse_description(toml, name + ".toml", folder / (name + ".cl"), kernels));
  }
};

// The suite's kernels of a family, without the line that includes another file.
inline std::string kernels_of(const std::string& stem) {
  std::string text(embedded_kernels.at(stem));
  for (auto at = text.find("#include"); at != std::string::npos; at = text.find("#include"))
    text.erase(at, text.find('\n', at) - at);
  return text;
}

inline OwnFamily own_copy() {
  return {"own_copy",
          R"toml(
question = "How do loop structure and launch configuration of a copy kernel affect bandwidth?"
valid = ["kernel == 'grid_stride' || groups == 8192", "kernel == 'ilp' || ilp == 1",
         "kernel != 'buffer' || (width == 4 && group == 256)"]
[axes]
kernel = ["no_loop", "grid_stride", "ilp", "buffer"]
width = { values = [4, 1, 2, 8, 16], tunable = true }
group = { values = [256, 32, 64, 128], tunable = true }
groups = { values = [8192, 2, 8, 32], tunable = true, when = "kernel == 'grid_stride'" }
ilp = { values = [1, 2, 4], tunable = true, when = "kernel == 'ilp'" }
n = [16777216, 1000, 4099]
[defines]
T = "'uint'"
W = "width"
V = "width == 1 ? 'uint' : width == 2 ? 'uint2' : width == 4 ? 'uint4' : width == 8 ? 'uint8' : 'uint16'"
LANES = 1
ILP = "ilp"
[buffers]
in = { type = "uint", count = "n", contents = { random = [0, 4294967295] } }
out = { type = "uint", count = "n" }
[[launches]]
kernel = "{kernel}"
when = "kernel != 'buffer'"
global = """kernel == 'grid_stride' ? group * groups
            : round_up(ceil_div(max(floor(n / width), 1), ilp), group)"""
local = "group"
args = ["out", "in", { uint = "n" }]
[[launches]]
copy = { from = "in", to = "out" }
when = "kernel == 'buffer'"
[cost]
read = "4 * n"
written = "4 * n"
items = "n"
bound = "memory"
[[checks]]
buffer = "out"
expression = "in[i]"
[presets]
smoke = ["kernel=no_loop,grid_stride,ilp width=4,1,16 group=32 groups=2 ilp=2 n=1000,4099",
         "kernel=no_loop,grid_stride width=4,1 group=64 groups=8 ilp=1 n=1000", "kernel=buffer n=1000"]
)toml",
          "#define STORE(pointer, value) (*(pointer) = (value))\n" + kernels_of("copy")};
}

// What its kernels compute, by the shortest program.
inline OwnFamily own_lanes() {
  return {"own_lanes",
          R"toml(
question = "What does branch divergence cost, and how wide is the SIMD unit?"
valid = "paths > 1 || granularity == 1"
[axes]
paths = [1, 2, 4, 8, 16, 32, 64]
granularity = { values = [1, 2, 4, 8, 16, 32, 64, 128, 256], when = "paths > 1" }
iterations = { values = [256], from = 0, to = 1000000 }
n = { values = [262144], from = 1, to = 1000000 }
group = [256, 64]
[defines]
PATHS = "paths"
MULTIPLIER = 1664525
INCREMENT = 1013904223
[buffers]
in = { type = "uint", count = "n", contents = { random = [0, 4294967295] } }
out = { type = "uint", count = "n" }
[[launches]]
kernel = "branch_divergence"
global = "round_up(n, group)"
local = "group"
args = ["out", "in", { uint = "n" }, { uint = "iterations" }, { uint = "granularity" }]
[cost]
read = "4 * n"
written = "4 * n"
items = "n"
[[checks]]
buffer = "out"
reference = { kernel = "chains", global = "n", args = ["out", "in", { uint = "iterations" }, { uint = "granularity" }] }
[presets]
smoke = "paths=1,2,64 granularity=1,16 iterations=4 n=1,300 group=64"
[view]
rows = "paths"
columns = "granularity"
quantity = "slowdown"
)toml",
          kernels_of("branch_divergence") + R"toml(
__kernel void chains(__global uint* out, __global const uint* in, const uint iterations, const uint granularity) {
  const uint item = (uint)get_global_id(0), path = item / granularity % PATHS;
  uint x = in[item];
  for (uint i = 0; i < iterations; ++i) x = STEP(path);
  out[item] = x;
}
)toml"};
}

inline OwnFamily own_matrix() {
  return {"own_matrix",
          R"toml(
question = "What does branch divergence cost beside the access pattern of the same kernel?"
valid = "kernel != 'loop' || group_y == 1"
[axes]
kernel = ["loop", "grid", "unweave", "nobranch"]
parity = ["row", "column"]
mapping = ["row_first", "column_first"]
operands = ["ab", "a"]
n = [1024, 33, 64]
group_x = [256, 16]
group_y = [1, 16]
launches = [1, 2]
index = ["ulong", "uint"]
[defines]
T = "'float'"
T_BITS = 32
PARITY_ROW = "parity == 'row'"
ROW_FIRST = "mapping == 'row_first'"
OPERANDS_AB = "operands == 'ab'"
GUARD = "n % group_x != 0 || (kernel != 'loop' && n % group_y != 0)"
PADDING = 0
INDEX = "index"
[buffers]
a = { type = "float", count = "n * n", contents = { random = [-1, 1] } }
b = { type = "float", count = "n * n", contents = { random = [-1, 1] } }
c = { type = "float", count = "n * n" }
[[launches]]
kernel = "{kernel}"
when = "kernel != 'loop' && operands == 'ab'"
global = ["round_up(n, group_x)", "round_up(n, group_y)"]
local = ["group_x", "group_y"]
args = ["a", "b", "c", { uint = "n" }]
loops = [{ k = [1, "launches"] }]
[[launches]]
kernel = "{kernel}"
when = "kernel != 'loop' && operands == 'a'"
global = ["round_up(n, group_x)", "round_up(n, group_y)"]
local = ["group_x", "group_y"]
args = ["a", "a", "c", { uint = "n" }]
loops = [{ k = [1, "launches"] }]
[[launches]]
kernel = "loop"
when = "kernel == 'loop' && operands == 'ab'"
global = "round_up(n, group_x)"
local = "group_x"
args = ["a", "b", "c", { uint = "n" }]
loops = [{ k = [1, "launches"] }]
[[launches]]
kernel = "loop"
when = "kernel == 'loop' && operands == 'a'"
global = "round_up(n, group_x)"
local = "group_x"
args = ["a", "a", "c", { uint = "n" }]
loops = [{ k = [1, "launches"] }]
[cost]
read = "4 * launches * n * n * (operands == 'ab' ? 2 : 1)"
written = "4 * launches * n * n"
operations = "launches * n * n"
items = "launches * n * n"
bound = "memory"
[[checks]]
buffer = "c"
expression = """mod(parity == 'row' ? floor(i / n) : mod(i, n), 2) == 0
                ? a[i] + (operands == 'ab' ? b[i] : a[i])
                : a[i] - (operands == 'ab' ? b[i] : a[i])"""
[presets]
smoke = ["kernel=grid,unweave,nobranch parity=row,column mapping=row_first,column_first n=33,64 group_x=16 group_y=16",
         "kernel=loop parity=row,column mapping=row_first,column_first operands=ab,a n=33 group_x=256 group_y=1",
         "kernel=grid operands=a n=64 group_x=16 group_y=16 launches=2 index=uint"]
)toml",
          kernels_of("matrix_access")};
}

}  // namespace clweave::commands
