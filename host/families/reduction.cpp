// SPDX-License-Identifier: Apache-2.0
// reduction: reduction of n values, by each step of the classic optimisation ladder and by newer kernels.
//
// The ladder is Harris's (2007), as taught by Vuduc (2014): each kernel adds one optimisation to the one
// before. Where the published code relied on warp-synchronous execution, or had a barrier in divergent
// control flow, this one is corrected.
//
// The whole reduction is timed; column steps_s has the share of later launches. Counted bytes: n values read,
// one written.
#include <fmt/format.h>

#include <bit>
#include <limits>
#include <memory>
#include <mutex>

#include "base/parallel.hpp"
#include "families/shared/search_values.hpp"
#include "families/shared/subgroup.hpp"
#include "suite/device_size.hpp"
#include "suite/family.hpp"

namespace clweave::families {

namespace {

enum class Op : std::uint8_t { sum, min, max };

Op op_of(const Case& at) { return at.is("op", "sum") ? Op::sum : at.is("op", "min") ? Op::min : Op::max; }

// Describes one launch: of `count` values, output j is the reduction of blocks j, j + outputs .. of `block`
// values.
struct Pass {
  std::uint64_t count, block, outputs;
  double depth;  // longest chain of dependent operations
};

// Expected outputs of each pass, computed on every core on first use. Floats are summed in double, doubles in
// long double.
template <class T>
class Reference {
 public:
  using Wide = std::conditional_t<std::is_same_v<T, float>, double,
                                  std::conditional_t<std::is_same_v<T, double>, long double, T>>;

  Reference(Op op, std::uint64_t seed, std::vector<Pass> passes)
      : op_(op), random_(seed, 1), passes_(std::move(passes)) {}

  // Floats are positive, so that sums do not cancel and the error bound is relative to the sum.
  T element(std::uint64_t i) const {
    const T x = random_(i);
    if constexpr (std::is_floating_point_v<T>) return op_ == Op::sum ? std::abs(x) : x;
    return x;
  }

  Wide output(std::size_t pass, std::uint64_t j) {
    std::call_once(computed_, [this] { compute(); });
    return outputs_[pass][j];
  }

 private:
  Wide combined(Wide a, Wide b) const {
    switch (op_) {
      case Op::sum: return a + b;
      case Op::min: return std::min(a, b);
      default: return std::max(a, b);
    }
  }

  template <class Value>
  void fold(const Pass& pass, const Value& value) {
    std::vector<Wide> folded(pass.outputs);
    for_stretches(pass.outputs, 1, [&](std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t j = begin; j < end; ++j) {
        Wide all = value(j * pass.block);
        std::uint64_t first = j * pass.block + 1;  // of the remaining blocks
        for (std::uint64_t block = j; block * pass.block < pass.count; block += pass.outputs) {
          const std::uint64_t last = std::min(pass.count, (block + 1) * pass.block);
          for (std::uint64_t i = std::max(first, block * pass.block); i < last; ++i)
            all = combined(all, value(i));
        }
        folded[j] = all;
      }
    });
    outputs_.push_back(std::move(folded));
  }

  void compute() {
    fold(passes_.front(), [this](std::uint64_t i) { return static_cast<Wide>(element(i)); });
    for (std::size_t pass = 1; pass < passes_.size(); ++pass)
      fold(passes_[pass], [&before = outputs_[pass - 1]](std::uint64_t i) { return before[i]; });
  }

