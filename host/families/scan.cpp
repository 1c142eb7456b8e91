// SPDX-License-Identifier: Apache-2.0
// scan: how fast is a prefix scan, and what does each idea on the way to a single pass bring?
//
// After S. Maleki, A. Yang, M. Burtscher, "Higher-Order and Tuple-Based Massively-Parallel Prefix Sums"
// (2016), D. Merrill, M. Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back" (2016), and T.
// Smith, R. Levien, J. Owens, "Decoupled Fallback" (2025).
//
// Sums of floating types add whole numbers of seven bits: every partial sum is exact, so the result does not
// depend on the order of the additions, and no error hides behind a tolerance.
//
// Rates count each element as read once and written once, whatever the design. Column traffic_bytes has what
// the design really moves, and auxiliary_bytes the memory that it needs beside input and output.
#include <algorithm>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "families/scan/designs.hpp"
#include "families/scan/findings.hpp"
#include "families/scan/plan.hpp"
#include "families/shared/search_values.hpp"
#include "families/shared/tiles.hpp"
#include "suite/device_size.hpp"
#include "suite/family.hpp"

namespace clweave::families {

namespace {

using Method = ScanDesign::Method;
using Tuples = ScanDesign::Tuples;

// Tells whether a work-group computes a state itself that stays invalid for `spin_limit` polls.
bool falls_back(const Case& at) {
  const ScanDesign& design = scan_design_of(at);
  return design.single_pass() && !design.needs_forward_progress && !at.is("subgroup_impl", "ptx");
}

bool is_inclusive_sum(const Case& at) { return at.is("op", "sum") && at.is("form", "inclusive"); }

// Accepts delta coding of integers alone, whose differences an inclusive sum undoes exactly. Axis signal
// belongs to delta coding.
bool is_valid_coding(const Case& at, const ScanDesign& design, bool floating) {
  const bool round_trip = at.is("task", "round_trip");
  if (!design.encodes() && !round_trip) return !at.is("signal", "image");
  if (floating || !is_inclusive_sum(at)) return false;
  return !design.encodes() ||
         !(round_trip || at.is("tuple_by", "reorder") || at.text("type").starts_with("u"));
}

// Rejects affine maps where a design takes values: a map is a pair of uint, which does not fit its vectors or
// weights.
bool is_valid_affine(const Case& at, const ScanDesign& design) {
  return at.is("type", "uint") && at.is("form", "inclusive") && at.is("subgroup_impl", "portable") &&
         at.number("tuple") == 1 && !design.in_registers() && !design.binomial_weights;
}

// Accepts a copy once per word size: it moves 4 or 8 bytes, whatever their type.
bool is_valid_copy(const Case& at) {
  return (at.is("type", "uint") || at.is("type", "ulong")) && is_inclusive_sum(at) &&
         at.number("tuple") == 1 && at.number("scan_order") == 1 && !at.is("task", "round_trip");
}

bool is_valid_tuple(const Case& at, const ScanDesign& design) {
  const bool tuples = at.number("tuple") > 1, orders = at.number("scan_order") > 1;
  if (design.tuples == Tuples::in_state && !tuples && !orders) return false;  // other designs do plain scans
  if (design.tuples == Tuples::none && tuples) return false;
  if (design.tuples == Tuples::strided && (!tuples || at.is("tuple_by", "reorder"))) return false;
  if (at.is("tuple_by", "reorder"))
    return tuples && !orders && design.tuples != Tuples::in_state && is_inclusive_sum(at);
  // Excludes OpenCL's sub-groups, which may have fewer work-items than a tuple has values.
  return design.tuples != Tuples::by_component || !tuples || !at.is("subgroup_impl", "opencl");
}

bool is_valid_subgroup_impl(const Case& at, const ScanDesign& design) {
  if (at.is("subgroup_impl", "portable")) return true;
  // Excludes xor, which OpenCL's sub-group functions lack.
  if (!design.subgroups || (at.is("op", "xor") && at.is("subgroup_impl", "opencl"))) return false;
  return !at.is("subgroup_impl", "ptx") || (design.ptx && at.is("state_width", "widest"));
}

bool is_valid(const Case& at) {
  const ScanDesign& design = scan_design_of(at);
  const bool floating = at.is("type", "float") || at.is("type", "double");
  if (at.is("op", "xor") && floating) return false;
  if (at.is("op", "affine") && !is_valid_affine(at, design)) return false;
  if (design.copies() && !is_valid_copy(at)) return false;
  // Restricts higher orders to inclusive sums of integers, which undo repeated differences exactly.
  if (at.number("scan_order") > 1 && (floating || !is_inclusive_sum(at))) return false;
  if (!is_valid_coding(at, design, floating) || !is_valid_tuple(at, design)) return false;
  // Requires several batches: one alone is reduce_then_scan.
  if (design.batches &&
      static_cast<double>(at.number("n")) <= 256.0 * static_cast<double>(at.number("batch_kib")))
    return false;
  if (!at.is("state_width", "widest") && !design.single_pass()) return false;
  return is_valid_subgroup_impl(at, design) && (at.number("fault_rate") == 0 || falls_back(at));
}

// Searches large tiles where a state has many words, because fewer tiles pass on fewer of them.
Values per_work_item_values(const Case& at, const DeviceInfo&) {
  const ScanDesign& design = scan_design_of(at);
  if (design.tuples == Tuples::in_state || design.tuples == Tuples::strided) return {16, 32, 48, 64};
  return design.tile == ScanDesign::Storage::local ? Values{16, 4, 8, 32, 48} : Values{16};
}

// Makes a condition of a fact of the design.
template <class F>
auto design_is(F fact) {
  return [fact](const Case& at) { return static_cast<bool>(std::invoke(fact, scan_design_of(at))); };
}

std::vector<Axis> axes_of(const Values& kernels, const Values& types, const Values& ops,
                          const Values& forms) {
  const Values per_item = {16, 4, 8, 32, 48, 64};
  const Values batch_kib = {8192, 1024, 2048, 4096, 16384, 32768};
  std::vector<Axis> axes = {
      {"kernel",
       "hillis_steele: log2 n passes (Hillis, Steele 1986); three_phase: scan tiles, scan their aggregates, "
       "add these; reduce_then_scan: reduce tiles, scan the aggregates, scan tiles; batched: the same batch "
       "by batch, each of which fits a cache; chained: one pass, each tile waits for the prefix of the one "
       "before; lookback: one pass, a tile publishes its aggregate, then adds those of its predecessors "
       "(Merrill, Garland 2016); lookback_fallback: computes a missing aggregate of a predecessor itself, "
       "so needs no forward progress of other work-groups (Smith, Levien, Owens 2025); lookback_parallel: "
       "several work-items look back at once; register_tile: the same, the tile in registers; pipelined: "
       "the same by persistent work-groups, which publish their aggregate before they scan and load the "
       "next tile before they wait; sam: persistent work-groups, prefixes from a circular buffer of "
       "aggregates (Maleki 2016); binomial: one look-back for all orders and tuple components, weighted by "
       "binomial coefficients; strided: one pass over tuples of any size, by work-items that have one "
       "component each; cpu: one pass by one work-item per work-group with wide vectors; encode: "
       "delta coding (each element minus the one before), which a scan undoes; encode_run: the same, one "
       "work-item per work-group encodes a contiguous run; copy: clEnqueueCopyBuffer of as many bytes",
       kernels},
      {.name = "type",
       .meaning = "element type",
       .values = types,
       .alike = alike_within({{"uint", "int", "float"}, {"ulong", "long", "double"}})},
      {.name = "op",
       .meaning = "sum, max, xor; affine: composition of maps x -> ax + b, which do not commute",
       .values = ops,
       .alike = alike_within({{"sum", "max", "xor"}})},
      {.name = "form",
       .meaning =
           "inclusive: result i includes element i; exclusive: it does not, and result 0 is an initial value",
       .values = forms,
       .alike = all_alike},
      {"task",
       "scan; round_trip: encodes a signal by delta coding, then decodes it by the scan; both are timed",
       {"scan", "round_trip"}},
      {"signal",
       "signal that is delta-coded: tones: two tones with noise, 16 bits; image: the pixels of a photograph, "
       "repeated",
       {"tones", "image"}},
      {.name = "scan_order",
       .meaning = "order of the prefix sum: the scan applied that many times; sam keeps the elements in "
                  "registers meanwhile, binomial and cpu look back once, others repeat the whole scan",
       .values = {1},
       .domain = whole(1, 8)},
      {.name = "tuple",
       .meaning =
           "interleaved components, each scanned on its own; sam, binomial and strided scan interleaved "
           "tuples of any size; register_tile and pipelined need powers of two",
       .values = {1},
       .domain = whole(1, 32)},
      {"tuple_by",
       "struct: the operator works on tuples; reorder: components are separated first, and scanned one after "
       "the other",
       {"struct", "reorder"}},
      {.name = "n",
       .meaning = "elements; affine: maps",
       .values = {1 << 22},
       .domain = whole(1, std::int64_t{1} << 34)},
      {.name = "group",
       .meaning = "work-items per work-group",
       .values = {256, 64, 128, 512, 1024},
       .tunable = true,
       .domain = whole(1, 4096),
       .when = [](const Case& at) { return !at.is("kernel", "cpu") && !at.is("kernel", "encode_run"); },
       .search_values = group_sizes},
      {.name = "per_work_item",
       .meaning = "elements per work-item",
       .values = per_item,
       .tunable = true,
       .domain = whole(1, 64),
       .search_values = per_work_item_values},
      {.name = "width",
       .meaning = "vector width of encode and encode_run, in elements: encode has one vector per work-item",
       .values = {1, 4},
       .tunable = true,
       .domain = powers_of_two(1, 16),
       .when = design_is(&ScanDesign::encodes)},
      {.name = "vectors_per_item",
       .meaning = "16-byte vectors per work-item of register_tile, pipelined and sam",
       .values = {8, 1, 2, 4, 6, 12, 16},
       .tunable = true,
       .domain = whole(1, 64),
       .when = design_is(&ScanDesign::in_registers)},
      window_axis(design_is(&ScanDesign::parallel_lookback)),
      {.name = "groups_per_cu",
       .meaning = "persistent work-groups per compute unit; 0: pipelined launches one work-group per tile, "
                  "sam 2 per compute unit",
       .values = {0, 1, 2, 3, 4, 8},
       .tunable = true,
       .domain = whole(0, 1024),
       .when = design_is(&ScanDesign::persistent),
       .per_compute_unit =
           [](const Case& at) { return at.number("groups_per_cu") > 0 || at.is("kernel", "sam"); }},
      {.name = "prefetch",
       .meaning = "whether sam loads the next tile before it waits, which takes registers",
       .values = {"yes", "no"},
       .tunable = true,
       .when = design_is(&ScanDesign::prefetch)},
      registers_axis("register_tile, pipelined, sam, binomial and strided", design_is(&ScanDesign::ptx)),
      subgroup_axis("how work-items scan (ptx: only register_tile, pipelined, sam, binomial and strided):"),
      chunk_axis("a tile of cpu or a run of encode_run", {256, 16, 32, 64, 128, 512, 1024, 2048}, 1 << 20),
      {.name = "batch_kib",
       .meaning = "KiB per batch of kernel batched",
       .values = batch_kib,
       .tunable = true,
       .domain = whole(1, 1 << 30),
       .search_values = where(design_is(&ScanDesign::batches), batch_kib)},
      spin_limit_axis(
          "lookback_fallback, lookback_parallel, register_tile, pipelined, binomial, strided and cpu",
          falls_back),
      state_axis(),
      fault_rate_axis()};
  // Exempts the driver's copy from tuning.
  for (auto& axis : axes) {
    if (axis.tunable)
      axis.when = [when = axis.when](const Case& at) {
        return !scan_design_of(at).copies() && (!when || when(at));
      };
  }
  return axes;
}

// Adds the vendor's sub-group implementation, and the size that fits the device. Leaves out designs that
// compute no scan, and those of log n passes.
std::vector<Case> refine(const std::vector<Outcome>& outcomes, const DeviceInfo& device) {
  const auto counts = [](const Case& at) {
    const ScanDesign& design = scan_design_of(at);
    return is_plain_scan(at) && at.is("type", "uint") && at.number("scan_order") == 1 &&
           at.number("tuple") == 1 && !design.copies() && !design.encodes() &&
           design.method != Method::passes;
  };
  auto out = with_own_subgroup_impl(outcomes, device, is_valid, counts);
  std::ranges::move(at_device_size(outcomes, device, 2, scan_plan, counts), std::back_inserter(out));
  return out;
}

Presets presets_of(const Values& kernels, const Values& types, const Values& ops, const Values& forms) {
  const Values tile_kernels = {"hillis_steele", "three_phase", "reduce_then_scan",  "batched",
                               "chained",       "lookback",    "lookback_fallback", "lookback_parallel"};
  const Values row_kernels = {"register_tile", "pipelined"};
  // Lists the sizes of the published plots.
  Values sizes;
  for (std::int64_t n = 1 << 10; n <= 1 << 30; n *= 2) sizes.emplace_back(n);
  for (std::int64_t n = 1000; n <= 1000000000; n *= 10) sizes.emplace_back(n);
  const Values few = {1 << 16, 1 << 20, 1 << 24, 1 << 28};
  const Values widths = {"uint", "ulong"};
  const std::string own = " subgroup_impl=ptx,opencl,amd";
  const Values orders = {2, 5, 8}, tuples = {2, 5, 8};
  const Values all_orders = {1, 2, 3, 4, 5, 6, 7, 8};
  const Values all_tuples = {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32};
  // Launches SAM as published: two work-groups of 1024 per compute unit, so that a work-item has 32
  // registers. A compiler without axis registers may use more, and then fewer work-groups fit.
  const std::string launch = " group=1024 vectors_per_item=2 groups_per_cu=2 prefetch=no";
  const std::string best = " group=512 vectors_per_item=8", best_tuples = " group=512 vectors_per_item=4";
  // Adds the launches among which SAM's installer chose, and the fastest on an H200. Tuples get one vector
  // per work-item, because four do not fit local memory.
  const auto chosen = [&](const Values& n, const std::string& what) -> Sweeps {
    const std::string all = "kernel=sam type=" + widths + what + " n=" + n;
    const std::string published = " group=1024 groups_per_cu=2 prefetch=no";
    return {all + published + (what.starts_with(" tuple") ? " vectors_per_item=1" : " vectors_per_item=1,4"),
            all + published + " vectors_per_item=1,4 registers=32 subgroup_impl=ptx",
            all + published + " vectors_per_item=1,4 subgroup_impl=amd",
            all + " group=256 vectors_per_item=8 groups_per_cu=4 subgroup_impl=portable,ptx,amd"};
  };
  const auto sam = [&](const Values& n, const std::string& what, const std::string& tuned) -> Sweeps {
    return {"kernel=sam type=" + widths + what + " n=" + n + launch,
            "kernel=sam type=" + widths + what + " n=" + n + tuned};
  };
  const auto sam_of_vendors = [&](const Values& n, const std::string& what,
                                  const std::string& tuned) -> Sweeps {
    return {"kernel=sam type=" + widths + what + " n=" + n + launch + " registers=32 subgroup_impl=ptx",
            "kernel=sam type=" + widths + what + " n=" + n + launch + " subgroup_impl=amd",
            "kernel=sam type=" + widths + what + " n=" + n + tuned + " subgroup_impl=ptx,amd"};
  };
  const auto plots = [&](const Values& n) -> Sweeps {
    const std::string by_order = " scan_order=" + orders, by_tuple = " tuple=" + tuples;
    return Sweeps{"kernel=copy,three_phase,lookback_parallel,register_tile,pipelined,cpu type=" + widths +
                      " n=" + n,
                  "kernel=register_tile type=" + widths + by_order + " n=" + n + " vectors_per_item=8",
                  "kernel=lookback_parallel type=" + widths + by_tuple + " n=" + n + " group=128",
                  "kernel=sam type=uint n=" + n + launch + " registers=32 subgroup_impl=ptx",
                  "kernel=sam type=uint n=" + n + launch + " subgroup_impl=amd",
                  "kernel=sam type=uint n=" + n + best + " subgroup_impl=ptx,amd",
                  "kernel=sam type=uint n=" + n +
                      " group=256 vectors_per_item=8 groups_per_cu=4 subgroup_impl=portable,ptx,amd"} +
           sam(n, "", best) + sam(n, by_order, best) + sam(n, by_tuple, best_tuples);
  };
  // Compares the plots with other designs for orders and tuples, and with NVIDIA's sub-group implementation.
  // binomial gets tiles that fill most of the local memory that OpenCL guarantees.
  const auto beside = [&](const Values& n) -> Sweeps {
    return Sweeps{
               "kernel=binomial type=uint scan_order=" + orders + " n=" + n + " group=192 per_work_item=48",
               "kernel=binomial type=ulong scan_order=" + orders + " n=" + n + " group=96 per_work_item=48",
               "kernel=binomial type=uint tuple=" + tuples + " n=" + n + " group=192 per_work_item=48",
               "kernel=binomial type=ulong tuple=" + tuples + " n=" + n + " group=96 per_work_item=48",
               "kernel=binomial type=uint scan_order=" + orders + " n=" + n +
                   " group=128 per_work_item=64 subgroup_impl=ptx,amd",
               "kernel=binomial type=ulong scan_order=" + orders + " n=" + n +
                   " group=128 per_work_item=32 subgroup_impl=ptx,amd",
               "kernel=pipelined type=" + widths + " tuple=2,8 n=" + n +
                   " group=128 vectors_per_item=12 subgroup_impl=portable,ptx,amd",
               "kernel=register_tile type=" + widths + " tuple=" + tuples + " tuple_by=reorder n=" + n,
               "kernel=register_tile,pipelined type=" + widths + " n=" + n +
                   " vectors_per_item=8 subgroup_impl=ptx,amd",
               "kernel=pipelined type=" + widths + " scan_order=" + orders + " n=" + n +
                   " vectors_per_item=8 subgroup_impl=ptx,amd"} +
           sam_of_vendors(n, "", best) + sam_of_vendors(n, " scan_order=" + orders, best) +
           sam_of_vendors(n, " tuple=" + tuples, best_tuples) + chosen(n, "") +
           chosen(n, " scan_order=" + orders) + chosen(n, " tuple=" + tuples);
  };
  // Sweeps every order and tuple that SAM supports, alone and combined.
  const auto grown = [&](const Values& n) -> Sweeps {
    return Sweeps{"kernel=register_tile type=" + widths + " scan_order=" + all_orders + " n=" + n,
                  "kernel=lookback_parallel,binomial type=uint tuple=" + all_tuples + " n=" + n +
                      " group=64 per_work_item=32",
                  "kernel=pipelined type=uint tuple=2,4,8,16,32 n=" + n +
                      " group=128 vectors_per_item=12 subgroup_impl=ptx,amd",
                  "kernel=strided type=uint tuple=" + all_tuples + " n=" + n +
                      " per_work_item=48 window=64 subgroup_impl=portable,ptx,amd"} +
           sam(n, " scan_order=" + all_orders, best) +
           Sweeps{"kernel=sam type=" + widths + " tuple=" + all_tuples + " n=" + n +
                  " group=512 vectors_per_item=2"} +
           sam(n, " scan_order=2,5,8 tuple=2,5,8", best_tuples);
  };
  return {
      .smoke =
          {"kernel=" + tile_kernels + " n=1,255,257,4099 group=64 per_work_item=4 batch_kib=2 window=8",
           "kernel=" + row_kernels + " n=1,1023,1025,4099 group=64",
           "kernel=cpu scan_order=1,3 n=1,4095,12289 chunk_kib=1",
           "kernel=encode type=int scan_order=1,3 tuple=1,2,4 width=1,4 n=1,4099",
           "kernel=encode type=long scan_order=2 tuple=3 width=2,4 n=4099",
           "kernel=encode type=int signal=image n=4099",
           "kernel=encode_run type=int scan_order=1,3 tuple=1,2 width=1,16 n=1,4099 chunk_kib=1",
           "kernel=encode_run type=long scan_order=2 tuple=3 width=4 n=4099 chunk_kib=3",
           "kernel=three_phase type=float op=max form=exclusive n=1,1009 group=32 per_work_item=2",
           "kernel=reduce_then_scan type=ulong op=xor form=exclusive n=1009 group=32 per_work_item=2",
           "kernel=chained type=long form=exclusive n=1009 group=32 per_work_item=2 state_width=half",
           "kernel=lookback_fallback,lookback_parallel op=affine n=1009 group=32 per_work_item=2 "
           "state_width=half "
           "fault_rate=3",
           "kernel=lookback_parallel op=xor tuple=3 n=4099 group=32 window=4",
           "kernel=register_tile tuple=3 tuple_by=reorder n=4099 group=32",
           "kernel=pipelined type=double form=exclusive n=4099 group=32 vectors_per_item=2 groups_per_cu=1 "
           "fault_rate=2",
           "kernel=register_tile,pipelined tuple=2,4,32 n=1,4099 group=64 vectors_per_item=2 window=8",
           "kernel=register_tile,pipelined type=long op=max form=exclusive tuple=8 n=9001 group=32 "
           "vectors_per_item=1 groups_per_cu=1 window=8 state_width=half fault_rate=3",
           "kernel=sam scan_order=3 n=1,33001 group=32 vectors_per_item=1 groups_per_cu=1 state_width=half",
           "kernel=sam tuple=2,3,32 n=4099,33001 group=64 vectors_per_item=1 groups_per_cu=1",
           "kernel=sam type=long scan_order=2 tuple=5 n=33001 group=96 vectors_per_item=2 prefetch=no",
           "kernel=sam op=max form=exclusive tuple=3 n=9001 group=32 vectors_per_item=2 groups_per_cu=3",
           "kernel=sam type=int task=round_trip scan_order=2 tuple=3 n=4099 group=64 vectors_per_item=2",
           "kernel=register_tile,pipelined,sam,binomial n=9001 group=64 vectors_per_item=2 groups_per_cu=1 "
           "registers=48 subgroup_impl=portable,ptx",
           "kernel=pipelined tuple=4 n=9001 group=64 vectors_per_item=2 registers=48 "
           "subgroup_impl=portable,ptx",
           "kernel=copy n=1,4099",
           "kernel=binomial scan_order=8 n=1,1025,4099 group=32 per_work_item=4 window=8",
           "kernel=binomial type=long scan_order=2 tuple=5 n=4099 group=32 per_work_item=4 window=4 "
           "state_width=half fault_rate=2",
           "kernel=binomial op=max form=exclusive tuple=3 n=4099 group=32 window=4",
           "kernel=lookback_fallback,binomial type=int task=round_trip scan_order=2 tuple=2 n=4099 "
           "group=32 per_work_item=4 window=4",
           "kernel=binomial type=int task=round_trip signal=image scan_order=2 n=4099 group=32 "
           "per_work_item=4 window=4",
           "kernel=strided tuple=2,3,5,32 n=1,4099 group=64 per_work_item=4 window=8",
           "kernel=strided type=long op=max form=exclusive tuple=7 n=4099 group=32 per_work_item=2 window=4 "
           "state_width=half fault_rate=2",
           "kernel=strided type=int task=round_trip scan_order=2 tuple=3 n=4099 group=64 per_work_item=4",
           "kernel=cpu type=int op=max form=exclusive n=12299 chunk_kib=1 state_width=half fault_rate=2",
           "kernel=three_phase,reduce_then_scan,chained,lookback,lookback_fallback,lookback_parallel "
           "n=1,4099 group=64 per_work_item=4" +
               own,
           "kernel=register_tile,pipelined,sam n=1,9001 group=64 vectors_per_item=2 groups_per_cu=1" + own,
           "kernel=register_tile,lookback_parallel type=long op=max,xor form=exclusive n=4099 group=192 "
           "per_work_item=2 vectors_per_item=2" +
               own,
           "kernel=lookback_parallel tuple=3 n=4099 group=64 fault_rate=2 state_width=half" + own,
           "kernel=pipelined type=double n=9001 group=128 vectors_per_item=2 groups_per_cu=1 fault_rate=2" +
               own,
           "kernel=binomial scan_order=3 tuple=2 n=1,4099 group=64 per_work_item=4" + own,
           "kernel=binomial type=long scan_order=2 n=4099 group=192 per_work_item=4 state_width=half "
           "fault_rate=2" +
               own,
           "kernel=pipelined,register_tile type=uint,ulong tuple=2,8,32 n=9001 group=64 vectors_per_item=2" +
               own,
           "kernel=pipelined op=max form=exclusive tuple=2,4 n=9001 group=128 vectors_per_item=3" + own,
           "kernel=strided tuple=3,12,32 n=9001 group=64 per_work_item=4" + own,
           "kernel=strided type=ulong op=max form=exclusive tuple=5 n=9001 group=64 per_work_item=4" + own,
           "kernel=sam type=ulong scan_order=2 tuple=3 n=9001 group=64 vectors_per_item=2" + own},
      .glance = {"kernel=pipelined,cpu n=33554432 per_work_item=16 vectors_per_item=8"},
      .quick =
          {"kernel=" + kernels + " n=4194304 per_work_item=16 vectors_per_item=8",
           "kernel=register_tile,sam scan_order=2,8 n=4194304 per_work_item=32 vectors_per_item=8",
           "kernel=binomial,cpu scan_order=2,8 n=4194304 per_work_item=32 vectors_per_item=8",
           "kernel=lookback_parallel,binomial tuple=8 n=4194304 per_work_item=32",
           "kernel=binomial scan_order=8 n=4194304 group=128 per_work_item=48 subgroup_impl=ptx,amd",
           "kernel=pipelined tuple=8 n=4194304 group=128 vectors_per_item=12 subgroup_impl=portable,ptx,amd",
           // Tuples that are no powers of two: few components, and many.
           "kernel=binomial tuple=3 n=4194304 group=128 per_work_item=48 subgroup_impl=ptx,amd",
           "kernel=strided tuple=12 n=4194304 per_work_item=48 window=64 subgroup_impl=portable,ptx,amd",
           "kernel=sam tuple=1,2,8 n=4194304 vectors_per_item=4",
           "kernel=encode type=int signal=image scan_order=2 n=4194304",
           "kernel=cpu type=int task=round_trip signal=image scan_order=2 n=4194304 per_work_item=32"},
      .profile = {"kernel=three_phase,lookback,lookback_fallback,lookback_parallel,binomial,cpu n=4194304 "
                  "per_work_item=16 "
                  "vectors_per_item=8"},
      .paper = plots(sizes) + beside(few) + grown({1 << 24}) +
               Sweeps{"kernel=encode type=int signal=tones,image scan_order=1,2,3,8 width=1,4 n=16777216"},
      .full =
          Sweeps{"kernel=" + kernels + " n=1048576,16777216,268435456 per_work_item=16 vectors_per_item=8",
                 "kernel=register_tile,pipelined,sam subgroup_impl=ptx,amd n=1048576,16777216,268435456 "
                 "vectors_per_item=8,12",
                 "kernel=" + kernels + " type=" + types + " op=" + ops + " form=" + forms + " n=1000003",
                 "kernel=binomial,sam scan_order=1,2,3,4,5,6,7,8 tuple=1,2,3,4 n=1000003",
                 "kernel=lookback_fallback,binomial,sam type=int task=round_trip "
                 "scan_order=1,2,3,4,5,6,7,8 tuple=1,2,3 n=4194304 vectors_per_item=4",
                 "kernel=encode type=int signal=tones,image scan_order=1,2,3 tuple=1,3 width=1,4 n=4194304",
                 "kernel=lookback_fallback,binomial type=int task=round_trip signal=image "
                 "scan_order=1,2,8 tuple=1,3 n=4194304",
                 "kernel=lookback_fallback n=16777216 fault_rate=0,2,8,64,512"} +
          grown({1 << 26, 1 << 28}),
      // Includes binomial and strided, which the tuner would otherwise miss: they serve orders and tuples.
      .tune = {"kernel=pipelined,register_tile,lookback_parallel,lookback_fallback,three_phase,cpu",
               "kernel=pipelined,register_tile subgroup_impl=ptx group=128,256 window=64",
               "kernel=pipelined,register_tile subgroup_impl=amd group=128,256",
               "kernel=binomial group=128 per_work_item=48 subgroup_impl=portable,ptx,amd",
               "kernel=strided window=64 per_work_item=48 subgroup_impl=portable,ptx,amd"}};
}

}  // namespace

Family scan() {
  Values kernels;
  for (const auto& design : scan_designs()) kernels.emplace_back(std::string(design.name));
  const Values types = {"uint", "int", "ulong", "long", "float", "double"};
  const Values ops = {"sum", "max", "xor", "affine"};
  const Values forms = {"inclusive", "exclusive"};
  return {
      .name = "scan",
      .question = "How fast is a prefix scan, and what does each step towards a single pass bring?",
      .brief = "prefix scans, steps to a single pass",
      .axes = axes_of(kernels, types, ops, forms),
      .presets = presets_of(kernels, types, ops, forms),
      .view = {.rows = {"kernel", "scan_order", "tuple", "group", "subgroup_impl"},
               .columns = {"n"},
               .quantity = "items",
               .chapter = "Scan and compaction",
               .graphs = {{.name = "size", .x = {"n"}, .series = {"kernel"}, .quantity = "items"},
                          {.name = "order", .x = {"scan_order"}, .series = {"kernel"}, .quantity = "items"},
                          {.name = "tuple", .x = {"tuple"}, .series = {"kernel"}, .quantity = "items"}},
               .headline = true},
      .derived =
          {{"traffic_bytes", "bytes that the kernel reads and writes in total, without tile states and sums"},
           {"operator_applications",
            "how often portable work-items apply the operator to elements, padding included and look-back "
            "left out; log2 n times n of log n passes, about 2n to 4n of others"},
           {"auxiliary_bytes", "bytes of memory that the kernel needs beside input and output"},
           {"residual", "mean absolute value of what encode leaves at this order"}},
      .is_valid = is_valid,
      .plan = scan_plan,
      .refine = refine,
      .findings = scan_findings,
      .trait_group = TraitGroup::algorithms,
      .traits = {{.finding = "single_pass_gain",
                  .unit = "x",
                  .meaning = "time of a scan in three phases / of the best in one pass",
                  .with_tuned = true}},
      .for_comparison = design_is(&ScanDesign::copies),
      .no_merit =
          [](const Case& at) {
            const ScanDesign& design = scan_design_of(at);
            return design.method == Method::passes || design.encodes() || at.is("task", "round_trip") ||
                   at.number("tuple") > 1 || at.number("scan_order") > 1;
          },
      .memory_bound = true};
}

}  // namespace clweave::families
