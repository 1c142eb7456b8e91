// SPDX-License-Identifier: Apache-2.0
// atomic_order: what do stronger memory orders and wider scopes of an atomic cost?
//
// OpenCL C 3.0 lets an atomic be relaxed, acquire and release, or sequentially consistent, for a work-group,
// the device or all devices. Stronger ones keep other loads and stores from moving across it, which takes
// fences and, for wider scopes, what is behind the caches. Between two adds a plain word is stored, which has
// to be visible first. Without contention the difference is the fence alone.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "suite/family.hpp"

namespace clweave::families {

namespace {

using Word = std::uint32_t;

Plan plan(const Case& at, const DeviceInfo& device) {
  const std::uint64_t trips = at.count("iterations"), group = at.count("group"),
                      groups = device.units() * at.count("groups_per_cu"), items = groups * group;
  const bool shared = at.is("counters", "shared");
  Plan::need(items * trips <= UINT32_MAX, "the counters count to 4294967295");
  Plan p;
  p.options = device.version.starts_with("OpenCL 2") ? "-cl-std=CL2.0" : "-cl-std=CL3.0";
  p.may_fail_to_build = true;  // older compilers, and devices without this order or scope
  p.define("ORDER", "memory_order_" + at.text("memory_order"));
  p.define("SCOPE", "memory_scope_" + at.text("memory_scope"));
  const Random<Word> start(at.seed, 1);
  const auto out = p.output<Word>(items);
  const auto counters = p.input<Word>(shared ? groups : items, start);
  p.buffers[counters.index].restored = true;
  const auto plain = p.output<Word>(items);
  p.launch(at.text("counters"), {items}, {group}, out, counters, plain, static_cast<Word>(trips));
  p.expect<Word>(out, [=](std::uint64_t i) { return static_cast<Word>(shared ? trips : trips * start(i)); });
  p.expect<Word>(counters, [=](std::uint64_t i) {
    return static_cast<Word>(start(i) + (shared ? trips * group : trips));
  });
  p.expect<Word>(plain, [trips](std::uint64_t) { return static_cast<Word>(trips - 1); });
  p.cost = {.read = 0, .written = 2 * items * sizeof(Word), .flops = 0, .items = items * trips};
  return p;
}

const Outcome* of(const std::vector<Outcome>& outcomes, const char* counters, const char* order,
                  const char* scope) {
  const auto found = std::ranges::find_if(outcomes, [&](const Outcome& o) {
    return o.at.is("counters", counters) && o.at.is("memory_order", order) && o.at.is("memory_scope", scope);
  });
  return found == outcomes.end() ? nullptr : &*found;
}

std::vector<Finding> findings(const std::vector<Outcome>& outcomes, const DeviceInfo& /*device*/) {
  struct Price {
    const char *name, *order, *scope, *base_order, *base_scope, *text;
  };
  constexpr std::array<Price, 4> prices = {
      {{"acq_rel_price", "acq_rel", "device", "relaxed", "device",
        "acquire and release / relaxed, for the device"},
       {"seq_cst_price", "seq_cst", "device", "relaxed", "device",
        "sequentially consistent / relaxed, for the device"},
       {"device_scope_price", "acq_rel", "device", "acq_rel", "work_group",
        "acquire and release for the device / for the work-group"},
       {"all_devices_price", "seq_cst", "all_svm_devices", "seq_cst", "device",
        "sequentially consistent for all devices / for the device"}}};
  std::vector<Finding> out;
  for (const char* counters : {"own", "shared"}) {
    for (const auto& price : prices) {
      const Outcome *dear = of(outcomes, counters, price.order, price.scope),
                    *cheap = of(outcomes, counters, price.base_order, price.base_scope);
      if (dear == nullptr || cheap == nullptr) continue;
      const bool shared = std::string_view(counters) == "shared";
      out.push_back(
          ratio_of(std::string(price.name) + (shared ? "_shared" : ""), *dear, *cheap,
                   fmt::format("time of atomic adds to {}: {}",
                               shared ? "one counter per work-group" : "counters of their own", price.text)));
    }
  }
  return out;
}

}  // namespace

Family atomic_order() {
  return {
      .name = "atomic_order",
      .question = "What do stronger memory orders and wider scopes of an atomic cost?",
      .brief = "cost of stronger memory orders and scopes",
      .axes = {{.name = "counters",
                .meaning = "own: each work-item adds to its own; shared: a work-group to one",
                .values = {"own", "shared"}},
               {.name = "memory_order",
                .meaning = "memory order of the add",
                .values = {"relaxed", "acq_rel", "seq_cst"}},
               {.name = "memory_scope",
                .meaning = "memory scope of the add",
                .values = {"device", "work_group", "all_svm_devices"}},
               {.name = "iterations",
                .meaning = "adds of each work-item",
                .values = {256},
                .domain = whole(1, 65535)},
               {.name = "group",
                .meaning = "work-items per work-group",
                .values = {128},
                .domain = whole(1, 1024)},
               {.name = "groups_per_cu",
                .meaning = "work-groups per compute unit",
                .values = {8},
                .domain = whole(1, 1024),
                .per_compute_unit = [](const Case&) { return true; }}},
      .presets = {.smoke = {"counters=own,shared memory_order=relaxed,acq_rel,seq_cst iterations=3 group=8 "
                            "groups_per_cu=1",
                            "memory_scope=work_group,all_svm_devices iterations=3 group=8 groups_per_cu=1"},
                  .quick = {"counters=own memory_order=relaxed,acq_rel,seq_cst",
                            "counters=own memory_order=acq_rel memory_scope=work_group",
                            "counters=own memory_order=seq_cst memory_scope=all_svm_devices"},
                  .paper = {},
                  .full = {"counters=own,shared memory_order=relaxed,acq_rel,seq_cst "
                           "memory_scope=work_group,device,all_svm_devices"}},
      .view = {.rows = {"counters", "memory_order"}, .columns = {"memory_scope"}, .quantity = "items"},
      .plan = plan,
      .findings = findings,
      .trait_group = TraitGroup::synchronisation,
      .traits = {{"acq_rel_price", "x", "time of atomics of acquire and release / relaxed"},
                 {"seq_cst_price", "x", "time of sequentially consistent atomics / relaxed"}}};
}

}  // namespace clweave::families