  Op op_;
  Random<T> random_;
  std::vector<Pass> passes_;
  std::once_flag computed_;
  std::vector<std::vector<Wide>> outputs_;  // by pass
};

// Expects integers exactly; floating-point sums within the rounding error of `depth` additions of positive
// values, and bitwise equal in every run.
template <class T>
void expect_pass(Plan& p, Buffer b, const std::shared_ptr<Reference<T>>& reference, std::size_t pass,
                 double depth) {
  using Wide = typename Reference<T>::Wide;
  const auto want = [reference, pass](std::uint64_t j) { return reference->output(pass, j); };
  if constexpr (std::is_integral_v<T>) {
    p.expect<T>(b, want);
    return;
  }
  const double tolerance = depth * static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;
  p.expect<T>(
      b, [want](std::uint64_t j) { return static_cast<Wide>(want(j)); }, tolerance);
  struct Seen {
    std::mutex mutex;
    std::map<std::uint64_t, std::vector<std::byte>> bytes;  // by offset
  };
  p.checks.back().compare = [compare = p.checks.back().compare, seen = std::make_shared<Seen>()](
                                std::uint64_t offset, std::span<const std::byte> bytes) {
    ComparisonResult tally = compare(offset, bytes);
    if (tally.wrong > 0) return tally;
    const std::scoped_lock lock(seen->mutex);
    const auto [it, first] = seen->bytes.emplace(offset, std::vector<std::byte>(bytes.begin(), bytes.end()));
    const auto differs = std::ranges::mismatch(it->second, bytes).in1 - it->second.begin();
    if (std::cmp_less(differs, it->second.size())) {
      tally.wrong = 1;
      tally.first_wrong = (offset + static_cast<std::uint64_t>(differs)) / sizeof(T);
      tally.first_text = fmt::format("[{}] is not what it was in an earlier run", tally.first_wrong);
    }
    return tally;
  };
}

constexpr std::uint64_t most = 1ULL << 31;  // elements: the kernels count them in 32 bits

// Properties of a kernel.
struct Form {
  const char* variant;
  const char* kernel;
  std::uint64_t per_item;      // ladder: values that a work-item loads; 0: tiles
  std::uint64_t vector_bytes;  // tiles: bytes of a load; 0: one element
  bool shuffle, one_launch;
};
constexpr std::array<Form, 14> forms = {{{"interleaved", "interleaved", 1, 0, false, false},
                                         {"nondivergent", "nondivergent", 1, 0, false, false},
                                         {"sequential", "sequential", 1, 0, false, false},
                                         {"first_add", "first_add", 2, 0, false, false},
                                         {"last_warp", "last_warp", 2, 0, true, false},
                                         {"unrolled", "unrolled", 2, 0, true, false},
                                         {"more_work", "more_work", 2, 0, true, false},
                                         {"many", "tiles", 0, 0, false, false},
                                         {"vector", "tiles", 0, 16, false, false},
                                         {"subgroup", "tiles", 0, 16, true, false},
                                         {"single", "single", 0, 16, true, true},
                                         {"atomic", "atomic", 0, 16, true, true},
                                         {"run", "tiles", 0, 32, false, false},
                                         {"run_single", "single", 0, 32, false, true}}};

const Form& form_of(const Case& at) {
  // Returned for kernels of baselines (CUB, ...), which claims refer to: no property is set.
  static constexpr Form other{};
  const auto* const it =
      std::ranges::find_if(forms, [&](const Form& form) { return at.is("kernel", form.variant); });
  return it != forms.end() ? *it : other;
}
bool is_run(const Form& form) { return form.vector_bytes == 32; }

Values variants() {
  Values names;
  for (const auto& form : forms) names.emplace_back(std::string(form.variant));
  return names;
}

// Sums of int wrap as those of uint do.
template <class T>
using Summed = std::conditional_t<std::is_same_v<T, std::int32_t>, std::uint32_t,
                                  std::conditional_t<std::is_same_v<T, std::int64_t>, std::uint64_t, T>>;

template <class T>
std::string identity(Op op) {
  if (op == Op::sum) return "0";
  if (std::is_floating_point_v<T>) return op == Op::min ? "INFINITY" : "-INFINITY";
  if (std::is_unsigned_v<T>) return op == Op::min ? "UINT_MAX" : "0u";
  return (sizeof(T) == 4 ? "INT_" : "LONG_") + std::string(op == Op::min ? "MAX" : "MIN");
}

bool is_last_warp(const Form& form) { return form.per_item == 2 && form.shuffle; }
bool walks(const Case& at) { return at.is("kernel", "more_work"); }

// Returns the sub-group implementation of the final reduction. The last 64 values alone do not use
// sub-groups; and on CPUs they slow down the loop before: with Intel's runtime `single` takes 4 times as
// long, `atomic` 11 times.
SubgroupImpl fold_impl_of(const Case& at, const Form& form, const DeviceInfo& device, std::uint64_t group) {
  const bool lockstep = at.is("subgroup_impl", "warp_synchronous");
  if (!lockstep && !at.is("subgroup_impl", "best")) return subgroup_impl_of(at);
  const SubgroupImpl own = subgroup_impl_of(device);
  const std::uint64_t least = own == SubgroupImpl::amd ? 64 : 32;
  if (lockstep || at.is("kernel", "subgroup"))
    Plan::need(own != SubgroupImpl::portable, "neither sub-groups nor NVIDIA's or AMD's compiler");
  else if (own == SubgroupImpl::opencl && (is_last_warp(form) || device.type == "cpu"))
    return SubgroupImpl::portable;
  if (form.shuffle && group % least == 0) return own;
  Plan::need(
      !at.is("kernel", "subgroup"),
      fmt::format("its work-groups are multiples of {} work-items: others would reduce through local memory",
                  least));
  return SubgroupImpl::portable;
}

struct Passes {
  std::vector<Pass> all;
  std::uint64_t run = 0;  // adjacent tiles per work-group
};

// Plans the passes of work-items that load `vectors` times `width` values.
Passes passes_of(const Case& at, const Form& form, const DeviceInfo& device, std::uint64_t width,
                 std::uint64_t vectors) {
  const auto n = static_cast<std::uint64_t>(at.number("n"));
  const auto group = static_cast<std::uint64_t>(at.number("group"));
  const auto groups_for = [&](std::uint64_t parts) {
    const auto per_unit = static_cast<std::uint64_t>(at.number("groups_per_cu"));
    return std::min(parts, std::max(device.units() * per_unit, ceil_div(parts, device.most_turns())));
  };
  const auto tree = static_cast<double>(std::bit_width(group));
  Passes out;
  if (walks(at)) {
    const std::uint64_t block = 2 * group, blocks = ceil_div(n, block), groups = groups_for(blocks);
    out.all.push_back({n, block, groups, static_cast<double>(2 * ceil_div(blocks, groups)) + tree});
    if (groups > 1)
      out.all.push_back({groups, block, 1, static_cast<double>(2 * ceil_div(groups, block)) + tree});
  } else if (form.per_item > 0) {
    const std::uint64_t block = group * form.per_item;
    for (std::uint64_t count = n; out.all.empty() || count > 1; count = out.all.back().outputs)
      out.all.push_back({count, block, ceil_div(count, block), tree + 1});
  } else {
    const std::uint64_t tile = group * width * vectors;
    const std::uint64_t tiles = ceil_div(n, tile), wanted = groups_for(tiles);
    const bool strided = !is_run(form);
    out.run = ceil_div(tiles, wanted);
    const std::uint64_t groups = strided ? wanted : ceil_div(tiles, out.run);
    const double items = static_cast<double>(out.run + 2 * vectors * width) + tree;
    out.all.push_back({n, strided ? tile : tile * out.run, groups, items});
    if (form.one_launch || groups > 1)
      out.all.push_back(
          {groups, groups, 1, static_cast<double>(ceil_div(groups, group) + width + vectors) + tree});
  }
  return out;
}

// Lines of a cache, and the sectors of a line that NVIDIA's caches transfer, in bytes.
constexpr std::array<std::uint64_t, 3> lines = {32, 64, 128};

std::string transfers_of(std::uint64_t line) { return fmt::format("transfers_of_{}", line); }

// Adds, of a step of the ladder, the measures by which such an algorithm is designed (Blelloch 1990; Frigo,
// Leiserson, Prokop, Ramachandran 1999): the work W, n - 1 operations; the depth D, the longest chain of
// dependent ones over all launches; the parallelism W / D; and the transfers Q(Z, L) of lines of L bytes
// between memory and a cache of Z bytes. Results of a launch that fit the cache are not transferred to the
// next.
void derive_measures(Plan& p, const std::vector<Pass>& passes, std::uint64_t per_item, std::uint64_t group,
                     std::uint64_t value_bytes, std::uint64_t cache_bytes) {
  const std::uint64_t levels = std::bit_width(group) - 1;  // of the tree in a work-group
  const std::uint64_t work = passes.front().count - 1;
  std::uint64_t depth = 0, moved = 0;  // moved: bytes of results
  for (const auto& pass : passes) {
    const std::uint64_t blocks = ceil_div(pass.count, pass.block);
    depth += per_item * ceil_div(blocks, pass.outputs) - 1 + levels;
  }
  for (std::size_t k = 0; k + 1 < passes.size(); ++k) {
    const std::uint64_t bytes = passes[k].outputs * value_bytes;
    if (bytes > cache_bytes) moved += bytes;
  }
  p.derive("work", static_cast<std::int64_t>(work)).derive("depth", static_cast<std::int64_t>(depth));
  p.derived.emplace_back(
      "parallelism",
      fmt::format("{:.6g}", depth == 0 ? 1 : static_cast<double>(work) / static_cast<double>(depth)));
  for (const std::uint64_t line : lines) {
    const std::uint64_t read = ceil_div(passes.front().count * value_bytes, line);
    p.derive(transfers_of(line), static_cast<std::int64_t>(read + 1 + 2 * ceil_div(moved, line)));
  }
}

template <class T>
Plan plan_of_type(const Case& at, const DeviceInfo& device) {
  Plan::need_type<T>(device);
  const Form& form = form_of(at);
  const auto n = static_cast<std::uint64_t>(at.number("n"));
  const auto group = static_cast<std::uint64_t>(at.number("group"));
  const auto unroll = static_cast<std::uint64_t>(at.number("unroll"));
  if (is_last_warp(form) && group < 64)
    throw Error(ErrorCode::unsupported, "the last 64 partial sums need a work-group of 64 or more");
  const SubgroupImpl lanes = fold_impl_of(at, form, device, group);
  if (lanes == SubgroupImpl::ptx) Plan::need(group >= 32, "NVIDIA's shuffles are among 32 work-items");
  if (at.is("kernel", "atomic") || (form.one_launch && sizeof(T) == 8))
    Plan::need(device.int64_atomics, "the device has no 64-bit atomics (cl_khr_int64_base_atomics)");

  const Op op = op_of(at);
  const std::uint64_t width = form.vector_bytes == 0 ? 1 : form.vector_bytes / sizeof(T);
  const std::uint64_t vectors = is_run(form) ? std::max<std::uint64_t>(1, unroll / 2) : unroll;
  Plan p;
  use_subgroup_impl(p, lanes, device, group);
  p.derived.emplace_back("subgroup_impl_used", name_of(lanes));
  p.define("T", type_name<T>())
      .define("U", type_name<T>())
      .define("VALUE_BYTES", sizeof(T))
      .define("ELEMENT_VALUES", 1);
  p.define("OP", op == Op::sum ? 1 : op == Op::max ? 2 : 5).define("IDENTITY", identity<T>(op));
  p.define("EXCLUSIVE_SCAN", 0).define("INITIAL", 0);
  p.define("GROUP", group)
      .define("VEC", width)
      .define("UNROLL", vectors)
      .define("STRIDED", is_run(form) ? 0 : 1);
  p.define("LOCKSTEP", at.is("subgroup_impl", "warp_synchronous") ? 1 : 0);

  const auto [passes, run] = passes_of(at, form, device, width, vectors);

  const auto reference = std::make_shared<Reference<T>>(op, at.seed, passes);
  const auto in = p.input<T>(n, [reference](std::uint64_t i) { return reference->element(i); });
  const auto size = [&](const Pass& pass) { return Range{pass.outputs * group}; };
  const auto tiles_of_group = static_cast<std::uint32_t>(run);
  double depth = 0;
  if (!form.one_launch) {
    auto from = in;
    for (std::size_t k = 0; k < passes.size(); ++k) {
      const auto to = p.output<T>(passes[k].outputs);
      const auto count = static_cast<std::uint32_t>(passes[k].count);
      if (form.per_item > 0) {
        p.launch(form.kernel, size(passes[k]), {group}, to, from, count);
      } else {
        const std::uint64_t later = ceil_div(count, group * width * vectors);  // one work-group takes all
        p.launch(form.kernel, size(passes[k]), {group}, to, from, count,
                 k == 0 ? tiles_of_group : static_cast<std::uint32_t>(later));
      }
      depth += passes[k].depth;
      expect_pass<T>(p, to, reference, k, op == Op::sum ? depth : 0);
      from = to;
    }
  } else {
    const auto out = p.output<T>(1);
    const auto count = static_cast<std::uint32_t>(n);
    const auto zero = [](std::uint64_t) { return 0U; };  // which the kernels restore
    if (at.is("kernel", "atomic")) {
      const auto total = p.input<std::uint32_t>(2, zero);
      p.launch(form.kernel, size(passes[0]), {group}, out, in, count, tiles_of_group, total);
    } else {
      const auto partials = p.output<T>(passes[0].outputs);
      const auto finished = p.input<std::uint32_t>(1, zero);
      p.launch(form.kernel, size(passes[0]), {group}, out, in, count, tiles_of_group, partials, finished);
      expect_pass<T>(p, partials, reference, 0, op == Op::sum ? passes[0].depth : 0);
    }
    depth = passes[0].depth + passes[1].depth;
    expect_pass<T>(p, out, reference, 1, op == Op::sum ? depth : 0);
  }
  p.cost = {.read = n * sizeof(T), .written = sizeof(T), .flops = n - 1, .items = n};
  p.peak = Peak::read;
  p.derive("groups", static_cast<std::int64_t>(passes[0].outputs));
  p.derive("launches", static_cast<std::int64_t>(p.steps.size()));
  if (form.per_item > 0)
    derive_measures(p, passes, form.per_item, group, sizeof(T),
                    static_cast<std::uint64_t>(device.cache_bytes));
  return p;
}

Plan plan(const Case& at, const DeviceInfo& device) {
  return for_types<std::int32_t, std::uint32_t, std::int64_t, float, double>(
      []<class T>(const Case& c, const DeviceInfo& d) {
        return op_of(c) == Op::sum ? plan_of_type<Summed<T>>(c, d) : plan_of_type<T>(c, d);
      })(at, device);
}

// Keeps tunables that a kernel ignores at their default.
bool is_valid(const Case& at) {
  const Form& form = form_of(at);
  if (at.is("kernel", "subgroup") && at.is("subgroup_impl", "portable")) return false;  // is vector
  if (at.is("subgroup_impl", "warp_synchronous") && !is_last_warp(form)) return false;
  if (is_run(form) != (at.number("group") == 1)) return false;
  if (at.is("kernel", "atomic") && (!at.is("op", "sum") || !(at.is("type", "int") || at.is("type", "uint"))))
    return false;
  return form.per_item == 0 || (at.number("unroll") == 8 && (walks(at) || at.number("groups_per_cu") == 8));
}

constexpr std::int64_t published_n = 16777216;  // of the slides

// Adds the ladder: each kernel's best over the first, at the slides' size, else the largest measured for the
// first.
std::vector<Finding> findings(const std::vector<Outcome>& outcomes, const DeviceInfo& /*device*/) {
  const auto in_ladder = [](const Case& at) { return at.is("op", "sum") && at.is("type", "int"); };
  std::int64_t n = 0;
  for (const auto& o : outcomes) {
    if (!in_ladder(o.at) || !o.at.is("kernel", forms[0].variant)) continue;
    if (n != published_n) n = o.at.number("n") == published_n ? published_n : std::max(n, o.at.number("n"));
  }
  std::map<std::string, double> best;
  for (const auto& o : outcomes) {
    if (!in_ladder(o.at) || o.at.number("n") != n) continue;
    const auto [it, first] = best.emplace(o.at.text("kernel"), o.time_s);
    if (!first) it->second = std::min(it->second, o.time_s);
  }
  std::vector<Finding> out;
  if (n == 0 || best.size() < 2) return out;
  for (const auto& form : forms) {
    if (!best.contains(form.variant)) continue;
    const double time = best[form.variant], speedup = best[forms[0].variant] / time;
    const std::string name = fmt::format("speedup_{}", form.variant);
    out.push_back(
        {.name = name,
         .value = speedup,
         .unit = "ratio",
         .text = fmt::format("{} of {} int: {:.4g} ms, {:.4g} GB/s, {:.2f}x {}", form.variant, n, 1e3 * time,
                             4e-9 * static_cast<double>(n) / time, speedup, forms[0].variant),
         .published = name});
  }
  return out;
}

std::vector<Case> refine(const std::vector<Outcome>& outcomes, const DeviceInfo& device) {
  return at_device_size(outcomes, device, 2, plan,
                        [](const Case& at) { return at.is("op", "sum") && at.is("type", "int"); });
}

// Small sizes cannot occupy more work-groups.
Sweeps sweeps(const Values& small, const Values& large) {
  const Values groups = {"many", "vector", "subgroup", "single", "atomic"};
  // Sweeps kernels whose last step depends on the sub-group implementation over all of them.
  const Values last = {"last_warp", "unrolled", "more_work"}, own = {"portable", "ptx", "opencl", "amd"},
               tails = {"portable", "warp_synchronous", "ptx", "opencl", "amd"};
  return {"kernel=" + variants() + " n=" + small + " group=256,1",
          "kernel=" + variants() + " n=" + large + " group=256,1",
          "kernel=" + groups + " n=" + large + " groups_per_cu=2,32",
          "kernel=more_work n=" + large + " groups_per_cu=2,4,16,32",
          "kernel=" + last + " n=" + large + " subgroup_impl=" + tails,
          "kernel=single n=" + large + " subgroup_impl=" + own};
}

}  // namespace

