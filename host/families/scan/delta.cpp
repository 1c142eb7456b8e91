// SPDX-License-Identifier: Apache-2.0
#include "families/scan/delta.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

namespace clweave::families {

namespace {

// Returns the mean absolute residual of predictions of that order: what they miss. Covers so many values that
// a whole picture is among them.
template <class T>
double residual_of(const Signal<T>& signal, const ScanConfig& s) {
  const std::uint64_t n = std::min<std::uint64_t>(s.values, 1 << 18);
  std::vector<std::int64_t> left(n);
  for (std::uint64_t i = 0; i < n; ++i) left[i] = static_cast<std::int64_t>(signal(i));
  for (std::uint64_t order = 0; order < s.order; ++order) {
    for (std::uint64_t i = n; i-- > s.tuple;) left[i] -= left[i - s.tuple];
  }
  double sum = 0;
  for (const auto value : left) sum += std::abs(static_cast<double>(value));
  return sum / static_cast<double>(n);
}

template <class T>
Plan encode_plan_of(const Case& at, const ScanConfig& s) {
  const std::uint64_t width = at.count("width", 1, 16);
  const std::string type = type_name<typename Wraps<T>::Type>();
  Plan p;
  p.source = s.design->source;
  p.define("U", type).define("ORDER", s.order).define("TUPLE", s.tuple);
  p.define("WIDTH", width).define("V", width == 1 ? type : type + std::to_string(width));
  const auto signal = signal_of<T>(at, s.tuple);
  const Buffer in = p.input<T>(s.values, signal), out = p.output<T>(s.values);
  if (at.is("kernel", "encode")) {
    p.launch("encode", {round_up(ceil_div(s.values, width), s.group)}, {s.group}, out, in, s.values);
  } else {
    const std::uint64_t run = at.count("chunk_kib", 1, 1 << 20) * 1024 / sizeof(T);
    p.launch("encode_run", {ceil_div(s.values, run)}, {1}, out, in, s.values, run);
  }
  p.derived_when_measured.emplace_back("residual",
                                       [=] { return fmt::format("{:.6g}", residual_of(signal, s)); });
  p.expect<T>(out, [=, order = s.order](std::uint64_t i) { return encoded(signal, i, order); });
  p.cost = {.read = s.values * sizeof(T), .written = s.values * sizeof(T), .flops = 0, .items = s.values};
  p.peak = Peak::copy;
  p.derive("traffic_bytes", static_cast<std::int64_t>(2 * s.values * sizeof(T)));
  p.derive("auxiliary_bytes", 0);
  return p;
}

}  // namespace

Plan encode_plan(const Case& at, const DeviceInfo& device) {
  return at.is("type", "int")
             ? encode_plan_of<std::int32_t>(at, scan_config(at, device, sizeof(std::int32_t)))
             : encode_plan_of<std::int64_t>(at, scan_config(at, device, sizeof(std::int64_t)));
}

}  // namespace clweave::families
