// SPDX-License-Identifier: Apache-2.0
// test_described: families as data on a real OpenCL implementation, and each kind of check with planted
// errors.
#include "description/own_families.hpp"
#include "device/one_device.hpp"

using namespace clweave::commands;
using testing::HasSubstr;
using testing::StartsWith;

namespace {

class Described : public Kernels {
 protected:
  static Family in_folder(const OwnFamily& own) {
    std::ofstream(kernels() / (own.name + ".cl"), std::ios::binary) << own.kernels;
    return own.family(kernels());
  }
  static Record row_of(const Family& family, const std::string& sweep) {
    return run_case(session(), family, cases_of(family, {Sweep(sweep)}, 1).at(0), once()).record;
  }
  static Record checked_row(const Family& family, const std::string& sweep) {
    return check_case(session(), family, cases_of(family, {Sweep(sweep)}, 1).at(0)).record;
  }
  static const Family& suites(const char* name) {
    return *std::ranges::find(families(), name, &Family::name);
  }
  static void expect_same_row(const Record& own, const Record& suites) {
    EXPECT_EQ(own.status, Status::ok) << own.reason;
    EXPECT_EQ(suites.status, Status::ok) << suites.reason;
    EXPECT_EQ(own.verified, suites.verified);
    EXPECT_EQ(own.bytes, suites.bytes);
    EXPECT_EQ(own.flops, suites.flops);
    EXPECT_EQ(own.items, suites.items);
    EXPECT_EQ(own.peak, suites.peak);
    EXPECT_EQ(own.timer, suites.timer);
    EXPECT_EQ(own.unit, suites.unit);
    EXPECT_EQ(own.steps_s.empty(), suites.steps_s.empty());
  }
};

TEST_F(Described, FamiliesGiveTheRowsOfTheSuites) {
  expect_same_row(row_of(in_folder(own_copy()), "kernel=grid_stride width=4 group=32 groups=2 n=1000"),
                  row_of(suites("copy"), "kernel=grid_stride width=4 group=32 groups=2 n=1000"));
  expect_same_row(row_of(in_folder(own_copy()), "kernel=buffer n=1000"),
                  row_of(suites("copy"), "kernel=buffer n=1000"));
  expect_same_row(row_of(in_folder(own_lanes()), "paths=2 granularity=16 iterations=4 n=300 group=64"),
                  row_of(suites("branch_divergence"), "paths=2 granularity=16 iterations=4 n=300 group=64"));
  expect_same_row(row_of(in_folder(own_matrix()), "kernel=grid n=33 group_x=16 group_y=16 launches=2"),
                  row_of(suites("matrix_access"), "kernel=grid n=33 type=float group=16x16 launches=2"));
  EXPECT_EQ(log(), "") << "Oclgrind's findings";
}

TEST_F(Described, FamiliesAreRightInTheirSmallestCases) {
  for (const auto& own : {own_copy(), own_lanes(), own_matrix()}) {
    const Family family = in_folder(own);
    std::set<std::string> seen;  // one case of each kernel: the others are unit tests'
    for (const auto& at : cases_of(family, family.presets.smoke, 1)) {
      if (!seen.insert(family.axis("kernel") != nullptr ? at.text("kernel") : "").second) continue;
      const Record record = check_case(session(), family, at).record;
      EXPECT_EQ(record.status, Status::ok) << record.case_id << ": " << record.reason;
      EXPECT_EQ(record.verified, Verified::yes);
    }
  }
}

constexpr int right = 0, wrong_value = 1, left_out = 2, behind_the_end = 3, incomplete_reference = 4,
              reference_behind_the_end = 5, other_on_pocl = 6;

// Reverses x, which falls from n - 1 to 0; with the error that FAULT names.
OwnFamily reversal(const std::string& check) {
  return {"reversal",
          R"toml(
question = "?"
[axes]
fault = [0, 1, 2, 3, 4, 5, 6]
n = [100]
[buffers]
x = { type = "int", count = "n", contents = { expression = "n - 1 - i" } }
y = { type = "int", count = "n" }
[defines]
FAULT = "fault"
[[launches]]
kernel = "reverse"
global = "n"
args = ["x", "y", { uint = "n" }]
[cost]
items = "n"
[[checks]]
buffer = "y"
)toml" + check,
          R"(
kernel void reverse(global const int* x, global int* y, uint n) {
  uint i = (uint)get_global_id(0);
  int value = x[n - 1 - i];
  if (FAULT == 1 && i == n / 2) value += 1000;
  if (FAULT == 2 && i == n - 1) return;
  y[i] = value;
  if (FAULT == 3 && i == 0) y[n] = 7;
}
kernel void plainly(global const int* x, global int* y, uint n) {
  uint i = (uint)get_global_id(0);
  if (FAULT == 4 && i == 3) return;
  y[i] = x[n - 1 - i];
#ifdef POCL_DEVICE_ADDRESS_BITS
  if (FAULT == 6) y[i] += 1;
#endif
  if (FAULT == 5 && i == 0) y[n] = 7;
}
)"};
}

