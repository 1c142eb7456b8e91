// SPDX-License-Identifier: Apache-2.0
// test_family: cases of a family, and what a device allows of their plans.
#include "suite/family.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "plans.hpp"

using namespace clweave::commands;
using testing::HasSubstr;

namespace {

// Two axes of words, one of numbers and one of shapes; a plan of one buffer of n bytes.
Family invented() {
  Family family;
  family.name = "invented";
  family.axes = {
      {"kernel", "which", {"a", "b"}},
      {.name = "n", .meaning = "bytes", .values = {16, 32}, .domain = whole(0, std::int64_t{1} << 40)},
      {.name = "local", .meaning = "shape", .values = {"4"}, .domain = shapes(1, 4096)},
      {"type", "element", {"float", "int"}}};
  family.presets = {.smoke = {""}};
  family.plan = [](const Case& at, const DeviceInfo&) {
    Plan plan;
    const auto n = static_cast<std::uint64_t>(at.number("n"));
    const Buffer in = plan.input<std::uint8_t>(n, Random<std::uint8_t>(at.seed, 1));
    const Buffer out = plan.output<std::uint8_t>(n);
    const Range local = range_of(text_of(at.at("local")));
    plan.launch("k", local, local, in, out);
    return plan;
  };
  return family;
}

std::vector<std::string> ids_of(const std::vector<Case>& cases) {
  std::vector<std::string> ids;
  for (const auto& at : cases) ids.push_back(at.id());
  return ids;
}

}  // namespace

TEST(CasesOf, ASweepAreItsCrossProductInOrder) {
  const auto cases = cases_of(invented(), {{{"n", {1, 2}}, {"kernel", {"b", "a"}}}}, 9);
  EXPECT_THAT(ids_of(cases), testing::ElementsAre("invented/kernel=b/n=1/local=4/type=float",
                                                  "invented/kernel=b/n=2/local=4/type=float",
                                                  "invented/kernel=a/n=1/local=4/type=float",
                                                  "invented/kernel=a/n=2/local=4/type=float"));
  for (const auto& at : cases) EXPECT_EQ(at.seed, 9U);
}

TEST(CasesOf, SeveralSweepsComeOnceEach) {
  EXPECT_THAT(ids_of(cases_of(invented(), {{}, {{"n", {16, 64}}}, {{"n", {64, 64}}}}, 1)),
              testing::ElementsAre("invented/kernel=a/n=16/local=4/type=float",
                                   "invented/kernel=a/n=64/local=4/type=float"));
  EXPECT_THAT(cases_of(invented(), {}, 1), testing::IsEmpty());
}

TEST(CasesOf, ASweepLeaveOutWhatMakesNoSense) {
  Family family = invented();
  family.is_valid = [](const Case& at) { return at.is("kernel", "a") || at.number("n") > 16; };
  EXPECT_THAT(ids_of(cases_of(family, {{{"kernel", {"a", "b"}}, {"n", {16, 32}}}}, 1)),
              testing::ElementsAre("invented/kernel=a/n=16/local=4/type=float",
                                   "invented/kernel=a/n=32/local=4/type=float",
                                   "invented/kernel=b/n=32/local=4/type=float"));
}

TEST(ACase, TellsWhatItHasAndWhatItLacks) {
  const Case at = cases_of(invented(), {{}}, 1).at(0);
  EXPECT_EQ(at.text("kernel"), "a");
  EXPECT_TRUE(at.is("kernel", "a"));
  EXPECT_FALSE(at.is("kernel", "b"));
  EXPECT_EQ(at.number("n"), 16);
  EXPECT_EQ(complaint([&] { (void)at.at("m"); }), "family invented has no axis 'm'");
  EXPECT_EQ(complaint([&] { (void)at.number("kernel"); }), "kernel=a must be a whole number");
  EXPECT_EQ(complaint([&] { (void)at.text("n"); }), "n=16 must be a word");
}

