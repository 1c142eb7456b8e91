// SPDX-License-Identifier: Apache-2.0
// test_transfer: what families transfer and queues ask for and conclude of invented devices.
#include <gmock/gmock.h>

#include <cmath>

#include "plans.hpp"

using namespace clweave::commands;
using namespace clweave::families;
using testing::DoubleNear;
using testing::HasSubstr;

namespace {

// Each case of preset quick, and those asked for behind it, takes `seconds(at)`.
std::vector<Finding> concluded(const std::string& name, const std::function<double(const Case&)>& seconds) {
  const Family& family = family_named(name);
  std::vector<Outcome> outcomes;
  const auto measure = [&](const std::vector<Case>& cases) {
    for (const auto& at : cases) {
      if (std::ranges::any_of(outcomes, [&](const Outcome& o) { return o.at.id() == at.id(); })) continue;
      const Plan plan = plan_of(family, at, roomy());
      const double time_s = seconds(at);
      outcomes.emplace_back(at, time_s, 0.99 * time_s, 1.01 * time_s);
      outcomes.back().bytes = plan.cost.read + plan.cost.written;
      outcomes.back().items = plan.cost.items;
    }
  };
  measure(preset_of(family, "quick"));
  if (family.refine) measure(family.refine(outcomes, roomy()));
  return family.findings(outcomes, roomy());
}

const Finding& named(const std::vector<Finding>& found, const std::string& name) {
  const auto it = std::ranges::find(found, name, &Finding::name);
  if (it == found.end()) throw std::logic_error("no finding " + name);
  return *it;
}

// 5 us for a call, 20 GB/s pinned, 5 GB/s ordinary, half as fast from an odd address or into pages that are
// not there; a map that copies only what is the device's own; another device at 40 GB/s.
double of_card(const Case& at) {
  const auto n = static_cast<double>(at.number("n"));
  const std::string& kernel = at.text("kernel");
  if (kernel == "map_first") return 2e-6 + (at.is("buffer", "device") ? n / 10e9 : 0);
  if (kernel == "peer") return 20e-6 + 4 * n / 4e12 + (at.number("peer") > 0 ? n / 40e9 : 0);
  if (kernel == "unmap") return 2e-6 + n / 10e9;
  if (kernel == "kernel_read") return n / 15e9;
  const bool halved = at.number("align") == 1 || at.is("touched", "no");
  const double rate = at.is("memory", "pinned") ? 20e9 : halved ? 2.5e9 : 5e9;
  return 5e-6 + n / rate * (kernel == "both" ? 1.25 : 1);
}

TEST(TransferFindings, TellRatesAndWhatTheyDependOn) {
  const auto found = concluded("transfer", of_card);
  EXPECT_THAT(*named(found, "h2d_pinned").value, DoubleNear(20, 0.1));
  EXPECT_THAT(*named(found, "d2h_pageable").value, DoubleNear(5, 0.1));
  EXPECT_LT(*named(found, "h2d_pinned").low, 20);
  EXPECT_GT(*named(found, "h2d_pinned").high, 20);
  EXPECT_THAT(*named(found, "h2d_misaligned").value, DoubleNear(2, 0.01));
  EXPECT_THAT(*named(found, "h2d_min_latency").value, DoubleNear(5.2, 0.01));
  EXPECT_THAT(*named(found, "duplex_gain").value, DoubleNear(1.6, 0.01));
}

TEST(TransferFindings, TellOfPagesUnmapsKernelsAndOtherDevices) {
  const auto found = concluded("transfer", of_card);
  EXPECT_THAT(*named(found, "d2h_untouched").value, DoubleNear(2, 0.01));
  EXPECT_THAT(*named(found, "unmap_device").value, DoubleNear(10, 0.1));
  EXPECT_THAT(*named(found, "kernel_read_alloc_host_ptr").value, DoubleNear(15, 0.3));
  const Finding& peer = named(found, "peer_1");
  EXPECT_THAT(*peer.value, DoubleNear(40, 0.1));
  EXPECT_LT(*peer.low, 40);
  EXPECT_GT(*peer.high, 40);
}

// What takes as long on this device alone tells no rate.
TEST(TransferFindings, KnowNoRateToAnotherDeviceThatAddsNothing) {
  const auto found =
      concluded("transfer", [](const Case& at) { return at.is("kernel", "peer") ? 1e-3 : of_card(at); });
  EXPECT_FALSE(named(found, "peer_1").value);
}

TEST(TransferFindings, TellWhetherAMapCopies) {
  const auto found = concluded("transfer", of_card);
  EXPECT_GT(*named(found, "map_growth_device").value, 1000);
  EXPECT_THAT(named(found, "map_growth_device").text, HasSubstr("they are copied"));
  EXPECT_DOUBLE_EQ(*named(found, "map_growth_use_host_ptr").value, 1);
  EXPECT_THAT(named(found, "map_growth_use_host_ptr").text, HasSubstr("nothing is copied"));
}

// Gaps between the rows of a rectangle must not change.
TEST(TransferPlans, LeaveTheGapsOfARectangleAlone) {
  const Family& family = family_named("transfer");
  for (const auto& at : preset_of(family, "smoke")) {
    if (!at.is("kernel", "rect_write")) continue;
    const Plan plan = plan_of(family, at, roomy());
    const auto& moved = std::get<Transfer>(plan.steps.at(0));
    ASSERT_GT(moved.row, 0u);
    ASSERT_GT(moved.pitch, moved.row);
    const Bytes in = filled(plan.buffers[moved.from.index], {0, at.count("n")});
    Bytes out(plan.buffers[moved.to.index].bytes);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = std::byte{poison[i % poison.size()]};
    for (std::size_t row = 0; row < in.size() / moved.row; ++row)
      std::copy_n(&in[row * moved.row], moved.row, &out[row * moved.pitch]);
    EXPECT_EQ(plan.checks.at(0).compare(0, out).wrong, 0u);
    out[moved.row] ^= std::byte{1};
    EXPECT_EQ(plan.checks.at(0).compare(0, out).wrong, 1u);
    return;
  }
  FAIL() << "no rectangle in preset smoke";
}

// 4 us a launch by one queue, 1 us by four and more; a kernel of 1000 trips takes 200 us, the transfer 3 ms.
double of_queues(const Case& at, double hidden) {
  const std::string& kernel = at.text("kernel");
  if (kernel == "launch") return 64e-6 * (at.number("queues") == 1 ? 4 : 1);
  if (kernel == "round_trip")
    return (at.number("idle_ms") > 0 ? 50e-6 : 10e-6) + 1e-9 * static_cast<double>(at.number("iterations"));
  if (kernel == "groups") return 1e-3;
  const double compute_s = 200e-9 * static_cast<double>(at.number("iterations")), transfer_s = 3e-3;
  if (kernel == "compute" || kernel == "half") return compute_s;
  if (kernel == "beside") return (2 - (at.number("queues") == 2 ? hidden : 0)) * compute_s;
  if (kernel == "transfer") return transfer_s;
  return compute_s + transfer_s - hidden * std::min(compute_s, transfer_s);
}

TEST(QueuesFindings, TellWhatALaunchCosts) {
  const auto found = concluded("queues", [](const Case& at) { return of_queues(at, 0); });
  EXPECT_THAT(*named(found, "launch_rate").value, DoubleNear(0.25, 0.001));
  EXPECT_THAT(*named(found, "queues_gain").value, DoubleNear(4, 0.01));
  EXPECT_THAT(*named(found, "round_trip").value, DoubleNear(10, 0.01));
  EXPECT_THAT(*named(found, "wake_up").value, DoubleNear(5, 0.01));
  EXPECT_THAT(*named(found, "group_rate").value, DoubleNear(1048.6, 0.1));
}

TEST(QueuesFindings, TellWhatOverlaps) {
  for (const double hidden : {0.0, 0.5, 1.0}) {
    const auto found = concluded("queues", [&](const Case& at) { return of_queues(at, hidden); });
    EXPECT_THAT(*named(found, "overlap").value, DoubleNear(hidden, 1e-6));
    EXPECT_THAT(*named(found, "beside_queues").value, DoubleNear(hidden, 1e-6));
    EXPECT_THAT(*named(found, "beside_in_order").value, DoubleNear(0, 1e-6));
  }
}

TEST(QueuesFindings, HoldAKernelAgainstATransferThatTakesAsLong) {
  const Family& family = family_named("queues");
  std::vector<Outcome> outcomes;
  for (const auto& at : preset_of(family, "quick")) outcomes.emplace_back(at, of_queues(at, 0));
  const auto asked = family.refine(outcomes, roomy());
  ASSERT_EQ(asked.size(), 8u);
  for (const auto& at : asked)
    EXPECT_EQ(at.number("iterations"), at.is("kernel", "wait_behind")                             ? 1600
                                       : at.is("kernel", "compute") || at.is("kernel", "overlap") ? 15000
                                                                                                  : 25000)
        << at.id();
  EXPECT_EQ(family.refine({outcomes.front()}, roomy()).size(), 0u);
}

// Behind a kernel of 18 ms an ordinary launch waits for its end, one of high priority 30 us.
TEST(QueuesFindings, TellHowLongALaunchWaitsBehindAKernel) {
  const Family& family = family_named("queues");
  std::vector<Outcome> outcomes;
  for (const auto& at : preset_of(family, "quick")) outcomes.emplace_back(at, of_queues(at, 0));
  for (const auto& at : family.refine(outcomes, roomy())) {
    if (!at.is("kernel", "wait_behind")) continue;
    const double time_s = at.is("priority", "high") ? 30e-6 : 18e-3;
    outcomes.emplace_back(at, time_s, 0.9 * time_s, 1.2 * time_s).value = time_s / 18e-3;
  }
  const auto found = family.findings(outcomes, roomy());
  const Finding& latency = named(found, "latency_behind");
  EXPECT_DOUBLE_EQ(*latency.value, 18000);
  EXPECT_DOUBLE_EQ(*latency.low, 16200);
  EXPECT_DOUBLE_EQ(*latency.high, 21600);
  EXPECT_DOUBLE_EQ(*named(found, "waited_behind").value, 1);
  EXPECT_DOUBLE_EQ(*named(found, "latency_behind_priority").value, 30);
  EXPECT_DOUBLE_EQ(*named(found, "waited_behind_priority").value, 30e-6 / 18e-3);
  for (auto& o : outcomes) o.value.reset();  // the kernel had ended before
  for (const auto& finding : family.findings(outcomes, roomy()))
    EXPECT_THAT(finding.name, testing::Not(HasSubstr("_behind")));
}

TEST(QueuesPlans, HavePrioritiesOnlyWhereTheDeviceHas) {
  const Family& family = family_named("queues");
  DeviceInfo without = roomy();
  without.extensions.clear();
  int of_high = 0;
  for (const auto& at : preset_of(family, "smoke")) {
    if (!at.is("kernel", "wait_behind")) continue;
    const bool high = at.is("priority", "high");
    EXPECT_EQ(plan_of(family, at, roomy()).queues.with_priority, high);
    if (!high) continue;
    ++of_high;
    EXPECT_THAT(complaint([&] { plan_of(family, at, without); }), HasSubstr("cl_khr_priority_hints"));
  }
  EXPECT_EQ(of_high, 1);
}

}  // namespace
