// SPDX-License-Identifier: Apache-2.0
#include "suite/former_names.hpp"

#include <algorithm>
#include <array>
#include <unordered_set>

namespace clweave::suite {

namespace {

enum class Of { command, option, preset, family, axis, value, column, finding };

struct FormerName {
  Of of;
  std::string_view families;  // of an axis or a value: those that had it, separated by spaces
  std::string_view axis;      // of a value
  std::string_view was, now;
};

constexpr FormerName command(std::string_view was, std::string_view now) {
  return {Of::command, "", "", was, now};
}
constexpr FormerName option(std::string_view was, std::string_view now) {
  return {Of::option, "", "", was, now};
}
constexpr FormerName preset(std::string_view was, std::string_view now) {
  return {Of::preset, "", "", was, now};
}
constexpr FormerName family(std::string_view was, std::string_view now) {
  return {Of::family, "", "", was, now};
}
constexpr FormerName finding(std::string_view was, std::string_view now) {
  return {Of::finding, "", "", was, now};
}
constexpr FormerName column(std::string_view was, std::string_view now) {
  return {Of::column, "", "", was, now};
}
constexpr FormerName axis(std::string_view families, std::string_view was, std::string_view now) {
  return {Of::axis, families, "", was, now};
}
constexpr FormerName value(std::string_view families, std::string_view axis, std::string_view was,
                           std::string_view now) {
  return {Of::value, families, axis, was, now};
}

constexpr std::array table = {
    command("fingerprint", "profile"),

    option("--no-ceiling", "--no-peak"),

    preset("card", "profile"),

    family("lanes", "branch_divergence"),
    family("divergence", "matrix_access"),
    family("ceiling", "peak"),

    axis("access arithmetic branch_divergence copy grayscale latency occupancy reduction", "work_group",
         "group"),
    axis("matrix_access", "local", "group"),
    axis("reduction", "variant", "kernel"),
    axis("reduction", "tail", "subgroup_impl"),
    axis("compaction reduction scan", "lanes", "subgroup_impl"),
    axis("copy", "lanes", "sequence_width"),
    axis("compaction reduction scan", "folded_by", "subgroup_impl_used"),
    axis("arithmetic banks branch_divergence cache formats peak queues registers special sync", "trips",
         "iterations"),
    axis("arithmetic compaction formats occupancy reduction registers scan", "groups_per_unit",
         "groups_per_cu"),
    axis("compaction scan", "per_item", "per_work_item"),
    axis("compaction scan", "rows", "vectors_per_item"),
    axis("compaction scan", "polls", "spin_limit"),
    axis("compaction scan", "drop", "fault_rate"),
    axis("compaction scan", "state", "state_width"),
    axis("compaction", "kept", "selectivity"),
    axis("scan", "residue", "residual"),
    axis("cache latency", "hops", "chain_length"),
    axis("atomics", "hops", "per_work_item"),
    axis("atomics", "result", "return_value"),
    axis("queues", "ordered", "queue_order"),
    axis("occupancy", "item_bytes", "work_item_bytes"),
    axis("occupancy", "items_per_unit", "work_items_per_cu"),
    axis("copy", "measurement", "published_index"),

    value("reduction", "subgroup_impl", "barriers", "portable"),
    value("reduction", "subgroup_impl", "shuffle", "ptx"),
    value("reduction", "subgroup_impl", "subgroups", "opencl"),
    value("compaction reduction scan", "subgroup_impl", "subgroup", "opencl"),
    value("reduction", "subgroup_impl", "lockstep", "warp_synchronous"),
    value("compaction", "sequence", "lanes", "subgroup"),
    value("compaction scan", "state_width", "halves", "half"),
    value("copy grayscale matrix_access", "form", "published", "known_incorrect"),
    value("queues", "queue_order", "yes", "in_order"),
    value("queues", "queue_order", "no", "out_of_order"),
    value("access", "kernel", "line", "strided"),
    value("copy", "split", "turns", "aligned"),
    value("cache", "kernel", "chase_own", "chase_private"),
    value("cache", "kernel", "pages", "tlb"),
    value("scan", "kernel", "lookback_wide", "lookback_parallel"),
    value("scan", "kernel", "pascal", "binomial"),

    finding("lockstep_width", "simd_width"),
    finding("driver_lockstep_width", "driver_simd_width"),
    finding("coalescing_penalty", "uncoalesced_slowdown"),
    finding("line_bytes", "fetch_granularity"),
    finding("address_reach", "tlb_reach"),
    finding("bytes_in_flight_measured", "bytes_in_flight_per_cu"),
    finding("memory_latency", "dram_latency"),
    finding("cache_1_bytes", "l1_bytes"),
    finding("cache_1_latency", "l1_latency"),
    finding("cache_1_read", "l1_read"),
    finding("cache_1_write", "l1_write"),
    finding("cache_1_copy", "l1_copy"),
    finding("cache_1_sharers", "l1_compute_units"),
    finding("host_cache_1_bytes", "host_l1_bytes"),
    finding("cache_2_bytes", "l2_bytes"),
    finding("cache_2_latency", "l2_latency"),
    finding("cache_2_read", "l2_read"),
    finding("cache_2_write", "l2_write"),
    finding("cache_2_copy", "l2_copy"),
    finding("cache_2_sharers", "l2_compute_units"),
    finding("host_cache_2_bytes", "host_l2_bytes"),
    finding("cache_3_bytes", "l3_bytes"),
    finding("cache_3_latency", "l3_latency"),
    finding("cache_3_read", "l3_read"),
    finding("cache_3_write", "l3_write"),
    finding("cache_3_copy", "l3_copy"),
    finding("cache_3_sharers", "l3_compute_units"),
    finding("host_cache_3_bytes", "host_l3_bytes"),
    finding("to_device", "h2d_pinned"),
    finding("from_device", "d2h_pinned"),
    finding("to_device_pageable", "h2d_pageable"),
    finding("to_device_odd", "h2d_misaligned"),
    finding("to_device_least", "h2d_min_latency"),
    finding("from_device_pageable", "d2h_pageable"),
    finding("from_device_odd", "d2h_misaligned"),
    finding("from_device_least", "d2h_min_latency"),
    finding("both_ways", "duplex_gain"),
    finding("one_word_for_all", "broadcast_cost"),
    finding("bank_conflict", "bank_conflict_slowdown"),
    finding("live_values", "live_values_before_slowdown"),
    finding("registers_before_spill", "live_values_before_slowdown"),
    finding("atomics_one", "atomics_contended"),
    finding("atomics_item", "atomics_uncontended"),
    finding("atomics_local_one", "atomics_local_contended"),
    finding("atomics_local_item", "atomics_local_uncontended"),
    finding("atomics_used", "atomics_value_used"),
    finding("groups_at_once_8", "resident_work_groups_8"),
    finding("groups_at_once_16", "resident_work_groups_16"),
    finding("groups_at_once_32", "resident_work_groups_32"),
    finding("groups_at_once_64", "resident_work_groups_64"),
    finding("groups_at_once_128", "resident_work_groups_128"),
    finding("groups_at_once_256", "resident_work_groups_256"),
    finding("groups_at_once_512", "resident_work_groups_512"),

    column("ceiling", "peak"),
    column("of_ceiling", "fraction_of_peak"),
    column("exhibit", "known_incorrect"),
    column("fingerprint", "kernel_hash"),
};

bool has_family(std::string_view families, std::string_view family) {
  for (std::size_t begin = 0; begin <= families.size();) {
    const std::size_t end = std::min(families.find(' ', begin), families.size());
    if (families.substr(begin, end - begin) == family) return true;
    begin = end + 1;
  }
  return false;
}

std::string now_of(Of of, std::string_view family, std::string_view axis, std::string_view name) {
  // Fast path: nearly every name is current.
  static const std::unordered_set<std::string_view> words = [] {
    std::unordered_set<std::string_view> out;
    for (const auto& former : table) out.insert(former.was);
    return out;
  }();
  if (!words.contains(name)) return std::string(name);
  for (const auto& former : table) {
    if (former.of == of && former.was == name && former.axis == axis &&
        (former.families.empty() || has_family(former.families, family)))
      return std::string(former.now);
  }
  return std::string(name);
}

}  // namespace

std::string family_now(std::string_view name) { return now_of(Of::family, "", "", name); }
std::string axis_now(std::string_view family, std::string_view name) {
  return now_of(Of::axis, family, "", name);
}
std::string value_now(std::string_view family, std::string_view axis, std::string_view name) {
  return now_of(Of::value, family, axis, name);
}
std::string column_now(std::string_view name) { return now_of(Of::column, "", "", name); }
std::string finding_now(std::string_view name) { return now_of(Of::finding, "", "", name); }
std::string preset_now(std::string_view name) { return now_of(Of::preset, "", "", name); }
std::string command_now(std::string_view name) { return now_of(Of::command, "", "", name); }

std::string case_id_now(std::string_view id) {
  const std::size_t slash = std::min(id.find('/'), id.size());
  const std::string family = family_now(id.substr(0, slash));
  std::string out = family;
  for (std::size_t begin = slash; begin < id.size();) {
    const std::size_t end = std::min(id.find('/', begin + 1), id.size());
    const std::string_view part = id.substr(begin + 1, end - begin - 1);
    const std::size_t equals = std::min(part.find('='), part.size());
    const std::string axis = axis_now(family, part.substr(0, equals));
    out.append("/").append(axis);
    if (equals < part.size()) {
      const std::string_view value = part.substr(equals + 1);
      out.append("=").append(axis == "finding" ? finding_now(value) : value_now(family, axis, value));
    }
    begin = end;
  }
  return out;
}

std::string former_option(std::string_view now) {
  const auto is_it = [&](const FormerName& former) { return former.of == Of::option && former.now == now; };
  const auto* const it = std::ranges::find_if(table, is_it);
  return it == table.end() ? "" : std::string(it->was);
}

bool is_former_axis(std::string_view name) {
  return std::ranges::any_of(
      table, [&](const FormerName& former) { return former.of == Of::axis && former.was == name; });
}

std::vector<std::string> former_axes(std::string_view family, std::string_view axis) {
  std::vector<std::string> out;
  for (const auto& former : table) {
    if (former.of == Of::axis && former.now == axis && has_family(former.families, family))
      out.emplace_back(former.was);
  }
  return out;
}

std::vector<std::pair<std::string, std::string>> former_values(std::string_view family,
                                                               std::string_view axis) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& former : table) {
    if (former.of == Of::value && former.axis == axis && has_family(former.families, family))
      out.emplace_back(former.was, former.now);
  }
  return out;
}

}  // namespace clweave::suite