const char* const by_reference =
    R"(reference = { kernel = "plainly", global = "n", args = ["x", "y", { uint = "n" }] })";

TEST_F(Described, EachKindOfCheckCatchesWrongKernels) {
  std::string numbers;
  for (std::int32_t i = 0; i < 100; ++i) numbers.append(reinterpret_cast<const char*>(&i), sizeof i);
  const std::string header = "{'descr': '<i4', 'fortran_order': False, 'shape': (100,), }\n";
  std::ofstream(kernels() / "want.npy", std::ios::binary)
      << "\x93NUMPY\x01" << '\0' << static_cast<char>(header.size()) << '\0' << header << numbers;
  for (const std::string check :
       {"expression = \"x[n - 1 - i]\"", "npy = \"want.npy\"", "invariant = \"sorted\"",
        "permutation_of = \"x\"", "sum_of = \"x\"", by_reference}) {
    SCOPED_TRACE(check);
    const Family family = in_folder(reversal(check));
    const auto row = [&](int fault) { return checked_row(family, fmt::format("fault={}", fault)); };
    const Record good = row(right);
    EXPECT_EQ(good.status, Status::ok) << good.reason;
    EXPECT_EQ(good.verified, Verified::yes);
    const Record wrong = row(wrong_value);
    EXPECT_EQ(wrong.status, Status::wrong_result) << wrong.reason;
    EXPECT_EQ(wrong.verified, Verified::no);
    EXPECT_EQ(row(left_out).status, Status::wrong_result) << row(left_out).reason;
    if (on("oclgrind")) continue;  // it keeps kernels from writing there
    const Record behind = row(behind_the_end);
    EXPECT_EQ(behind.status, Status::wrong_result);
    EXPECT_THAT(behind.reason, HasSubstr("wrote behind the end of buffer 1: byte 400 of 400"));
  }
}

TEST_F(Described, ReferencesThatAreWrongThemselvesDecideNothing) {
  const Family family = in_folder(reversal(by_reference));
  const Record incomplete = checked_row(family, fmt::format("fault={}", incomplete_reference));
  EXPECT_EQ(incomplete.status, Status::wrong_result);
  EXPECT_EQ(
      incomplete.reason,
      "the reference kernel plainly does not write its whole output, so nothing is known to be right: 1 of "
      "100 elements are missing, the first is [3]");
  if (on("oclgrind")) return;
  const Record behind = checked_row(family, fmt::format("fault={}", reference_behind_the_end));
  EXPECT_EQ(behind.status, Status::wrong_result);
  EXPECT_EQ(behind.reason, "the reference kernel plainly wrote behind the end of buffer 1: byte 400 of 400");
}

TEST_F(Described, SmallValuesThatLookLikeThePatternAreWritten) {
  OwnFamily own = reversal(by_reference);
  for (std::string* text : {&own.toml, &own.kernels}) {
    for (auto at = text->find("int* "); at != std::string::npos; at = text->find("int* ", at + 7))
      text->replace(at, 5, "uchar* ");
    for (auto at = text->find("\"int\""); at != std::string::npos; at = text->find("\"int\""))
      text->replace(at, 5, "\"uchar\"");
  }
  // All 256 values, so that some are the pattern's.
  own.toml.replace(own.toml.find("[100]"), 5, "[256]");
  const Record record = checked_row(in_folder(own), "fault=0");
  EXPECT_EQ(record.status, Status::ok) << record.reason;
}

