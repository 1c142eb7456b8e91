// SPDX-License-Identifier: Apache-2.0
// matrix_access: is the cost of a divergent matrix kernel one of its branches, or of its memory access?
//
// After E. Holk, "Access Patterns Matter" (2012), its follow-up and its code (bench-thread-diverge, d4c7427):
// C = A + B on even rows or columns, A - B on odd ones, n x n. The published unweave and nobranch kernels
// never computed that; here they are corrected, and the originals are known-incorrect cases
// (form=known_incorrect).
//
// Rates count, for every launch, each operand matrix read once and C written once, without padding between
// rows.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "suite/family.hpp"

namespace clweave::families {

namespace {

// Returns the kernel's name in the published code, which has rows in dimension 0; empty if it has none.
std::string published_name(const Case& at) {
  static const std::map<std::string, std::pair<const char*, const char*>> names = {
      {"loop", {"MyAdd", "MyAdd_col"}},
      {"grid", {"MyAdd_2D", "MyAdd_2D_col"}},
      {"unweave", {"MyAdd_2D_unweave", "MyAdd_2D_unweave_col"}},
      {"nobranch", {"MyAdd_2D_nobranch", "MyAdd_2D_col_nobranch"}}};
  const auto it = names.find(at.text("kernel"));
  if (it == names.end() || !at.is("mapping", "row_first")) return {};
  return at.is("parity", "row") ? it->second.first : it->second.second;
}

// Value of an output element that was not written.
template <class T>
T unwritten(std::uint64_t i) {
  T value;
  std::memcpy(&value, &poison[i * sizeof(T) % poison.size()], sizeof(T));
  return value;
}

template <class T>
Plan plan(const Case& at, const DeviceInfo& device) {
  const auto n = static_cast<std::uint64_t>(at.number("n"));
  const std::string& kernel = at.text("kernel");
  const bool parity_row = at.is("parity", "row");
  const bool both = at.is("operands", "ab");
  const bool published = at.is("form", "known_incorrect");
  const std::uint64_t padding = at.count("padding", 0, 1 << 20), pitch = n + padding;
  const std::uint64_t launches = at.count("launches", 1, 16);
  const Range local = range_of(text_of(at.at("group")));
  if (local.size() != (kernel == "loop" ? 1 : 2))
    throw Error(ErrorCode::unsupported,
                "group=" + text_of(local) +
                    ": kernel loop takes one number, such as 256, the others two, such as 16x16");
  Plan::need_type<T>(device);

  Range global;
  for (auto extent : local) global.push_back(round_up(n, extent));
  Plan::need(!published || global == Range(global.size(), n),
             "as published it checks no bounds: n must be a multiple of the work-group");

  Plan p;
  p.define("T", type_name<T>()).define("T_BITS", 8 * sizeof(T));
  p.define("PARITY_ROW", parity_row ? 1 : 0).define("ROW_FIRST", at.is("mapping", "row_first") ? 1 : 0);
  p.define("OPERANDS_AB", both ? 1 : 0).define("GUARD", global[0] != n || global.back() != n ? 1 : 0);
  p.define("PADDING", padding).define("INDEX", at.text("index"));
  Plan::need(at.is("index", "ulong") || n * pitch <= UINT32_MAX,
             "the matrix has more elements than a uint can index");

  const Random<T> left(at.seed, 1);
  const Random<T> right(at.seed, 2);
  const auto a = p.input<T>(n * pitch, left);
  const auto b = both ? p.input<T>(n * pitch, right) : a;
  const auto c = p.output<T>(n * pitch);
  // OpenCL C keeps `select` and `signbit` for itself.
  std::string entry = kernel == "select" || kernel == "signbit" ? kernel + "_" : kernel;
  if (published) entry += "_published";
  for (std::uint64_t launch = 0; launch < launches; ++launch)
    p.launch(entry, global, local, a, b, c, static_cast<std::uint32_t>(n));
  p.expect<T>(c, [=](std::uint64_t i) {
    if (i % pitch >= n) return unwritten<T>(i);
    const std::uint64_t decides = parity_row ? i / pitch : i % pitch;
    const T other = both ? right(i) : left(i);
    return decides % 2 == 0 ? left(i) + other : left(i) - other;
  });
  const std::uint64_t elements = launches * n * n, bytes = elements * sizeof(T);
  p.cost = {.read = both ? 2 * bytes : bytes, .written = bytes, .flops = elements, .items = elements};
  p.peak = Peak::copy;
  if (const std::string name = published_name(at); !name.empty())
    p.derived.emplace_back("published_as", name);
  if (published)
    p.known_incorrect =
        kernel == "unweave"
            ? "as published, `ulong row = 2 * row` reads the new variable before it has a value"
            : "as published, its factor is 1 - 2 in an unsigned type";
  return p;
}

bool is_valid(const Case& at) {
  const bool line = text_of(at.at("group")).find('x') == std::string::npos;
  if (at.is("kernel", "loop") != line) return false;
  if (at.is("form", "corrected")) return true;
  if (at.number("padding") != 0 || !at.is("index", "ulong")) return false;
  return (at.is("kernel", "unweave") || at.is("kernel", "nobranch")) && at.is("mapping", "row_first");
}

// Computes the geometric mean of time(from) / time(to) over pairs of cases that differ in one axis only.
std::optional<double> ratio(const std::vector<Outcome>& outcomes, const std::string& axis,
                            const std::string& from, const std::string& to,
                            const std::function<bool(const Case&)>& counts) {
  std::vector<const Outcome*> here;
  for (const auto& o : outcomes) {
    if (counts(o.at)) here.push_back(&o);
  }
  double sum = 0;
  int pairs = 0;
  for (const auto* one : here) {
    if (!one->at.is(axis, from)) continue;
    const auto axes = one->at.with(axis, to).axes;
    const auto twin = std::ranges::find_if(here, [&](const Outcome* o) { return o->at.axes == axes; });
    if (twin == here.end()) continue;
    sum += std::log(one->time_s / (*twin)->time_s);
    ++pairs;
  }
  if (pairs == 0) return {};
  return std::exp(sum / pairs);
}

// Adds the published table: milliseconds by kernel and the speed-up over MyAdd; and the difference of two
// launches and one, as its author timed.
void add_published_table(std::vector<Finding>& out, const std::vector<Outcome>& outcomes) {
  std::map<std::string, std::map<std::string, const Outcome*>> by_type;
  std::map<std::string, const Outcome*> twice;  // by the id of the single launch
  for (const auto& o : outcomes) {
    const std::string name = published_name(o.at);
    if (name.empty() || o.at.number("n") != 1024 || !o.at.is("form", "corrected")) continue;
    if (!o.at.is("operands", "a") || !o.at.is("index", "ulong") || o.at.number("padding") != 0) continue;
    if (text_of(o.at.at("group")) != (o.at.is("kernel", "loop") ? "256" : "16x16")) continue;
    if (o.at.number("launches") == 1) by_type[o.at.text("type")][name] = &o;
    if (o.at.number("launches") == 2) twice[o.at.text("type") + name] = &o;
  }
  for (const auto& [type, by_name] : by_type) {
    if (!by_name.contains("MyAdd")) continue;
    const double first = by_name.at("MyAdd")->time_s;
    for (const auto& [name, o] : by_name) {
      std::string text = fmt::format("{} of {}: {:.4g} ms, {:.3g} times as fast as MyAdd", name, type,
                                     1e3 * o->time_s, first / o->time_s);
      if (twice.contains(type + name))
        text += fmt::format("; by the difference of two launches and one {:.4g} ms",
                            1e3 * (twice.at(type + name)->time_s - o->time_s));
      std::string finding = fmt::format("ms_{}_{}", name, type);
      std::ranges::transform(finding, finding.begin(), [](unsigned char c) { return std::tolower(c); });
      out.push_back(
          {.name = finding, .value = 1e3 * o->time_s, .unit = "ms", .text = text, .published = finding});
    }
  }
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
  add("uncoalesced_slowdown", ratio(outcomes, "mapping", "row_first", "column_first", of_kernel("grid")),
      "time of grid: neighbouring work-items a row apart / adjacent");
  add(
      "loop_over_grid",
      [&]() -> std::optional<double> {
        // Loop and grid also differ in work-group shape, so compare the best of each.
        double loop = 0, grid = 0;
        for (const auto& o : outcomes) {
          if (!any(o.at)) continue;
          double* best = o.at.is("kernel", "loop") ? &loop : o.at.is("kernel", "grid") ? &grid : nullptr;
          if (best != nullptr && (*best == 0 || o.time_s < *best)) *best = o.time_s;
        }
        if (loop == 0 || grid == 0) return {};
        return loop / grid;
      }(),
      "best time of one work-item per row or column / one per element");
  add("unweave_gain", ratio(outcomes, "kernel", "grid", "unweave", any),
      "time of grid, divergent / of unweave");
  add("branch_cost", ratio(outcomes, "kernel", "grid", "nobranch", any),
      "time with a branch / with branch-free arithmetic");
  add("parity_row_over_column", ratio(outcomes, "parity", "row", "column", of_kernel("grid")),
      "time of grid: parity of the row / of the column");
  add_published_table(out, outcomes);
  return out;
}

}  // namespace

Family matrix_access() {
  const Values kernels = {"loop", "grid", "unweave", "nobranch", "select", "signbit"};
  const Values published_kernels = {"loop", "grid", "unweave", "nobranch"};
  const Values parities = {"row", "column"};
  const Values mappings = {"row_first", "column_first"};
  const Values operands = {"ab", "a"};
  const Values locals = {"256", "16x16"};  // as published: the loop's and the others'
  const Values known_incorrect_cases = {"unweave", "nobranch"};
  return {
      .name = "matrix_access",
      .question = "What does branch divergence cost beside the access pattern of the same kernel?",
      .brief = "divergence beside the access pattern",
      .axes = {{.name = "kernel",
                .meaning =
                    "loop: one work-item per row or column (published as MyAdd); grid: one per element "
                    "(MyAdd_2D); unweave: the same, indices permuted so that neighbouring work-items take "
                    "the same branch "
                    "(MyAdd_2D_unweave); nobranch, select, signbit: no branch in the source",
                .values = kernels},
               {.name = "parity", .meaning = "index whose parity selects + or -", .values = parities},
               {.name = "mapping",
                .meaning = "row_first: dimension 0 is the row, as published: neighbouring work-items are a "
                           "row apart; column_first: the column: they are adjacent",
                .values = mappings},
               {.name = "operands",
                .meaning = "ab: A and B are read; a: only A, as first published",
                .values = operands},
               {.name = "type", .meaning = "element type", .values = {"double", "float"}},
               {.name = "n",
                .meaning = "rows and columns of the matrices",
                .values = {1024},
                .domain = whole(1, 1 << 30)},
               {.name = "group",
                .meaning = "work-group shape; one number for loop, two for the others",
                .values = {"16x16", "32x8", "64x4", "256x1", "1x256", "256"},
                .tunable = true,
                .domain = shapes(1, 65536)},
               {.name = "form",
                .meaning = "corrected: does its work; known_incorrect: a published kernel with a known error",
                .values = {"corrected", "known_incorrect"}},
               {.name = "padding",
                .meaning = "unused elements between rows, so that the row pitch is no power of two; 0: none",
                .values = {0, 16},
                .domain = whole(0, 1 << 20)},
               {.name = "index",
                .meaning =
                    "type of the index arithmetic: ulong as in the published code, uint as in its text",
                .values = {"ulong", "uint"}},
               {.name = "launches",
                .meaning = "launches per timed execution: time(2) - time(1) is one launch",
                .values = {1, 2},
                .domain = whole(1, 16)}},
      .presets = {.smoke = {"kernel=" + kernels + " parity=" + parities + " mapping=" + mappings +
                                " type=float n=33 group=" + locals,
                            "kernel=" + kernels + " operands=a n=1,64 group=" + locals,
                            "kernel=grid type=float n=64 group=32x8,64x4,256x1,1x256",
                            "kernel=loop,grid,unweave type=float n=33 group=" + locals +
                                " padding=16 index=uint launches=2",
                            "kernel=" + known_incorrect_cases + " parity=" + parities +
                                " type=float n=64 form=known_incorrect"},
                  .quick = {"kernel=grid,unweave,nobranch parity=" + parities + " mapping=" + mappings +
                                " type=float n=4096 group=16x16",
                            "kernel=loop parity=" + parities + " mapping=" + mappings +
                                " type=float n=4096 group=256",
                            "kernel=select,signbit mapping=" + mappings + " type=float n=4096",
                            "kernel=" + known_incorrect_cases + " parity=" + parities +
                                " type=float form=known_incorrect"},
                  .profile = {"kernel=grid mapping=" + mappings + " type=float n=4096"},
                  .paper = {"kernel=" + published_kernels + " parity=" + parities + " mapping=" + mappings +
                                " operands=" + operands + " type=double,float group=" + locals,
                            // Influence of size, index type and timing on the published numbers.
                            "kernel=loop,grid,unweave parity=" + parities + " mapping=" + mappings +
                                " operands=a type=double,float group=" + locals + " padding=16",
                            "kernel=" + published_kernels + " parity=" + parities +
                                " operands=a type=double,float group=" + locals + " index=uint",
                            "kernel=" + published_kernels + " parity=" + parities +
                                " operands=a type=double,float group=" + locals + " launches=2",
                            "kernel=loop,grid,unweave parity=" + parities + " mapping=" + mappings +
                                " operands=a type=float n=4096,16384 group=" + locals + " padding=0,16",
                            "kernel=" + known_incorrect_cases + " parity=" + parities +
                                " operands=" + operands + " form=known_incorrect"},
                  .full = {"kernel=" + kernels + " parity=" + parities + " mapping=" + mappings +
                               " operands=" + operands +
                               " type=double,float n=512,1000,1024,2048,4096,8192,16384 group=" + locals,
                           "kernel=grid,unweave parity=" + parities + " mapping=" + mappings +
                               " n=1024,1040,8192 group=16x16,32x8,64x4,256x1,1x256",
                           "kernel=" + known_incorrect_cases + " parity=" + parities +
                               " operands=" + operands + " form=known_incorrect"}},
      .view = {.rows = {"kernel"},
               .columns = {"mapping", "parity"},
               .apart = {"parity"},
               .quantity = "rate",
               .chapter = "Divergence",
               .graphs = {{.name = "kernels by mapping and parity",
                           .kind = Graph::Kind::heat,
                           .x = {"mapping", "parity"},
                           .series = {"kernel"},
                           .quantity = "slowdown",
                           .findings = {"uncoalesced_slowdown", "loop_over_grid"}},
                          {.name = "size", .x = {"n"}, .series = {"kernel"}, .quantity = "rate"}}},
      .derived = {{"published_as", "the kernel's name in the published code"}},
      .is_valid = is_valid,
      .plan = for_types<float, double>(
          []<class T>(const Case& at, const DeviceInfo& device) { return plan<T>(at, device); }),
      .findings = findings,
      .trait_group = TraitGroup::memory,
      .traits = {{.finding = "uncoalesced_slowdown",
                  .unit = "x",
                  .meaning = "time of a matrix addition, neighbouring work-items a row apart / adjacent",
                  .headline = "matrix addition a row apart, slowdown"}}};
}

}  // namespace clweave::families
