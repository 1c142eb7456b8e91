// SPDX-License-Identifier: Apache-2.0
// test_latency: what family latency concludes of chains of an invented device.
#include <gmock/gmock.h>

#include "plans.hpp"

using namespace clweave::commands;
using namespace clweave::families;
using testing::HasSubstr;

namespace {

const Finding& named(const std::vector<Finding>& found, const std::string& name) {
  return *std::ranges::find(found, name, &Finding::name);
}

// Steps take 2 ns, loads in memory 100; of indices 3 ns more; a launch of any length takes 8 us besides.
std::vector<Outcome> measured(const char* preset) {
  std::vector<Outcome> out;
  for (const auto& at : preset_of(family_named("latency"), preset)) {
    const std::string& kernel = at.text("kernel");
    double ns = kernel == "chase" ? 100 : kernel == "launch" ? 500 : kernel == "round_trip" ? 9000 : 2;
    if (kernel.starts_with("chase") && at.is("links", "index")) ns += 3;
    out.emplace_back(at, 8e-6 + 1e-9 * ns * static_cast<double>(at.number("chain_length")));
    out.back().low_s = 0.999 * out.back().time_s;
    out.back().high_s = 1.001 * out.back().time_s;
  }
  return out;
}

TEST(LatencyFindings, AreSlopesOfTwoLengths) {
  const Family latency = family_named("latency");
  for (const char* preset : {"quick", "paper", "full"}) {
    const auto found = latency.findings(measured(preset), roomy());
    const std::map<std::string, double> expected = {
        {"dram_latency", 100},       {"chase_local_latency", 2},        {"mad_chain_latency", 2},
        {"atomic_chain_latency", 2}, {"atomic_chain_local_latency", 2}, {"launch_latency", 500},
        {"round_trip_latency", 9000}};
    for (const auto& [name, ns] : expected) {
      const double launch_ns = name == "round_trip_latency" ? 8000.0 / 64 : 0;
      EXPECT_NEAR(*named(found, name).value, ns + launch_ns, 1e-6 * ns) << preset << ' ' << name;
      EXPECT_LT(*named(found, name).low, ns + launch_ns) << name;
      EXPECT_GT(*named(found, name).high, ns + launch_ns) << name;
    }
    EXPECT_EQ(found.size(), expected.size());
  }
  const auto profile = latency.findings(measured("profile"), roomy());
  EXPECT_NEAR(*named(profile, "dram_latency").value, 100, 1e-6);
  EXPECT_NEAR(*named(profile, "launch_latency").value, 500, 1e-6);
}

TEST(LatencyFindings, AreUndecidedWhereTheLengthsCannotBeToldApart) {
  const Family latency = family_named("latency");
  const auto finding = [&](const std::function<void(Outcome&, bool longer)>& change) {
    auto outcomes = measured("quick");
    for (auto& o : outcomes) {
      if (o.at.is("kernel", "mad_chain")) change(o, o.at.number("chain_length") > 100000);
    }
    return named(latency.findings(outcomes, roomy()), "mad_chain_latency");
  };
  const Finding noisy = finding([](Outcome& o, bool) { o.high_s = 1.5 * o.time_s; });
  EXPECT_FALSE(noisy.value);
  EXPECT_THAT(noisy.text, HasSubstr("too far apart to tell"));
  const Finding few = finding([](Outcome& o, bool) { o.low_s.reset(); });
  EXPECT_FALSE(few.value);
  EXPECT_THAT(few.text, HasSubstr("too few samples"));
  // The clock fell before the longer chain, or rose before the shorter.
  const Finding slower = finding([](Outcome& o, bool longer) {
    for (double* s : {&o.time_s, &*o.low_s, &*o.high_s}) *s *= longer ? 1.5 : 1;
  });
  EXPECT_FALSE(slower.value);
  EXPECT_THAT(slower.text, HasSubstr("one was disturbed"));
}

// Of one length nothing tells the launch from the steps, and the sentence says so.
TEST(LatencyFindings, OfOneLengthSayThatTheyHoldTheLaunch) {
  auto outcomes = measured("quick");
  std::erase_if(outcomes, [](const Outcome& o) {
    return o.at.number("chain_length") != 4096 && o.at.number("chain_length") != 40009;
  });
  const auto found = family_named("latency").findings(outcomes, roomy());
  EXPECT_NEAR(*named(found, "atomic_chain_latency").value, 2 + 8000.0 / 4096, 1e-6);
  EXPECT_THAT(named(found, "atomic_chain_latency").text, HasSubstr("launch included"));
}

// The last load of an address is where the index says.
TEST(LatencyPlans, ChasesOfAddressesEndWhereThoseOfIndicesDo) {
  for (const char* links : {"index", "address"}) {
    const Plan plan = plan_with("latency", {{"kernel", word("chase")},
                                            {"links", word(links)},
                                            {"working_set", number(4096)},
                                            {"chain_length", number(7)}});
    const bool addresses = std::string(links) == "address";
    EXPECT_EQ(plan.source, addresses ? "lib/address_chase" : "latency");
    EXPECT_EQ(plan.may_fail_to_build, addresses);
    EXPECT_EQ(plan.steps.size(), addresses ? 2U : 1U);
  }
}

}  // namespace