TEST_F(Described, KernelsThatChangeTheirInputGetItBack) {
  const auto doubled = [](const std::string& restore, const std::string& steps = "") {
    return OwnFamily{"doubled",
                     R"toml(
question = "?"
[axes]
n = [100]
[buffers]
before = { type = "int", count = "n", contents = "iota" }
x = { type = "int", count = "n", contents = "iota")toml" +
                         restore + " }\n" + steps +
                         R"toml(
[[launches]]
kernel = "twice"
global = "n"
args = ["x"]
[[checks]]
buffer = "x"
expression = "2 * before[i]"
)toml",
                     "kernel void twice(global int* x) { x[get_global_id(0)] *= 2; }"};
  };
  const Family in_place = in_folder(doubled(""));
  const Record checked = checked_row(in_place, "");
  EXPECT_EQ(checked.status, Status::ok) << checked.reason;
  // Each of the timed executions is one that doubles what the description says.
  const Record timed = row_of(in_place, "");
  EXPECT_EQ(timed.status, Status::ok) << timed.reason;
  EXPECT_EQ(timed.verified, Verified::yes);
  EXPECT_EQ(timed.batch, 1);
  const Record changed = checked_row(in_folder(doubled(", restore = false")), "");
  EXPECT_EQ(changed.status, Status::wrong_result);
  EXPECT_THAT(changed.reason,
              StartsWith("correct the first time, wrong the second: 1 of 100 elements correct"));
  // A copy among the launches does the same, timed.
  const Record copied = row_of(
      in_folder(doubled(", restore = false", "[[launches]]\ncopy = { from = \"before\", to = \"x\" }\n")),
      "");
  EXPECT_EQ(copied.status, Status::ok) << copied.reason;
}

// The time of a kernel that has nothing to do where it has been before, beside one that leaves its input.
TEST_F(Described, TimedExecutionsBeginWithTheContents) {
  if (on("oclgrind")) GTEST_SKIP() << "it takes a minute for what others do in milliseconds";
  const Family family = in_folder({"spend",
                                   R"toml(
question = "?"
[axes]
kernel = ["in_place", "apart"]
n = [4096]
[buffers]
x = { type = "uint", count = "n", contents = { constant = 1000 } }
y = { type = "uint", count = "n", contents = "zeros" }
[[launches]]
kernel = "{kernel}"
global = "n"
args = ["x", "y"]
[[checks]]
buffer = "x"
expression = "kernel == 'in_place' ? 0 : 1000"
[[checks]]
buffer = "y"
expression = "kernel == 'in_place' ? 0 : 1"
)toml",
                                   R"(
uint spend(uint turns) {
  uint sum = 1;
  for (uint k = 0; k < turns; ++k) sum = sum * 1664525u + 1013904223u;
  return sum;
}
kernel void in_place(global uint* x, global uint* y) {
  const size_t i = get_global_id(0);
  x[i] = spend(x[i]) == 7;
}
kernel void apart(global uint* x, global uint* y) {
  const size_t i = get_global_id(0);
  y[i] = spend(x[i]) != 7;
}
)"});
  const Record in_place = row_of(family, "kernel=in_place"), apart = row_of(family, "kernel=apart");
  ASSERT_EQ(in_place.status, Status::ok) << in_place.reason;
  ASSERT_EQ(apart.status, Status::ok) << apart.reason;
  EXPECT_GT(in_place.time_s.value(), apart.time_s.value() / 4);
}