TEST(PlanOf, ACaseStopsAtWhatTheDeviceAllows) {
  DeviceInfo device;
  device.memory_bytes = 10000;
  device.usable_bytes = 200;
  device.max_alloc_bytes = static_cast<std::int64_t>(100 + guard_bytes + poison.size());
  device.max_group = 64;
  device.max_group_dims = {64, 8, 4};
  const Family family = invented();
  const auto attempt = [&](int n, const char* local) {
    const Case at = cases_of(family, {{{"n", {n}}, {"local", {local}}}}, 1).at(0);
    const Error error = error_of([&] { EXPECT_EQ(plan_of(family, at, device).source, "invented"); });
    EXPECT_THAT(error.code, testing::AnyOf(ErrorCode::unsupported, ErrorCode::wrong_result));
    return std::string(error.what());
  };
  EXPECT_EQ(attempt(100, "64"), "no error");
  EXPECT_EQ(attempt(101, "64"), "needs a buffer of 101 bytes and 4112 behind it, the device allows 4212");
  EXPECT_EQ(attempt(1, "65"), "needs a work-group of 65 items, the device allows 64");
  EXPECT_EQ(attempt(1, "8x8"), "no error");
  EXPECT_EQ(attempt(1, "9x8"), "needs a work-group of 72 items, the device allows 64");
  EXPECT_EQ(attempt(1, "4x16"), "needs 16 items in dimension 1 of a work-group, the device allows 8");
  EXPECT_EQ(attempt(1, "1x1x5"), "needs 5 items in dimension 2 of a work-group, the device allows 4");
  device.usable_bytes = 199;
  EXPECT_THAT(attempt(100, "1"), HasSubstr("needs 200 bytes of device memory"));
  EXPECT_EQ(attempt(99, "1"), "no error");
}

TEST(PlanOf, ImagesAndArgumentsStopAtWhatTheDeviceAllows) {
  Family family = invented();
  std::uint64_t width = 8, height = 4;
  std::size_t value_bytes = 4;
  family.plan = [&](const Case& at, const DeviceInfo&) {
    Plan plan;
    const auto image = plan.image<float>(width, height, 4, Random<float>(at.seed, 1));
    plan.launch("invented", {1}, {1}, image);
    plan.pass(Scalar(value_bytes));
    return plan;
  };
  DeviceInfo device = roomy();
  const auto attempt = [&] {
    const Case at = cases_of(family, {{{"n", {1}}, {"local", {"1"}}}}, 1).at(0);
    return std::string(
        error_of([&] { EXPECT_EQ(plan_of(family, at, device).buffers[0].bytes, 8 * 4 * 16); }).what());
  };
  EXPECT_EQ(attempt(), "no error");
  device.image_width = 8;
  device.image_height = 4;
  device.parameter_bytes = 12;
  EXPECT_EQ(attempt(), "no error");
  value_bytes = 8;
  EXPECT_EQ(attempt(), "needs 16 bytes of kernel arguments, the device allows 12");
  device.parameter_bytes = 0;
  EXPECT_EQ(attempt(), "no error") << "unknown";
  width = 9;
  EXPECT_EQ(attempt(), "needs an image of 9 x 4, the device allows 8 x 4");
  width = 8, height = 5;
  EXPECT_EQ(attempt(), "needs an image of 8 x 5, the device allows 8 x 4");
  device.image_width = device.image_height = 0;
  EXPECT_EQ(attempt(), "the device has no images");
}

TEST(PlanOf, ConstantMemoryHoldsTheGuardToo) {
  DeviceInfo device;
  EXPECT_NO_THROW(Plan::need_constant(device, 1 << 30)) << "unknown";
  device.constant_bytes = 65536;
  const std::uint64_t most = 65536 - guard_bytes - poison.size();
  EXPECT_NO_THROW(Plan::need_constant(device, most));
  EXPECT_EQ(complaint([&] { Plan::need_constant(device, most + 1); }),
            "needs 65537 bytes of __constant memory with its guard, the device has 65536");
}

TEST(ForTypes, PicksTheTypeOfTheCase) {
  Family family = invented();
  family.plan = for_types<float, std::int32_t>(
      []<class T>(const Case&, const DeviceInfo&) { return Plan().define("T", type_name<T>()); });
  for (const char* type : {"float", "int"}) {
    const Case at = cases_of(family, {{{"type", {type}}}}, 1).at(0);
    EXPECT_EQ(family.plan(at, {}).defines.at("T"), type);
  }
  const Case at = cases_of(family, {{{"type", {"double"}}}}, 1).at(0);
  EXPECT_EQ(complaint([&] { family.plan(at, {}); }), "invented has no type 'double'");
}
