// SPDX-License-Identifier: Apache-2.0
// divergence: does it cost to let neighbouring work-items take different branches, and is that cost not
// rather one of memory access?
//
// After E. Holk, "Access Patterns Matter" (2012), its follow-up and its code (bench-thread-diverge, d4c7427):
// C = A + B on even rows or columns, A - B on odd ones, n x n. The published unweave and nobranch kernels
// never computed that; here they are corrected, and the originals are exhibits (form=published).
//
// Counted bytes: every operand matrix read once, C written once.
#include <algorithm>

#include "suite/family.hpp"

namespace clweave {

namespace {

template <class T>
Plan plan(const Case& at, const DeviceInfo& device) {
  const auto n = static_cast<std::uint64_t>(at.number("n"));
  const std::string& kernel = at.text("kernel");
  const bool parity_row = at.is("parity", "row");
  const bool both = at.is("operands", "ab");
  const bool published = at.is("form", "published");
  const Range local = range_of(text_of(at.at("group")));
  if (local.size() != (kernel == "loop" ? 1 : 2))
    throw Error(Kind::unsupported, "group=" + text_of(local) +
                                       ": loop takes one number, such as 256, the others two, such as 16x16");
  Plan::need_type<T>(device);

  Range global;
  for (auto extent : local) global.push_back(round_up(n, extent));
  Plan::need(!published || global == Range(global.size(), n),
             "as published it checks no bounds: n must be a multiple of the work-group");

  Plan p;
  p.define("T", type_name<T>()).define("T_BITS", 8 * sizeof(T));
  p.define("PARITY_ROW", parity_row ? 1 : 0).define("ROW_FIRST", at.is("mapping", "row_first") ? 1 : 0);
  p.define("OPERANDS_AB", both ? 1 : 0).define("GUARD", global[0] != n || global.back() != n ? 1 : 0);

  const Random<T> left(at.seed, 1);
  const Random<T> right(at.seed, 2);
  const auto a = p.input<T>(n * n, left);
  const auto b = both ? p.input<T>(n * n, right) : a;
  const auto c = p.output<T>(n * n);
  // OpenCL C keeps `select` and `signbit` for itself.
  std::string entry = kernel == "select" || kernel == "signbit" ? kernel + "_" : kernel;
  if (published) entry += "_published";
  p.launch(entry, global, local, a, b, c, static_cast<std::uint32_t>(n));
  p.expect<T>(c, [=](std::uint64_t i) {
    const std::uint64_t decides = parity_row ? i / n : i % n;
    const T other = both ? right(i) : left(i);
    return decides % 2 == 0 ? left(i) + other : left(i) - other;
  });
  const std::uint64_t matrix = n * n * sizeof(T);
  p.cost = {.read = both ? 2 * matrix : matrix, .written = matrix, .flops = n * n, .items = n * n};
  p.ceiling = Ceiling::copy;
  if (published)
    p.exhibit = kernel == "unweave" ? "as published, its index is initialised from itself"
                                    : "as published, its factor is 1 - 2 in an unsigned type";
  return p;
}

bool makes_sense(const Case& at) {
  const bool line = text_of(at.at("group")).find('x') == std::string::npos;
  if (at.is("kernel", "loop") != line) return false;
  if (at.is("form", "corrected")) return true;
  return (at.is("kernel", "unweave") || at.is("kernel", "nobranch")) && at.is("mapping", "row_first");
}

// The geometric mean of time(from) / time(to) over the pairs of cases that differ in one axis alone.
std::optional<double> ratio(const std::vector<Outcome>& outcomes, const std::string& axis,
                            const std::string& from, const std::string& to,
                            const std::function<bool(const Case&)>& counts) {
  double sum = 0;
  int pairs = 0;
  for (const auto& one : outcomes) {
    if (!one.at.is(axis, from) || !counts(one.at)) continue;
    Case other = one.at;
    for (auto& [name, value] : other.axes) {
      if (name == axis) value = to;
    }
    const auto twin = std::ranges::find(outcomes, other.id(), [](const Outcome& o) { return o.at.id(); });
    if (twin == outcomes.end()) continue;
    sum += std::log(one.time_s / twin->time_s);
    ++pairs;
  }
  if (pairs == 0) return {};
  return std::exp(sum / pairs);
}

std::vector<Finding> findings(const std::vector<Outcome>& outcomes, const DeviceInfo& /*device*/) {
  std::int64_t largest = 0;
  for (const auto& outcome : outcomes) largest = std::max(largest, outcome.at.number("n"));
  const auto of_kernel = [largest](const char* kernel) {
    return [=](const Case& at) {
      return at.is("kernel", kernel) && at.is("form", "corrected") && at.number("n") == largest;
    };
  };
  const auto any = [largest](const Case& at) {
    return at.is("form", "corrected") && at.number("n") == largest;
  };
  std::vector<Finding> out;
  const auto add = [&](const char* name, std::optional<double> value, const char* text) {
    if (value) out.push_back({name, *value, "ratio", std::string(text) + ", n=" + std::to_string(largest)});
  };
  add("coalescing_penalty", ratio(outcomes, "mapping", "row_first", "column_first", of_kernel("grid")),
      "time of grid when neighbours lie a row apart over when they are adjacent");
  add(
      "loop_over_grid",
      [&]() -> std::optional<double> {
        // Loop and grid differ in their local shape too, so the best of each is compared.
        double loop = 0, grid = 0;
        for (const auto& o : outcomes) {
          if (!any(o.at)) continue;
          double* best = o.at.is("kernel", "loop") ? &loop : o.at.is("kernel", "grid") ? &grid : nullptr;
          if (best != nullptr && (*best == 0 || o.time_s < *best)) *best = o.time_s;
        }
        if (loop == 0 || grid == 0) return {};
        return loop / grid;
      }(),
      "best time of one item per line over best time of one item per element");
  add("unweave_gain", ratio(outcomes, "kernel", "grid", "unweave", any),
      "time of the divergent grid over the unwoven one");
  add("branch_cost", ratio(outcomes, "kernel", "grid", "nobranch", any),
      "time of the branch over arithmetic in its place");
  add("parity_row_over_column", ratio(outcomes, "parity", "row", "column", of_kernel("grid")),
      "time of grid when the row decides over when the column does");
  return out;
}

}  // namespace

Family divergence() {
  const Values kernels = {"loop", "grid", "unweave", "nobranch", "select", "signbit"};
  const Values published_kernels = {"loop", "grid", "unweave", "nobranch"};
  const Values parities = {"row", "column"};
  const Values mappings = {"row_first", "column_first"};
  const Values operands = {"ab", "a"};
  const Values locals = {"256", "16x16"};  // as published: the loop's and the others'
  const Values exhibits = {"unweave", "nobranch"};
  return {
      .name = "divergence",
      .question = "What do divergent branches cost beside the access pattern of the same kernel?",
      .axes = {{.name = "kernel",
                .meaning = "loop: one item per line; grid: one per element; unweave: neighbours take the "
                           "same branch; nobranch, select, signbit: no branch in the source",
                .values = kernels},
               {.name = "parity", .meaning = "the index that decides between + and -", .values = parities},
               {.name = "mapping",
                .meaning =
                    "row_first: dimension 0 is the row, as published, uncoalesced; column_first: the column",
                .values = mappings},
               {.name = "operands",
                .meaning = "ab: A and B are read; a: only A, as first published",
                .values = operands},
               {.name = "type", .meaning = "element type", .values = {"double", "float"}},
               {.name = "n",
                .meaning = "rows and columns of the matrices",
                .values = {1024},
                .takes = whole(1, 1 << 30)},
               {.name = "group",
                .meaning = "work-group shape; one number for loop, two for the others",
                .values = {"16x16", "32x8", "64x4", "256x1", "1x256", "256"},
                .tunable = true,
                .former = {"local"},
                .takes = shapes(1, 65536)},
               {.name = "form",
                .meaning = "corrected: does its work; published: exhibit of a known error",
                .values = {"corrected", "published"}}},
      .presets = {.smoke = {"kernel=" + kernels + " parity=" + parities + " mapping=" + mappings +
                                " type=float n=33 group=" + locals,
                            "kernel=" + kernels + " operands=a n=1,64 group=" + locals,
                            "kernel=grid type=float n=64 group=32x8,64x4,256x1,1x256",
                            "kernel=" + exhibits + " parity=" + parities + " type=float n=64 form=published"},
                  .quick = {"kernel=loop,grid,unweave,nobranch parity=" + parities + " mapping=" + mappings +
                                " type=float n=4096 group=" + locals,
                            "kernel=grid parity=" + parities + " mapping=" + mappings + " type=float",
                            "kernel=select,signbit mapping=" + mappings + " type=float n=4096",
                            "kernel=" + exhibits + " parity=" + parities + " type=float form=published"},
                  .paper = {"kernel=" + published_kernels + " parity=" + parities + " operands=" + operands +
                                " group=" + locals,
                            "kernel=" + exhibits + " parity=" + parities + " operands=" + operands +
                                " form=published"},
                  .full = {"kernel=" + kernels + " parity=" + parities + " mapping=" + mappings +
                               " operands=" + operands +
                               " type=double,float n=512,1000,1024,2048,4096,8192 group=" + locals,
                           "kernel=grid,unweave parity=" + parities + " mapping=" + mappings +
                               " n=1024,1040,8192 group=16x16,32x8,64x4,256x1,1x256",
                           "kernel=" + exhibits + " parity=" + parities + " operands=" + operands +
                               " form=published"}},
      .view = {.rows = {"kernel"}, .columns = {"mapping", "parity"}, .quantity = "rate"},
      .makes_sense = makes_sense,
      .plan = for_types<float, double>(
          []<class T>(const Case& at, const DeviceInfo& device) { return plan<T>(at, device); }),
      .findings = findings};
}

}  // namespace clweave
