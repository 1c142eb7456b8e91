// SPDX-License-Identifier: Apache-2.0
// atomics: what do contended and uncontended atomics cost?
//
// Varies how many work-items share a counter, the spacing of counters, the operation, whether the return
// value is used, and the memory. Floats are added by the native atomic where there is one, and by a CAS loop.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>

#include "suite/family.hpp"

namespace clweave::families {

namespace {

using Word = std::uint32_t;

struct Launched {
  bool local, used, is_float;
  std::uint64_t group, items, share, spacing, hops;
  std::uint64_t counters;  // global memory: all; local memory: of a work-group

  Launched(const Case& at, const DeviceInfo& device)
      : local(at.is("memory", "local")),
        used(at.is("return_value", "used")),
        is_float(at.text("kernel").starts_with("float")),
        group(at.count("group", 1, 65536)),
        items(device.units() * 4 * group),
        share(at.count("share", 0, 1 << 20)),
        spacing(at.count("spacing", 1, 1024)),
        hops(at.count("per_work_item", 1, 65536)) {
    const std::uint64_t all = local ? group : items;
    if (share == 0) share = all;
    Plan::need(share <= all, fmt::format("{} work-items cannot share a counter: there are {}", share, all));
    counters = (all + share - 1) / share;
  }

  // Returns the number of work-items that share counter c.
  std::uint64_t sharers(std::uint64_t c) const {
    return std::min(share, (local ? group : items) - c * share);
  }
};

// Operand of a work-item at step i: first + item * each + i * more.
struct Put {
  Word first, each, more;
};
Put put_of(const Case& at, const Launched& l) {
  const std::string& kernel = at.text("kernel");
  if (kernel == "add") return {1, 0, 1};
  if (kernel == "max" || kernel == "xchg") return {1001, static_cast<Word>(l.hops), 1};
  return {1, 0, 0};
}

constexpr Word start = 1000;

// Expects the final counters. An exchange may leave the operand of the last step of any work-item that shares
// the counter; the other operations have one result.
void expect_counters(Plan& p, Buffer out, const Case& at, const Launched& l) {
  const std::string& kernel = at.text("kernel");
  const std::uint64_t per_group = l.counters * l.spacing;
  const auto counter_of = [=](std::uint64_t i) { return l.local ? i % per_group : i; };
  const auto group_of = [=](std::uint64_t i) { return l.local ? i / per_group : 0; };
  const Word begin = l.is_float ? std::bit_cast<Word>(static_cast<float>(start)) : start;
  if (kernel != "xchg") {
    p.expect<Word>(out, [=](std::uint64_t i) -> Word {
      const std::uint64_t word = counter_of(i), c = word / l.spacing;
      if (word % l.spacing != 0) return begin;
      const std::uint64_t sharers = l.sharers(c);
      if (kernel == "add") return static_cast<Word>(start + sharers * (l.hops * (l.hops + 1) / 2));
      const std::uint64_t last = group_of(i) * l.group + c * l.share + sharers - 1;
      if (kernel == "max") return static_cast<Word>(1001 + last * l.hops + l.hops - 1);
      const auto count = static_cast<Word>(start + sharers * l.hops);
      return l.is_float ? std::bit_cast<Word>(static_cast<float>(count)) : count;
    });
    return;
  }
  p.checks.push_back(
      {out, [=](std::uint64_t offset, std::span<const std::byte> bytes) {
         ComparisonResult tally;
         const std::uint64_t first = offset / sizeof(Word);
         for (std::uint64_t k = 0; k < bytes.size() / sizeof(Word); ++k) {
           Word got = 0;
           std::memcpy(&got, &bytes[k * sizeof(Word)], sizeof got);
           const std::uint64_t i = first + k, word = counter_of(i), c = word / l.spacing;
           const std::uint64_t from = group_of(i) * l.group + c * l.share;
           const std::uint64_t item = (got - 1001U) / l.hops;
           const bool right = word % l.spacing != 0 ? got == begin
                                                    : got > start && (got - 1001U) % l.hops == l.hops - 1 &&
                                                          item >= from && item < from + l.sharers(c);
           ++tally.elements;
           tally.written +=
               std::memcmp(&got, &poison[k * sizeof(Word) % poison.size()], sizeof got) != 0 ? 1U : 0U;
           if (right) continue;
           if (tally.wrong++ == 0) {
             tally.first_wrong = i;
             tally.first_text = fmt::format("[{}] is {}, which no work-item stored last", i, got);
           }
         }
         return tally;
       }});
}

Plan plan(const Case& at, const DeviceInfo& device) {
  const Launched l(at, device);
  const std::string& kernel = at.text("kernel");
  const Put put = put_of(at, l);
  const std::uint64_t per_group = l.counters * l.spacing;
  Plan p;
  if (kernel == "float_native") {
    const bool ptx = device.has_extension("cl_nv_pragma_unroll");
    Plan::need(ptx || device.has_extension("cl_ext_float_atomics"),
               "no native float atomics: neither cl_ext_float_atomics nor NVIDIA's compiler");
    Plan::need(!ptx || !l.local, "NVIDIA's native float atomics are used in global memory only");
    p.define(ptx ? "PTX" : "NATIVE", 1);
    if (!ptx) p.options = "-cl-std=CL3.0";
  }
  if (l.local) Plan::need_local(device, per_group * sizeof(Word));
  Plan::need(!l.is_float || start + std::min(l.share, l.items) * l.hops < (1U << 24),
             "a float does not hold the sum exactly");
  Plan::need(kernel != "add" || l.share * l.hops * (l.hops + 1) / 2 < (std::uint64_t{1} << 31),
             "the sum exceeds 32 bits");
  Plan::need(l.items * l.hops < (std::uint64_t{1} << 31), "the number of values exceeds 32 bits");
  p.define("OP", "apply_" + kernel)
      .define("LOCAL", l.local ? 1 : 0)
      .define("USED", l.used ? 1 : 0)
      .define("GROUP", l.group)
      .define("COUNTERS", l.local ? per_group : 1)
      .define("SPACING", l.spacing);
  const Word begin = l.is_float ? std::bit_cast<Word>(static_cast<float>(start)) : start;
  const std::uint64_t words = l.local ? l.items / l.group * per_group : per_group;
  const auto counters = p.output<Word>(words);
  const auto sound = p.output<Word>(l.items);
  if (!l.local) p.launch("set", {words}, {}, counters, begin);
  p.launch("atomics", {l.items}, {l.group}, counters, sound, static_cast<Word>(l.share),
           static_cast<Word>(l.hops), begin, put.first, put.each, put.more);
  expect_counters(p, counters, at, l);
  p.expect<Word>(sound, [hops = l.hops](std::uint64_t) { return static_cast<Word>(hops); });
  p.cost = {.read = 0, .written = sizeof(Word) * (words + l.items), .flops = 0, .items = l.items * l.hops};
  return p;
}

std::vector<Finding> findings(const std::vector<Outcome>& outcomes, const DeviceInfo& /*device*/) {
  // Returns the outcome with the least time per atomic.
  const auto fastest = [&](const char* kernel, const char* memory, std::int64_t share, std::int64_t spacing,
                           const char* result) {
    const Outcome* best = nullptr;
    for (const auto& o : outcomes) {
      if (o.at.is("kernel", kernel) && o.at.is("memory", memory) && o.at.number("share") == share &&
          o.at.number("spacing") == spacing && o.at.is("return_value", result) &&
          (best == nullptr || o.time_s * as_double(best->items) < best->time_s * as_double(o.items)))
        best = &o;
    }
    return best;
  };
  std::vector<Finding> out;
  const auto rate = [&](const char* name, const Outcome* of, const char* what) {
    if (of == nullptr) return;
    const double rate = 1e-9 * as_double(of->items) / of->time_s;
    out.push_back({name, rate, "G/s", fmt::format("{:.4g} G/s: {}", rate, what)});
  };
  rate("atomics_contended", fastest("add", "global", 0, 1, "unused"),
       "contended atomic additions, all work-items on one counter");
  rate("atomics_uncontended", fastest("add", "global", 1, 1, "unused"),
       "uncontended atomic additions, one counter per work-item");
  rate("atomics_local_contended", fastest("add", "local", 0, 1, "unused"),
       "contended atomic additions in local memory, one counter per work-group");
  rate("atomics_local_uncontended", fastest("add", "local", 1, 1, "unused"),
       "uncontended atomic additions in local memory, one counter per work-item");
  // Compares outcomes with the same number of atomics.
  const auto ratio = [&](const char* name, const Outcome* of, const Outcome* to, const char* what) {
    if (of != nullptr && to != nullptr && of->items == to->items)
      out.push_back(ratio_of(name, *of, *to, what));
  };
  ratio("atomics_value_used", fastest("add", "global", 0, 1, "used"),
        fastest("add", "global", 0, 1, "unused"),
        "time of atomic additions to one counter, return value used / unused");
  ratio("atomics_spread", fastest("add", "global", 1, 32, "unused"), fastest("add", "global", 1, 1, "unused"),
        "time of atomic additions to counters 128 bytes apart / to adjacent ones");
  ratio("atomics_cas", fastest("cas", "global", 256, 1, "unused"), fastest("add", "global", 256, 1, "unused"),
        "time of a CAS loop / time of an atomic addition, 256 work-items per counter");
  ratio("atomics_float", fastest("float_cas", "global", 256, 1, "unused"),
        fastest("float_native", "global", 256, 1, "unused"),
        "time of a CAS loop on floats / time of the native atomic, 256 work-items per counter");
  return out;
}

}  // namespace

Family atomics() {
  const Values all = {"add", "max", "xchg", "cas", "float_cas", "float_native"};
  const Values anywhere = {"add", "max", "xchg", "cas", "float_cas"};
  const Sweeps sweeps = {
      "kernel=add share=0,1,32,256 return_value=unused,used", "kernel=add share=1,32 spacing=32",
      "kernel=add memory=local share=0,1,32 return_value=unused,used", "kernel=" + all + " share=256"};
  return {
      .name = "atomics",
      .question = "What do contended and uncontended atomics cost, and what does that depend on?",
      .brief = "contended and uncontended atomics",
      .axes = {{.name = "kernel",
                .meaning = "add, max, xchg: one atomic; cas: addition by a compare-and-swap (CAS) loop; "
                           "float_cas: the same for floats; "
                           "float_native: native float addition",
                .values = all},
               {.name = "memory", .meaning = "memory of the counters", .values = {"global", "local"}},
               {.name = "share",
                .meaning =
                    "work-items that share a counter; 0: all work-items, in local memory all of a work-group",
                .values = {0, 1, 32, 256},
                .domain = whole(0, 1 << 20)},
               {.name = "spacing",
                .meaning = "distance from one counter to the next, in 32-bit words",
                .values = {1, 32},
                .domain = whole(1, 1024)},
               {.name = "return_value",
                .meaning = "whether the kernel uses the atomics' return value",
                .values = {"unused", "used"}},
               {.name = "per_work_item",
                .meaning = "atomics per work-item",
                .values = {16},
                .domain = whole(1, 65536)},
               {.name = "group",
                .meaning = "work-items per work-group",
                .values = {256},
                .domain = whole(1, 65536)}},
      .presets = {.smoke = {"kernel=" + all +
                                " share=0,1,3 return_value=unused,used per_work_item=3 group=32",
                            "kernel=add,xchg,cas share=5 spacing=3 per_work_item=2 group=32",
                            "kernel=" + anywhere +
                                " memory=local share=0,1,3 spacing=2 return_value=used "
                                "per_work_item=3 group=32"},
                  .quick = sweeps,
                  .profile = {"kernel=add share=0,1", "kernel=add memory=local share=0",
                              "kernel=add,cas,float_cas,float_native share=256"},
                  .paper = sweeps,
                  .full = sweeps + Sweeps{"kernel=" + all + " share=0,1,32,256 return_value=unused,used",
                                          "kernel=" + anywhere +
                                              " memory=local share=0,1,32 return_value=unused,used"}},
      .view = {.rows = {"kernel", "memory", "return_value"},
               .columns = {"share", "spacing"},
               .quantity = "items",
               .chapter = "Access and caches",
               .graphs = {{.name = "sharing",
                           .kind = Graph::Kind::heat,
                           .x = {"share", "spacing"},
                           .series = {"kernel", "memory"},
                           .quantity = "items"}}},
      .plan = plan,
      .findings = findings,
      .trait_group = TraitGroup::synchronisation,
      .traits = {{"atomics_contended", "G/s", "contended atomic additions: one counter"},
                 {"atomics_uncontended", "G/s", "uncontended atomic additions: one counter per work-item"},
                 {"atomics_local_contended", "G/s", "contended atomic additions in local memory"},
                 {"atomics_cas", "x", "time of a CAS loop / time of an atomic addition"},
                 {"atomics_float", "x", "time of a CAS loop on floats / time of the native atomic"}}};
}

}  // namespace clweave::families
