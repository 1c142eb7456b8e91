// SPDX-License-Identifier: Apache-2.0
// test_lookup_table: where the patterns of family lookup_table read, what it refuses, and what it concludes.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "plans.hpp"

using namespace clweave::commands;
using namespace clweave::families;
using testing::DoubleNear;
using testing::HasSubstr;

namespace {

Case case_of(const std::string& sweep) { return cases_of(family_named("lookup_table"), {sweep}, 1).at(0); }

Plan plan_for(const std::string& sweep, const DeviceInfo& device = roomy()) {
  return plan_of(family_named("lookup_table"), case_of(sweep), device);
}

// What work-items write that read elements of which each is its own number.
std::uint64_t wrong_of(const Plan& plan, const std::vector<std::uint32_t>& output) {
  return plan.checks.front().compare(0, std::as_bytes(std::span(output))).wrong;
}

std::map<std::string, Finding> concluded(const std::vector<std::pair<const char*, double>>& times) {
  std::vector<Outcome> outcomes;
  for (const auto& [sweep, time_s] : times) {
    const Case at = case_of(sweep);
    outcomes.emplace_back(at, time_s);
    outcomes.back().items = 1000;
  }
  std::map<std::string, Finding> out;
  for (auto& finding : family_named("lookup_table").findings(outcomes, roomy()))
    out.emplace(finding.name, finding);
  return out;
}

}  // namespace

// No read leaves the table, whatever its size: a kernel that did would read the guard, or nothing.
TEST(LookupTable, ExpectsTheSameOfEveryPath) {
  for (const char* pattern : {"uniform", "neighbouring", "random", "tiled"}) {
    for (const char* words : {"1", "4"}) {
      const std::string same =
          fmt::format(" pattern={} words={} iterations=8 group=32 groups_per_cu=1", pattern, words);
      const Plan buffer = plan_for("kernel=buffer" + same), image = plan_for("kernel=image" + same),
                 argument = plan_for("kernel=argument" + same), constant = plan_for("kernel=constant" + same);
      EXPECT_EQ(filled(buffer.buffers[1], {0, 512}), filled(image.buffers[1], {0, 512}));
      EXPECT_EQ(filled(buffer.buffers[1], {0, 512}), filled(constant.buffers[1], {0, 512}));
      EXPECT_EQ(filled(buffer.buffers[1], {0, 512}),
                std::get<Scalar>(std::get<Launch>(argument.steps.front()).args[1]));
      EXPECT_EQ(image.buffers[1].image->width * image.buffers[1].image->height * 4 *
                    image.buffers[1].image->channels,
                512U);
    }
  }
}

TEST(LookupTable, StopsAtTheLimitsOfEachPath) {
  DeviceInfo device = roomy();
  device.constant_bytes = 8192;
  device.parameter_bytes = 1024;
  device.image_width = 0;
  EXPECT_NO_THROW(plan_for("kernel=constant", device));
  EXPECT_NO_THROW(plan_for("kernel=argument", device));
  EXPECT_NO_THROW(plan_for("kernel=buffer table_bytes=1048576", device));
  EXPECT_THAT(complaint([&] { plan_for("kernel=constant table_bytes=16384", device); }),
              HasSubstr("20496 bytes of __constant memory"));
  EXPECT_THAT(complaint([&] { plan_for("kernel=argument table_bytes=1024", device); }),
              HasSubstr("needs 1040 bytes of kernel arguments, the device allows 1024"));
  EXPECT_THAT(complaint([&] { plan_for("kernel=argument table_bytes=16384", device); }),
              HasSubstr("a table of 16384 bytes is no kernel argument"));
  EXPECT_THAT(complaint([&] { plan_for("kernel=image", device); }), HasSubstr("no images"));
  EXPECT_THAT(complaint([&] { plan_for("kernel=linear_image iterations=2052"); }), HasSubstr("at most 2048"));
}

TEST(LookupTable, RefusesSamplesOfAnotherPlace) {
  const Plan plan = plan_for("kernel=linear_image iterations=4 group=32 groups_per_cu=1");
  std::vector<std::uint32_t> zeros(32);
  EXPECT_EQ(wrong_of(plan, zeros), 32U);
}

TEST(LookupTableFindings, CompareTheBufferWithTheBestOtherPath) {
  const auto found = concluded({{"pattern=uniform", 3e-3},
                                {"pattern=uniform kernel=constant", 1e-3},
                                {"pattern=uniform kernel=image", 4e-3},
                                {"pattern=random", 1e-3},
                                {"pattern=random kernel=constant", 8e-3},
                                {"pattern=tiled table_bytes=16384", 2e-3},
                                {"pattern=tiled table_bytes=16384 kernel=image", 1e-3},
                                {"pattern=tiled table_bytes=1048576", 2e-3},
                                {"pattern=tiled table_bytes=1048576 kernel=image", 4e-3},
                                {"pattern=tiled table_bytes=16384 kernel=linear_image", 3e-3}});
  EXPECT_THAT(*found.at("uniform_path_gain").value, DoubleNear(3, 1e-9));
  EXPECT_EQ(found.at("uniform_path_gain").note, "constant");
  EXPECT_THAT(found.at("uniform_path_gain").text, HasSubstr("constant is fastest"));
  EXPECT_THAT(*found.at("random_path_gain").value, DoubleNear(0.125, 1e-9));
  EXPECT_THAT(found.at("random_path_gain").text, HasSubstr("buffer is fastest"));
  EXPECT_THAT(*found.at("tiled_path_gain").value, DoubleNear(2, 1e-9));
  EXPECT_THAT(*found.at("tiled_path_gain_large").value, DoubleNear(0.5, 1e-9));
  EXPECT_THAT(*found.at("constant_divergence").value, DoubleNear(8, 1e-9));
  EXPECT_THAT(*found.at("linear_cost").value, DoubleNear(3, 1e-9));
  EXPECT_FALSE(found.contains("neighbouring_path_gain"));
}