// Each type has its own buffers, arguments and check: a product of doubles that a float held on its way is
// wrong.
TEST_F(Described, TypesMayBeAnAxis) {
  const Family family = in_folder({"thirds",
                                   R"toml(
question = "?"
[axes]
kernel = ["right", "by_float"]
type = ["float", "double", "int", "uchar"]
n = [100]
[buffers]
x = { type = "{type}", count = "n", contents = "random" }
y = { type = "{type}", count = "n" }
[defines]
T = "type"
BY_FLOAT = "kernel == 'by_float'"
[[launches]]
kernel = "product"
global = "n"
args = ["x", "y", { "{type}" = "2" }]
[cost]
read = "n * sizeof(type)"
[[checks]]
buffer = "y"
expression = "2 * x[i]"
)toml",
                                   R"(
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
kernel void product(global const T* x, global T* y, T a) {
  const size_t i = get_global_id(0);
  y[i] = BY_FLOAT ? (T)(float)(a * x[i]) : (T)(a * x[i]);
}
)"});
  for (const auto& [type, bytes] : {std::pair("float", 4), {"double", 8}, {"int", 4}, {"uchar", 1}}) {
    const Record right = checked_row(family, fmt::format("kernel=right type={}", type)),
                 by_float = checked_row(family, fmt::format("kernel=by_float type={}", type));
    if (std::string(type) == "double" && !device().fp64) {
      EXPECT_EQ(right.status, Status::unsupported) << right.reason;
      continue;
    }
    EXPECT_EQ(right.status, Status::ok) << type << ": " << right.reason;
    EXPECT_EQ(row_of(family, fmt::format("kernel=right type={}", type)).bytes, 100 * bytes);
    EXPECT_EQ(by_float.status, std::string(type) == "double" ? Status::wrong_result : Status::ok)
        << type << ": " << by_float.reason;
  }
}

TEST_F(Described, ErrorsInUlpAreTheRowsValue) {
  const OwnFamily own{"ulps",
                      R"toml(
question = "?"
[axes]
n = [100]
[buffers]
x = { type = "float", count = "n", contents = { random = [1, 2] } }
y = { type = "float", count = "n" }
[[launches]]
kernel = "root"
global = "n"
args = ["x", "y"]
[[checks]]
buffer = "y"
expression = "sqrt(x[i])"
ulp = 4
)toml",
                      "kernel void root(global const float* x, global float* y) {\n"
                      "  size_t i = get_global_id(0);\n  y[i] = nextafter(sqrt(x[i]), 9.0f);\n}"};
  const Record record = row_of(in_folder(own), "");
  ASSERT_EQ(record.status, Status::ok) << record.reason;
  EXPECT_EQ(record.unit, "ULP");
  EXPECT_GE(record.value.value_or(0), 1);
  EXPECT_LE(record.value.value_or(9), 4);
}

// Run where PoCL stands beside the implementation that is tested.
TEST_F(Described, ReferencesAreRunByPoclToo) {
  if (session().second_driver() == nullptr) GTEST_SKIP() << "PoCL is not beside this device";
  EXPECT_THAT(session().second_driver()->name(), StartsWith("PoCL "));
  const Family family = in_folder(reversal(by_reference));
  const Record good = checked_row(family, "fault=0");
  EXPECT_EQ(good.status, Status::ok) << good.reason;
  EXPECT_EQ(good.reason, "");
  const Record differs = checked_row(family, fmt::format("fault={}", other_on_pocl));
  EXPECT_EQ(differs.status, Status::wrong_result);
  EXPECT_EQ(differs.verified, Verified::no);
  EXPECT_THAT(differs.reason,
              StartsWith("the reference kernel plainly computes other values here than by PoCL "));
  EXPECT_THAT(differs.reason,
              HasSubstr("0 of 100 elements correct, 100 written; first wrong: [0] is 0, expected 1"));
  OwnFamily foreign = reversal(by_reference);
  foreign.kernels = "#ifdef POCL_DEVICE_ADDRESS_BITS\n#error\n#endif\n" + foreign.kernels;
  const Record unbuilt = checked_row(in_folder(foreign), "fault=0");
  EXPECT_EQ(unbuilt.status, Status::ok);
  EXPECT_THAT(unbuilt.reason, testing::EndsWith("too: it does not build there"));
}

}  // namespace
