// SPDX-License-Identifier: Apache-2.0
// toy: does this device double numbers?
//
// Not part of clweave: check.cmake adds it to a copy of the tree, as anybody might add a family.
#include "suite/family.hpp"

namespace clweave::families {

namespace {

Plan plan(const Case& at, const DeviceInfo& /*device*/) {
  const auto n = static_cast<std::uint64_t>(at.number("n"));
  Plan p;
  p.define("FACTOR", 2);
  const Random<std::uint32_t> value(at.seed, 1);
  const auto in = p.input<std::uint32_t>(n, value);
  const auto out = p.output<std::uint32_t>(n);
  p.launch("toy", {n}, {}, out, in);
  p.expect<std::uint32_t>(out, [=](std::uint64_t i) { return 2 * value(i); });
  p.cost = {.read = 4 * n, .written = 4 * n, .flops = 0, .items = n};
  p.peak = Peak::copy;
  return p;
}

}  // namespace

Family toy() {
  return {.name = "toy",
          .question = "Does this device double numbers?",
          .axes = {{.name = "n", .meaning = "elements", .values = {1048576}, .domain = whole(1, INT32_MAX)}},
          .presets = {.smoke = {"n=1,1000"}, .quick = {""}, .paper = {}, .full = {""}},
          .view = {.rows = {"n"}, .columns = {}, .quantity = "rate"},
          .plan = plan};
}

}  // namespace clweave::families