Family reduction() {
  const Values types = {"int", "uint", "long", "float", "double"};
  const Values ops = {"sum", "min", "max"};
  Sweeps full = sweeps({65536, 1048576}, {4194304, 16777216, 33554432});
  full.push_back("kernel=single,run_single op=" + ops + " type=int,long,float,double n=67108864 group=256,1");
  full.push_back("kernel=single n=67108864 group=128,256,512,1024 unroll=2,4,8 groups_per_cu=8,32");
  const Values huge = {268435456, 1073741824};
  full.push_back("kernel=vector,subgroup,single,atomic n=" + huge + " groups_per_cu=8,32");
  full.push_back("kernel=run_single n=" + huge + " group=1");
  Sweeps paper = sweeps({1048576}, {4194304, 16777216, 33554432});
  // Harris's work-group size, as the slides name none; the last warp with and without barriers; and more data
  // than any cache holds.
  Values rungs;
  for (const auto& form : forms) {
    if (form.per_item > 0) rungs.emplace_back(std::string(form.variant));
  }
  paper.push_back("kernel=" + rungs + " n=4194304,16777216 group=128");
  paper.push_back(
      "kernel=last_warp,unrolled,more_work n=4194304,16777216 group=128 "
      "subgroup_impl=portable,warp_synchronous");
  // The slides do not name the work-groups of the last step either: as many as fill a unit of 2048
  // work-items.
  paper.push_back(
      "kernel=more_work n=4194304,16777216 group=128 groups_per_cu=16 "
      "subgroup_impl=best,portable,warp_synchronous");
  paper.push_back(
      "kernel=more_work n=4194304,16777216 group=256 groups_per_cu=8 "
      "subgroup_impl=best,portable,warp_synchronous");
  paper.push_back("kernel=" + rungs + " n=268435456 group=128,256");
  paper.push_back("kernel=single,run_single n=268435456 group=256,1");
  return {
      .name = "reduction",
      .question =
          "How fast is a reduction, and what does each classic optimisation step (Harris 2007) bring?",
      .brief = "reductions, step by step (Harris 2007)",
      .axes = {{.name = "kernel",
                .meaning =
                    "interleaved: every second work-item works, then every fourth, so branches diverge; "
                    "nondivergent: neighbouring work-items work, with bank "
                    "conflicts; sequential: on adjacent addresses, without conflicts; first_add: work-items "
                    "add two elements as "
                    "they load; last_warp: the last 64 partial sums without a loop; unrolled: no loop at "
                    "all; more_work: the same, many elements per work-item; many: many elements per "
                    "work-item, tile by tile; vector: vector loads, several accumulators; subgroup: "
                    "sub-group reduction without local memory; single: one launch, the last work-group "
                    "finishes; atomic: one launch, every work-group adds to one counter; run, run_single: "
                    "one work-item per work-group with wide vectors, in two launches and in one",
                .values = variants()},
               {.name = "op", .meaning = "operation", .values = ops, .alike = all_alike},
               {.name = "type",
                .meaning = "element type; sums of int wrap like those of uint, by the same kernel",
                .values = types,
                .alike = alike_within({{"int", "uint", "float"}, {"long", "double"}})},
               {.name = "n", .meaning = "elements", .values = {16777216}, .domain = whole(1, most)},
               {.name = "group",
                .meaning = "work-items per work-group",
                .values = {256, 1, 64, 128, 512, 1024},
                .tunable = true,
                .domain = powers_of_two(1, 65536),
                .search_values =
                    [](const Case& at, const DeviceInfo& device) {
                      return is_run(form_of(at)) ? Values{1} : group_sizes(at, device);
                    }},
               {.name = "unroll",
                .meaning = "16-byte vectors that a work-item loads at a time; in kernel many, elements",
                .values = {8, 2, 4, 16},
                .tunable = true,
                .domain = whole(1, 64),
                .when = [](const Case& at) { return form_of(at).per_item == 0; }},
               {.name = "groups_per_cu",
                .meaning =
                    "work-groups per compute unit of more_work, many and later kernels, at most one per tile",
                .values = {8, 1, 2, 4, 16, 32, 64},
                .tunable = true,
                .domain = whole(1, 4096),
                .when = [](const Case& at) { return walks(at) || form_of(at).per_item == 0; },
                .per_compute_unit = more_than_zero("groups_per_cu")},
               [] {
                 Axis axis = subgroup_axis(
                     "final reduction of a work-group: best: ptx or amd, where the compiler has it. "
                     "Otherwise opencl from kernel subgroup on, on CPUs in that kernel only, and portable "
                     "elsewhere; "
                     "warp_synchronous: the last 64 partial sums in local memory, by sub-group operations "
                     "and without work-group barriers;");
                 axis.values.insert(axis.values.begin(), std::string("best"));
                 axis.values.emplace_back(std::string("warp_synchronous"));
                 axis.when = [](const Case& at) { return form_of(at).shuffle; };
                 return axis;
               }()},
      .presets =
          {.smoke = {"kernel=" + variants() + " n=300 group=64,1",
                     "kernel=many,vector,subgroup,single,atomic,run,run_single n=1,1301 group=64,1 unroll=2",
                     "kernel=more_work n=1,1301,70001 group=64 groups_per_cu=2",
                     "kernel=last_warp,unrolled,more_work n=5003 group=128 "
                     "subgroup_impl=portable,warp_synchronous,ptx,opencl,amd",
                     "kernel=single op=sum,max type=long,float,double n=1103 group=64 unroll=2",
                     "kernel=interleaved,run_single op=min type=float n=701 group=64,1",
                     "kernel=subgroup,single,atomic n=1,1301 group=64 unroll=2 subgroup_impl=ptx,opencl,amd",
                     "kernel=single op=min,max type=long,float n=1103 group=128 unroll=2 "
                     "subgroup_impl=ptx,opencl,amd",
                     "kernel=vector n=2003 group=32 groups_per_cu=2"},
           .glance = {"kernel=single n=33554432", "kernel=run_single n=33554432 group=1"},
           .quick = {"kernel=" + variants() + " n=4194304 group=256,1"},
           .profile = {"kernel=vector,single,atomic n=4194304", "kernel=run_single n=4194304 group=1"},
           .paper = paper,
           .full = full,
           .tune = {"kernel=single,atomic,subgroup,vector,many", "kernel=run,run_single group=1"}},
      .view = {.rows = {"kernel"},
               .columns = {"n"},
               .quantity = "rate",
               .chapter = "Reduction, step by step",
               .graphs = {{.name = "ladder",
                           .kind = Graph::Kind::bars,
                           .series = {"kernel"},
                           .quantity = "speedup",
                           .steps = "speedup_"},
                          {.name = "size", .x = {"n"}, .series = {"kernel"}}},
               .headline = true},
      .derived =
          {{"subgroup_impl_used", "sub-group implementation of the final reduction"},
           {"groups", "work-groups of the first launch"},
           {"launches", "launches of one reduction"},
           {"work", "operations of a step of the ladder: the work W"},
           {"depth",
            "longest chain of dependent operations of a step of the ladder, over all launches: the depth D"},
           {"parallelism", "work / depth"},
           {"transfers_of_32",
            "lines of 32 bytes that a step of the ladder moves between memory and the device's cache: Q(Z, "
            "L)"},
           {"transfers_of_64", "the same, lines of 64 bytes"},
           {"transfers_of_128", "the same, lines of 128 bytes"}},
      .is_valid = is_valid,
      .plan = plan,
      .refine = refine,
      .findings = findings,
      .memory_bound = true};
}

}  // namespace clweave::families
